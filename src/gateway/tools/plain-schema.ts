/**
 * Recognises schemas that are cheap to check, as most are: names, types, choices and bounds, without patterns, references
 * or combinations of schemas.
 */
import type { JsonObjectSchema } from "../../shared/tools/tool.js";

/** Most UTF-16 units of the schema's JSON: compiling takes longer than linear time, up to 0.1 s for this many. */
const MOST_SCHEMA = 8 * 1024;

/** Most units of the schema times those of the arguments: each choice may be compared with each item. */
const MOST_WORK = 1_000_000;

const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NOTES = [
  "$schema",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
];
const PLAIN = new Set(["type", "enum", "required", "format", "nullable", ...BOUNDS, ...COUNTS, ...NOTES]);

/** Whether a schema has only keywords known to be cheap. Evaluated once per schema. */
export function isPlain(schema: JsonObjectSchema, text: string): boolean {
  return text.length <= MOST_SCHEMA && hasPlainKeywords(schema);
}

/** `schema`, `args`: as JSON text. */
export function isQuick(schema: string, args: string): boolean {
  return schema.length * args.length <= MOST_WORK;
}

/** Whether a schema means the same in every dialect, and without one: names, types, choices and bounds. */
export function hasPlainKeywords(schema: unknown): boolean {
  if (typeof schema === "boolean") return true;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  return Object.entries(schema).every(([name, value]) => {
    if (PLAIN.has(name)) return true;
    if (name === "items" || name === "additionalProperties") return hasPlainKeywords(value);
    return name === "properties" && isObject(value) && Object.values(value).every(hasPlainKeywords);
  });
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
