/**
 * Tool schemas as the APIs of models take them. One schema that an API refuses makes it refuse the whole request, and with it every
 * tool. What is listed keeps to what OpenAI, Anthropic and Gemini accept alike (docs/reference/model-apis.md); where that allows more
 * than the tool does, the check of the arguments and the Editor refuse the rest.
 */

import type { JsonObjectSchema, Tool } from "./tool.js";

type Schema = Readonly<Record<string, unknown>>;

/** Why a tool cannot be listed. */
class NotPortable extends Error {}

/** Of a tool (Gemini's begin with a letter or _), and of a parameter. */
const TOOL_NAME = /^[A-Za-z_][\w-]{0,63}$/;
const PARAMETER_NAME = /^[\w.-]{1,64}$/;

/** Once references are written out. */
const [MOST_PARTS, MOST_LEVELS] = [1_000, 32];

export type PortableSchema = { inputSchema: JsonObjectSchema } | { reason: string };

/** The schema to list; if there is none, why the tool is left out of the list. */
export function portableSchema({ name, inputSchema }: Pick<Tool, "name" | "inputSchema">): PortableSchema {
  if (!TOOL_NAME.test(name))
    return { reason: "models take names of at most 64 letters, digits, _ and -, which begin with a letter" };
  const portable = known.get(inputSchema) ?? written(inputSchema);
  known.set(inputSchema, portable);
  return portable;
}

/** A hostile one takes a millisecond. */
const known = new WeakMap<JsonObjectSchema, PortableSchema>();

function written(schema: JsonObjectSchema): PortableSchema {
  try {
    const inputSchema = createWriter(schema)({ ...schema, type: "object" }, ROOT);
    return { inputSchema: inputSchema as JsonObjectSchema };
  } catch (error) {
    if (error instanceof NotPortable) return { reason: error.message };
    throw error;
  }
}

interface Place {
  level: number;
  /** The references that lead here. */
  refs: readonly string[];
}

const ROOT: Place = { level: 0, refs: [] };

/** Writes a schema of one type, or of several alternatives of one type each, and so all within it. */
function createWriter(root: Schema): (schema: unknown, at: Place) => Schema {
  let parts = 0;

  /** The schema without references and combinations, but for alternatives that are of several types. */
  const flat = (given: unknown, { level, refs }: Place): { schema: Schema; at: Place } => {
    parts += 1;
    if (parts > MOST_PARTS || level > MOST_LEVELS)
      throw new NotPortable(`its schema has more than ${MOST_PARTS} parts or ${MOST_LEVELS} levels`);
    let { $ref, allOf, anyOf, oneOf, ...schema } = objectIn(given);
    let at: Place = { level: level + 1, refs };
    const add = (part: unknown): void => {
      const added = flat(part, at);
      schema = joined(schema, added.schema);
      at = { ...at, refs: added.at.refs };
    };
    if (typeof $ref === "string") {
      const target = targetOf(root, $ref);
      // Inside of itself it is described no further.
      if (refs.includes($ref)) return { schema: { ...schema, type: typesOf(target) }, at };
      at = { ...at, refs: [...refs, $ref] };
      add(target);
    }
    for (const part of listIn(allOf)) add(part);
    const alternatives = [...listIn(anyOf), ...listIn(oneOf)].filter((part) =>
      isTyped(flat(part, at).schema),
    );
    if (alternatives.length === 1) add(alternatives[0]);
    else if (alternatives.length > 1 && !isTyped(schema)) schema = { ...schema, anyOf: alternatives };
    else {
      const { required } = schema;
      for (const part of alternatives) add(part);
      // What one of them requires is not required.
      schema = { ...schema, required };
    }
    return { schema, at };
  };

  const write = (given: unknown, from: Place): Schema => {
    const { schema, at } = flat(given, from);
    const types = typesOf(schema);
    const [type, ...others] = types;
    if (type !== undefined && others.length === 0)
      return said({ ...ofType(type, schema, at), ...note(schema) });
    const { description: _, title: __, default: ___, ...bare } = schema;
    const alternatives =
      types.length > 0 ? types.map((each) => ({ ...bare, type: each })) : listIn(schema.anyOf);
    return said({ ...union(alternatives.map((each) => write(each, at))), ...note(schema) });
  };

  const ofType = (type: string, schema: Schema, at: Place): Schema => {
    const { minimum, maximum, default: standard } = schema;
    const common = { type, default: isEmpty(standard) ? undefined : standard };
    if (type === "object") return { ...common, ...members(schema, at) };
    if (type === "array") {
      const items = [...listIn(schema.prefixItems), ...[schema.items].flat()].filter(isObject);
      return { ...common, items: union(items.map((item) => write(item, at))) };
    }
    if (type !== "string")
      return { ...common, ...said({ minimum: numberIn(minimum), maximum: numberIn(maximum) }) };
    const words = valuesOf(schema).filter((value) => typeof value === "string" && value !== "");
    return { ...common, enum: words.length > 0 ? [...new Set(words)] : undefined };
  };

  const members = (schema: Schema, at: Place): Schema => {
    const required = listIn(schema.required);
    const named: [string, Schema][] = [];
    for (const [name, member] of Object.entries(objectIn(schema.properties))) {
      if (PARAMETER_NAME.test(name)) named.push([name, write(member, at)]);
      else if (required.includes(name))
        throw new NotPortable(
          `it requires ${JSON.stringify(name.slice(0, 40).replace(/[^\x20-\x7e]/g, "?"))}, and models take names of at most 64 letters, digits, _, . and -`,
        );
    }
    const needed = named.map(([name]) => name).filter((name) => required.includes(name));
    return {
      properties: named.length > 0 || at.level === 1 ? Object.fromEntries(named) : undefined,
      required: needed.length > 0 ? needed : undefined,
    };
  };

  return write;
}

/** Alternatives without type would be refused; none at all stand for any value. */
function union(several: readonly Schema[]): Schema {
  const different = new Map(several.map((schema) => [JSON.stringify(schema), schema]));
  const [only = { anyOf: ANYTHING }, ...others] = different.values();
  return others.length === 0 ? only : { anyOf: [...different.values()].flatMap((one) => one.anyOf ?? one) };
}

const ANYTHING: readonly Schema[] = [
  { type: "string" },
  { type: "number" },
  { type: "boolean" },
  { type: "object" },
  { type: "array", items: { type: "string" } },
];

const TYPES: unknown[] = ["string", "number", "integer", "boolean", "array", "object"];

/** Without null, which a parameter that is left out says; empty if the schema does not say it. */
function typesOf(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const named = [schema.type].flat().filter((type) => TYPES.includes(type)) as string[];
  if (named.length > 0) return [...new Set(named)];
  if (isObject(schema.properties) || isObject(schema.additionalProperties)) return ["object"];
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ["array"];
  const kinds = valuesOf(schema).map((value) => (Array.isArray(value) ? "array" : typeof value));
  return [...new Set(kinds)];
}

const isTyped = (schema: Schema): boolean => typesOf(schema).length > 0 || schema.anyOf !== undefined;

/** The values that it allows, but for null; empty: all. */
function valuesOf(schema: Schema): unknown[] {
  const all = schema.const === undefined ? listIn(schema.enum) : [schema.const];
  return all.filter((value) => value !== null);
}

/** Only words may be listed in `enum`; numbers are said. */
function note(schema: Schema): Schema {
  const numbers = valuesOf(schema).filter((value) => typeof value === "number");
  const choice = numbers.length > 0 ? `One of ${numbers.join(", ")}.` : "";
  const text = [schema.description ?? schema.title, choice].filter(
    (each) => typeof each === "string" && each !== "",
  );
  return { description: text.length > 0 ? text.join(" ") : undefined };
}

/** Both at once; where they differ, the first one counts. */
function joined(one: Schema, other: Schema): Schema {
  const own = objectIn(one.properties);
  const properties = { ...own, ...objectIn(other.properties), ...own };
  const required = [...listIn(one.required), ...listIn(other.required)];
  return { ...other, ...one, ...(Object.keys(properties).length > 0 ? { properties } : {}), required };
}

/** What a reference into the schema itself names; nothing if it leads elsewhere. */
function targetOf(root: Schema, ref: string): unknown {
  const [start, ...keys] = ref.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const step = (at: unknown, key: string): unknown =>
    Object.hasOwn(objectIn(at), key) ? objectIn(at)[key] : undefined;
  return start === "#" ? keys.reduce<unknown>(step, root) : undefined;
}

/** An empty default is what leaving the parameter out looks like anyway. */
const isEmpty = (value: unknown): boolean =>
  [null, false, ""].includes(value as never) ||
  (typeof value === "object" && Object.keys(value as object).length === 0);

const numberIn = (value: unknown): unknown => (typeof value === "number" ? value : undefined);
const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const said = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
const objectIn = (value: unknown): Schema => (isObject(value) ? value : {});
const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
