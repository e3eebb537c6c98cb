/** Checks a call's arguments against its tool's JSON Schema, before anything is written. */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { BrokerError } from "../shared/errors.js";
import type { JsonObject } from "../shared/idempotency.js";
import type { JsonObjectSchema, Tool } from "../shared/tool.js";

export interface ToolSchema {
  /** Throws INVALID_ARGUMENTS with the path and reason of each fault. A schema that is none itself checks nothing. */
  check(tool: Tool, args: JsonObject): void;
}

type Check = (args: JsonObject) => ErrorObject[];

export function createToolSchema(onBadSchema: (tool: string, error: Error) => void): ToolSchema {
  const compiled = new WeakMap<JsonObjectSchema, Check>();

  const compile = (tool: Tool): Check => {
    try {
      // Not strict: Editors may publish keywords that are not ours to refuse. An instance of its own: no shared $id.
      const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(
        tool.inputSchema,
      );
      return (args) => (validate(args) ? [] : (validate.errors ?? []));
    } catch (error) {
      onBadSchema(tool.name, error as Error);
      return () => [];
    }
  };

  return {
    check(tool, args) {
      const check = compiled.get(tool.inputSchema) ?? compile(tool);
      compiled.set(tool.inputSchema, check);
      const faults = check(args).map(({ instancePath, message, params }) => {
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
