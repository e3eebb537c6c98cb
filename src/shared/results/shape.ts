/** Values reduced to their shape, from which people and agents decide whether to ask for more. */

import { shortened } from "../shortened-text.js";
import {
  beginningAt,
  countAt,
  ENOUGH,
  eachItem,
  eachMember,
  endOf,
  type Place,
  typeAt,
  valueAt,
} from "./json-text.js";

/** `array[400]`, `object{3}`, or the type. */
function shapeAt(text: Uint8Array, start: number): string {
  const type = typeAt(text, start);
  if (type === "array") return `array[${countAt(text, start)}]`;
  return type === "object" ? `object{${countAt(text, start)}}` : type;
}

/** The same, with the size of values that can be large: `string 12 B`. */
export function sizedShapeAt(text: Uint8Array, { start, end }: Place): string {
  const isScalar = ["number", "boolean", "null"].includes(typeAt(text, start));
  return isScalar ? shapeAt(text, start) : `${shapeAt(text, start)} ${end - start} B`;
}

export interface ShorteningLimits {
  /** Of a string, and of a key. */
  characters: number;
  /** Of an array or object. */
  entries: number;
  /** Nesting levels shown; deeper values are reduced to their shape. */
  levels: number;
}

/** The value with long strings cut, long arrays and objects cut with a last entry `…`, and deep parts as their shape. */
export function shortenedAt(text: Uint8Array, start: number, limits: ShorteningLimits): unknown {
  const type = typeAt(text, start);
  if (type === "string") return shortenedStringAt(text, start, limits.characters);
  if (type !== "array" && type !== "object") return valueAt(text, { start, end: endOf(text, start) });
  if (limits.levels < 1) return shapeAt(text, start);
  const inner = { ...limits, levels: limits.levels - 1 };
  const more = (shown: number): number => Math.max(0, countAt(text, start) - shown);
  if (type === "array") {
    const items: unknown[] = [];
    const isWhole = eachItem(text, start, (at) => {
      if (items.length === limits.entries) return ENOUGH;
      items.push(shortenedAt(text, at, inner));
      return endOf(text, at);
    });
    return isWhole === ENOUGH ? [...items, `…(+${more(limits.entries)} items)`] : items;
  }
  const entries: [string, unknown][] = [];
  const isWhole = eachMember(text, start, (key, at) => {
    if (entries.length === limits.entries) return ENOUGH;
    entries.push([shortenedStringAt(text, key, limits.characters), shortenedAt(text, at, inner)]);
    return endOf(text, at);
  });
  if (isWhole === ENOUGH) entries.push(["…", `+${more(limits.entries)} keys`]);
  return Object.fromEntries(entries);
}

/** Reads only the beginning of a long string. */
export function shortenedStringAt(text: Uint8Array, start: number, characters: number): string {
  const beginning = beginningAt(text, start, characters + 2);
  return shortened(beginning.text, characters, beginning.length);
}
