/**
 * What the APIs of three model makers refuse in the declaration of a tool, as public reports of their refusals say
 * (docs/reference/model-apis.md). One refused declaration refuses the whole request.
 */
import { Ajv2020 } from "ajv/dist/2020.js";

export interface DeclaredTool {
  name: string;
  inputSchema: unknown;
}

type Schema = Record<string, unknown>;

const WORDS = ["string", "number", "integer", "boolean", "array", "object"];

/** The fields of Gemini's Schema that are used here; its `parameters` know no others. */
const GEMINI_FIELDS = new Set([
  ...["type", "description", "enum", "items", "properties", "required", "anyOf", "default"],
  ...["minimum", "maximum", "nullable", "title", "format", "minItems", "maxItems", "pattern"],
]);

const AT_ROOT = ["oneOf", "anyOf", "allOf", "enum", "const", "not"];

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** In words; empty if all three take it. */
export function refusalsOf({ name, inputSchema }: DeclaredTool): string[] {
  const root = inputSchema as Schema;
  const all: string[] = [];
  const refuse = (who: string, is: boolean, what: string): void => {
    if (is) all.push(`${who}: ${what}`);
  };
  refuse("OpenAI, Anthropic", !/^[a-zA-Z0-9_-]{1,64}$/.test(name), `the name ${name}`);
  refuse("Gemini", !/^[a-zA-Z_]/.test(name), `the name ${name} begins with no letter`);
  refuse("all", root.type !== "object", "the root is no object");
  for (const keyword of AT_ROOT) refuse("OpenAI, Anthropic", keyword in root, `${keyword} at the root`);
  refuse("Anthropic", !ajv.validateSchema(root), "no schema of 2020-12");
  for (const [path, schema] of schemasIn(root, "")) {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
      all.push(`OpenAI, Gemini: ${path} is no object`);
      continue;
    }
    const { type, anyOf, enum: words, properties = {}, required = [] } = schema as Schema;
    const unknown = Object.keys(schema).filter((field) => !GEMINI_FIELDS.has(field));
    refuse("Gemini", unknown.length > 0, `${path} has ${unknown}`);
    refuse("Gemini", type !== undefined && !WORDS.includes(type as string), `${path} has the type ${type}`);
    refuse("Gemini", (type === undefined) === (anyOf === undefined), `${path} has not one of type and anyOf`);
    refuse("Gemini", anyOf !== undefined && "default" in schema, `${path} has anyOf and default`);
    refuse("OpenAI, Gemini", type === "array" && !("items" in schema), `${path} has no items`);
    const isOfWords = Array.isArray(words) && words.every((word) => typeof word === "string" && word !== "");
    refuse("Gemini", words !== undefined && (!isOfWords || type !== "string"), `${path} has other words`);
    const undefinedOnes = (required as string[]).filter((each) => !Object.hasOwn(properties as Schema, each));
    refuse("Gemini", undefinedOnes.length > 0, `${path} requires ${undefinedOnes}`);
    for (const key of Object.keys(properties as Schema))
      refuse(
        "Anthropic",
        !/^[a-zA-Z0-9_.-]{1,64}$/.test(key),
        `${path} has a parameter ${JSON.stringify(key)}`,
      );
  }
  return all;
}

/** A schema and those within it, with their paths. */
function* schemasIn(schema: unknown, path: string): Generator<[string, unknown]> {
  yield [path || "the root", schema];
  if (typeof schema !== "object" || schema === null) return;
  const { properties, items, anyOf } = schema as Schema;
  for (const [name, member] of Object.entries(properties ?? {})) yield* schemasIn(member, `${path}/${name}`);
  if (items !== undefined) yield* schemasIn(items, `${path}[]`);
  for (const [at, each] of ((anyOf ?? []) as unknown[]).entries()) yield* schemasIn(each, `${path}|${at}`);
}
