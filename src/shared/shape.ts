/** Values reduced to their shape, for people and agents who decide whether to ask for more. */
import { isObject } from "./document-path.js";
import { shortened } from "./shortened-text.js";

export type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

export function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

/** `array[400]`, `object{3}`, or the type; with the size, where one is given, of what can be large: `string 12 B`. */
export function shapeOf(value: unknown, bytes?: number): string {
  const type = typeOf(value);
  const size = bytes === undefined ? "" : ` ${bytes} B`;
  if (Array.isArray(value)) return `array[${value.length}]${size}`;
  if (isObject(value)) return `object{${Object.keys(value).length}}${size}`;
  return type === "string" ? `string${size}` : type;
}

export interface ShorteningLimits {
  /** Of a string and of a key. */
  characters: number;
  /** Of an array or object. */
  entries: number;
  /** Arrays and objects in one another; below stands their shape. */
  levels: number;
}

/** The value with long strings cut, long arrays and objects cut with a last entry `…`, and deep parts as their shape. */
export function shortenedValue(value: unknown, limits: ShorteningLimits): unknown {
  if (typeof value === "string") return shortened(value, limits.characters);
  if (typeof value !== "object" || value === null) return value;
  if (limits.levels < 1) return shapeOf(value);
  const inner = { ...limits, levels: limits.levels - 1 };
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.entries).map((item) => shortenedValue(item, inner));
    return value.length > limits.entries ? [...items, `…(+${value.length - limits.entries} items)`] : items;
  }
  const keys = Object.keys(value);
  const entries: [string, unknown][] = keys
    .slice(0, limits.entries)
    .map((key) => [
      shortened(key, limits.characters),
      shortenedValue((value as Record<string, unknown>)[key], inner),
    ]);
  if (keys.length > limits.entries) entries.push(["…", `+${keys.length - limits.entries} keys`]);
  return Object.fromEntries(entries);
}
