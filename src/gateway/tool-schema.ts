/**
 * Checks a call's arguments against its tool's JSON Schema, before anything is written. The schema is an Editor's word:
 * it may be anything, and must neither end nor hold up a process.
 */
import { Ajv2020, type ErrorObject, type SchemaObject } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { BrokerError } from "../shared/errors.js";
import type { JsonObject } from "../shared/idempotency.js";
import type { JsonObjectSchema, Tool } from "../shared/tool.js";
import { costOf } from "./schema-cost.js";

export interface ToolSchema {
  /**
   * Throws INVALID_ARGUMENTS with the path and reason of each fault. A schema that is none itself, is asynchronous, is too
   * large or refers to itself checks nothing here, nor does one that would take too long with these arguments: the
   * Editor checks what it is given. `size`: of the arguments' JSON.
   */
  check(tool: Tool, args: JsonObject, size: number): void;
}

interface Check {
  /** Of its schema (schema-cost.ts). */
  cost: number;
  faults(args: JsonObject): ErrorObject[];
}

export function createToolSchema(onBadSchema: (tool: string, error: Error) => void): ToolSchema {
  const compiled = new WeakMap<JsonObjectSchema, Check>();

  const compile = (tool: Tool): Check => {
    try {
      // Not strict: Editors may publish keywords that are not ours to refuse. An instance of its own: no shared $id.
      const ajv = new Ajv2020({
        strict: false,
        allErrors: true,
        validateFormats: false,
        code: { regExp: linearPattern },
      });
      // It compares each item with each other one.
      ajv.removeKeyword("uniqueItems");
      const { schema, cost } = checkable(tool.inputSchema);
      const validate = ajv.compile(schema);
      const faults = (args: JsonObject): ErrorObject[] => {
        try {
          return validate(args) ? [] : (validate.errors ?? []);
        } catch (error) {
          // Ajv compares objects by their own "valueOf" where they have one.
          onBadSchema(tool.name, error as Error);
          return [];
        }
      };
      return { cost, faults };
    } catch (error) {
      onBadSchema(tool.name, error as Error);
      return { cost: 0, faults: () => [] };
    }
  };

  return {
    check(tool, args, size) {
      const check = compiled.get(tool.inputSchema) ?? compile(tool);
      compiled.set(tool.inputSchema, check);
      if (check.cost * size > MAX_WORK) {
        onBadSchema(
          tool.name,
          new Error(`a schema of ${check.cost} parts is not checked with ${size} bytes`),
        );
        return;
      }
      const faults = check.faults(args).map(({ instancePath, message, params }) => {
        const extra = "additionalProperty" in params ? ` ("${String(params.additionalProperty)}")` : "";
        return { path: instancePath || "/", reason: `${message ?? "is wrong"}${extra}` };
      });
      if (faults.length === 0) return;
      const said = faults.slice(0, 5).map(({ path, reason }) => `${path} ${reason}`);
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        `The arguments of ${tool.name} are wrong: ${said.join("; ")}.`,
        {
          faults: faults.slice(0, 20),
        },
      );
    },
  };
}

/** Characters of its JSON; compiling takes longer than linear time. */
const MAX_SCHEMA = 64 * 1024;

/** Parts of a schema, each as often as references lead to it. */
const MAX_COST = 10_000;

/** Parts times bytes of the arguments: about a second. */
const MAX_WORK = 100_000_000;

/** Throws where a schema is not one to compile. */
function checkable(schema: JsonObjectSchema): { schema: SchemaObject; cost: number } {
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA)
    throw new Error(`a schema of ${text.length} characters is above ${MAX_SCHEMA}`);
  // Its answer would be a promise, and its faults the rejection of one that nobody awaits.
  if ("$async" in schema) throw new Error("a schema must not be asynchronous");
  const cost = costOf(schema);
  if (cost > MAX_COST) throw new Error(`a schema of ${cost} parts is above ${MAX_COST}`);
  return { schema, cost };
}

/** Patterns in time linear in the text (RE2): what RE2 cannot do, lookaround and backreferences, throws. */
const linearPattern = Object.assign(
  (pattern: string, flags: string) => {
    const compiled = RE2JS.compile(pattern, flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0);
    return {
      test: (text: string): boolean => compiled.matcher(text).find(),
      // Ajv keeps one for each text.
      toString: () => `/${pattern}/${flags}`,
    };
  },
  { code: "linearPattern" },
);
