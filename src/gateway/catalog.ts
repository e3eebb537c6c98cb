/**
 * The tools of all known Editors, kept in memory and read again when an Editor reports a change. Where the store has none,
 * the last known catalogue answers (src/gateway/editors/last-catalogs.ts).
 */
import { isDeepStrictEqual } from "node:util";
import { bare, didYouMean, nearest } from "../shared/editors/target.js";
import { BrokerError } from "../shared/errors.js";
import type { JsonObject } from "../shared/operation/decide.js";
import { head, shortened } from "../shared/printable.js";
import type { Notifier } from "../shared/store/connect.js";
import type { Editors } from "../shared/store/editors/editors.js";
import type { JsonObjectSchema, Tool } from "../shared/tools/tool.js";
import { type LastCatalogs, unknownTo } from "./editors/last-catalogs.js";

/** A tool, with the ids of the Editors that share this description, and how long its calls wait, s, if it is configured for it. */
export type OfferedTool = Tool & { editors: string[]; waitSeconds?: number | undefined };

export interface Catalog {
  /** Every tool of these Editors once, by name; if Editors differ, the most recently seen one decides. */
  tools(sees: (editorId: string) => boolean): Promise<OfferedTool[]>;
  /** The tool as these Editors describe it. Throws NO_EDITOR or UNKNOWN_TOOL. */
  tool(name: string, editorIds: readonly string[]): Promise<Tool>;
  close(): void;
}

export function createCatalog(
  editors: Pick<Editors, "availability" | "tools">,
  notifier: Pick<Notifier, "on">,
  last: Pick<LastCatalogs, "all">,
): Catalog {
  const cached = new Map<string, Promise<Tool[]>>();
  const stop = notifier.on(
    "editors",
    (editor) => cached.delete(editor),
    () => cached.clear(),
  );

  const storedToolsOf = (editor: string): Promise<Tool[]> => {
    const known = cached.get(editor);
    if (known) return known;
    const read = editors.tools(editor);
    cached.set(editor, read);
    // An empty catalogue is not published yet, and an error was not read: neither is kept.
    read.then(
      (tools) => tools.length === 0 && cached.delete(editor),
      () => cached.delete(editor),
    );
    return read;
  };

  const toolsOf = async (editor: string): Promise<readonly Tool[]> => {
    const stored = await storedToolsOf(editor);
    if (stored.length > 0) return stored;
    const noted = (await last.all()).find(({ profile }) => profile.editorId === editor);
    return noted?.tools ?? [];
  };

  const toolsByName = async (ids: readonly string[]): Promise<Map<string, Tool>> => {
    const byName = new Map<string, Tool>();
    for (const tools of await Promise.all(ids.map(toolsOf))) {
      for (const tool of tools) byName.set(tool.name, tool);
    }
    return byName;
  };

  return {
    async tools(sees) {
      const [stored, catalogs] = await Promise.all([editors.availability(), last.all()]);
      const noted = unknownTo(stored, catalogs).map(({ profile }) => profile.editorId);
      const ids = [...noted, ...stored.map(({ id }) => id)].filter(sees);
      const offered = new Map<string, OfferedTool>();
      for (const [at, tools] of (await Promise.all(ids.map(toolsOf))).entries()) {
        const editor = ids[at] ?? "";
        for (const tool of tools) {
          const { editors: others = [], ...before } = offered.get(tool.name) ?? {};
          const alike = isDeepStrictEqual(before, tool) ? others : [];
          // By name: the order of last sign of life changes all the time.
          offered.set(tool.name, { ...tool, editors: [...alike, editor].sort() });
        }
      }
      return [...offered.values()];
    },

    async tool(name, editorIds) {
      if (editorIds.length === 0) throw new BrokerError("NO_EDITOR", "No Unity Editor has been seen yet.");
      const byName = await toolsByName(editorIds);
      const tool = byName.get(name);
      if (tool) return tool;
      const meant = nearest(name, [...byName.keys()]);
      const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
      throw new BrokerError("UNKNOWN_TOOL", `There is no tool "${head(name, 100)}".${hint}`, {
        tool: head(name, 100),
      });
    },

    close: stop,
  };
}

// The one check of a call's arguments: what is nearly right is put right, so that the Editor's own reading of them, whichever bridge
// it has, has nothing left to misread. What only the Editor can know (patterns, references, combinations of schemas) is left to it.

export interface Fault {
  /** JSON Pointer into the arguments. */
  path: string;
  /** A clause for a person or a model: "Count must be an integer, not the text \"two\"". */
  reason: string;
}

/** Most faults reported, and UTF-16 units of each path and reason, and of a value that one quotes. */
const [MOST_FAULTS, MOST_TEXT, MOST_QUOTED] = [20, 200, 60];

/**
 * The arguments as the schema spells them: parameters by their own names, without null and "" where those only say "not
 * used", and numbers and booleans that were written as text. Takes time in proportion to the arguments and the schema.
 */
export function readArguments(
  schema: JsonObjectSchema,
  args: JsonObject,
): { arguments: JsonObject; faults: Fault[] } {
  const faults: Fault[] = [];
  const read = readObject(schema, args, undefined, (at, reason) => {
    if (faults.length === MOST_FAULTS) return false;
    faults.push({
      path: shortened(pointerTo(at), MOST_TEXT),
      reason: shortened(reason(nameOf(at)), MOST_TEXT),
    });
    return true;
  });
  return { arguments: read, faults };
}

export function argumentError(tool: string, faults: readonly Fault[]): BrokerError {
  const said = faults.slice(0, 5).map(({ reason }) => reason);
  return new BrokerError("INVALID_ARGUMENTS", `The arguments of ${tool} are wrong: ${said.join("; ")}.`, {
    faults,
  });
}

/** Where a value is. */
interface Place {
  within: Place | undefined;
  key: string | number;
}

/** `reason`: called with the value's name. False once there are enough of them. */
type TellFault = (at: Place, reason: (name: string) => string) => boolean;

type Schema = Readonly<Record<string, unknown>>;

function readValue(schema: unknown, given: unknown, at: Place, fault: TellFault): unknown {
  if (!isObject(schema)) return given;
  const types = typesOf(schema);
  const value = types === undefined ? given : asTyped(types, given);
  if (types !== undefined && !types.some((type) => KINDS[type]?.is(value))) {
    const wanted = types.filter((type) => type !== "null").map((type) => KINDS[type]?.name);
    fault(at, (name) => `${name} must be ${wanted.join(" or ") || "null"}, not ${shown(given)}`);
    return value;
  }
  if (Array.isArray(schema.enum)) return oneOf(schema.enum, value, at, fault);
  if (typeof value === "number") return within(schema, value, at, fault);
  if (Array.isArray(value) && isObject(schema.items))
    return value.map((item, key) => readValue(schema.items, item, { within: at, key }, fault));
  return isObject(value) ? readObject(schema, value, at, fault) : value;
}

function readObject(schema: Schema, given: JsonObject, at: Place | undefined, fault: TellFault): JsonObject {
  const { properties, names, required } = shapeOf(schema);
  const read = new Map<string, unknown>();
  const isUsed = (name: string): boolean =>
    Object.hasOwn(given, name) && !isUnused(properties[name], given[name]);
  for (const [written, value] of Object.entries(given)) {
    const place = { within: at, key: written };
    const name = Object.hasOwn(properties, written) ? written : names.get(bare(written));
    // Some models cannot send nothing to a tool that takes nothing: uLoop's client taught them this name.
    if (at === undefined && written === FILLER && offered(properties).length === 0) continue;
    const isOpen = schema.additionalProperties !== false || "patternProperties" in schema;
    if (name !== undefined && (name === written || !(isUsed(name) || read.has(name)))) {
      const inner = properties[name];
      if (!isUnused(inner, value)) read.set(name, readValue(inner, value, place, fault));
    } else if (isOpen) read.set(written, readValue(schema.additionalProperties, value, place, fault));
    else if (name !== undefined) fault(place, () => `${nameOf({ ...place, key: name })} is given twice`);
    else fault(place, (path) => `there is no parameter ${path}${didYouMean(written, offered(properties))}`);
  }
  for (const key of required) {
    if (read.has(key)) continue;
    if (!fault({ within: at, key }, (name) => `${name} is missing`)) break;
  }
  return Object.fromEntries(read);
}

const FILLER = "random_string";

/** Deprecated ones are understood, and offered to nobody. */
const offered = (properties: Schema): string[] =>
  Object.entries(properties).flatMap(([name, schema]) =>
    isObject(schema) && schema.deprecated === true ? [] : [name],
  );

interface Shape {
  properties: Schema;
  /** By their bare form; without those that share one. */
  names: ReadonlyMap<string, string | undefined>;
  required: readonly string[];
}

const shapes = new WeakMap<Schema, Shape>();

function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = new Map<string, string | undefined>();
  for (const name of Object.keys(properties)) names.set(bare(name), names.has(bare(name)) ? undefined : name);
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === "string")
    : [];
  const shape = { properties, names, required };
  shapes.set(schema, shape);
  return shape;
}

/** Does null, or "" where no text is wanted, only say that the parameter is not used? */
function isUnused(schema: unknown, value: unknown): boolean {
  if ((value !== null && value !== "") || !isObject(schema)) return false;
  if (Array.isArray(schema.enum)) return !schema.enum.includes(value);
  const types = typesOf(schema);
  if (types === undefined) return false;
  return value === null ? !types.includes("null") : !types.includes("string") || Number(schema.minLength) > 0;
}

const KINDS: Readonly<Record<string, { name: string; is(value: unknown): boolean }>> = {
  string: { name: "a string", is: (value) => typeof value === "string" },
  number: { name: "a number", is: (value) => typeof value === "number" },
  integer: { name: "an integer", is: Number.isInteger },
  boolean: { name: "a boolean", is: (value) => typeof value === "boolean" },
  array: { name: "an array", is: Array.isArray },
  object: { name: "an object", is: (value) => isObject(value) },
  null: { name: "null", is: (value) => value === null },
};

/** The types that the schema allows; undefined if it does not say, or not in words that are known. */
function typesOf({ type, nullable }: Schema): readonly string[] | undefined {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  const isKnown = types.every((word) => typeof word === "string" && Object.hasOwn(KINDS, word));
  if (!isKnown || types.length === 0) return undefined;
  return [...(types as string[]), ...(nullable === true ? ["null"] : [])];
}

/** A model writes "3" for 3, and "true" for true. What would lose digits stays as it is. */
function asTyped(types: readonly string[], value: unknown): unknown {
  if (typeof value !== "string" || types.includes("string")) return value;
  const word = value.trim();
  if (types.includes("boolean") && /^(true|false)$/i.test(word)) return word.toLowerCase() === "true";
  const isNumber = types.includes("number") || types.includes("integer");
  const number = isNumber && word !== "" ? Number(word) : Number.NaN;
  return Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number))
    ? number
    : value;
}

interface Choices {
  all: ReadonlySet<unknown>;
  /** By their lower-case form; without those that share one. */
  words: ReadonlyMap<string, string | undefined>;
}

const choices = new WeakMap<readonly unknown[], Choices>();

function choicesOf(allowed: readonly unknown[]): Choices {
  const known = choices.get(allowed);
  if (known) return known;
  const words = new Map<string, string | undefined>();
  for (const word of allowed) {
    if (typeof word !== "string") continue;
    words.set(word.toLowerCase(), words.has(word.toLowerCase()) ? undefined : word);
  }
  const read = { all: new Set(allowed), words };
  choices.set(allowed, read);
  return read;
}

function oneOf(allowed: readonly unknown[], value: unknown, at: Place, fault: TellFault): unknown {
  const { all, words } = choicesOf(allowed);
  if (all.has(value) || isComposed(value)) return value;
  const meant = typeof value === "string" ? words.get(value.toLowerCase()) : undefined;
  if (meant !== undefined) return meant;
  fault(at, (name) => {
    const known = allowed.map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice)));
    const hint = typeof value === "string" ? didYouMean(value, known) : "";
    return `${name} must be one of ${shortened(known.join(", "), MOST_TEXT / 2)}, not ${shown(value)}${hint}`;
  });
  return value;
}

const isComposed = (value: unknown): boolean => typeof value === "object" && value !== null;

function within({ minimum, maximum }: Schema, value: number, at: Place, fault: TellFault): number {
  if (typeof minimum === "number" && value < minimum)
    fault(at, (name) => `${name} must be at least ${minimum}, not ${value}`);
  if (typeof maximum === "number" && value > maximum)
    fault(at, (name) => `${name} must be at most ${maximum}, not ${value}`);
  return value;
}

function shown(value: unknown): string {
  if (typeof value === "string") return `the text "${shortened(value, MOST_QUOTED)}"`;
  if (Array.isArray(value)) return "an array";
  return isComposed(value) ? "an object" : String(value);
}

function keysTo(at: Place): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place: Place | undefined = at; place; place = place.within) keys.unshift(place.key);
  return keys;
}

const pointerTo = (at: Place): string =>
  keysTo(at)
    .map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");

/** As people write it: Steps[0].Name */
const nameOf = (at: Place): string =>
  keysTo(at).reduce<string>(
    (name, key) => (typeof key === "number" ? `${name}[${key}]` : name === "" ? key : `${name}.${key}`),
    "",
  );

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
