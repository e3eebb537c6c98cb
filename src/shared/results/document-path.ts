/**
 * Names a place in a JSON document: `scene.roots[0].children`, `scene["a key"].list`, or as JSON Pointer (RFC 6901)
 * `/scene/roots/0/children`. A leading dot, as in jq, changes nothing.
 */
import { BrokerError } from "../errors.js";
import { shortened } from "../printable.js";
import { countAt, ENOUGH, eachMember, endOf, itemAt, memberAt, stringAt, typeAt } from "./json-text.js";

/** A segment is a key, or in an array an index in decimal digits. */
const SEGMENT = /(^\.?|\.)([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
const INDEX = /^(0|[1-9]\d*)$/;
const BARE_KEY = /^[^.[\]/"]+$/;
const SHOWN_KEYS = 20;

/** Where a walk ended: at its target, or at the last existing place, `depth` segments down. */
export type Walk = { found: true; start: number } | { found: false; holder: number; depth: number };

/** The segments of a path; a path that is itself a key of the document is that key. Throws INVALID_ARGUMENTS. */
export function segmentsOf(path: string, text: Uint8Array, document: number): string[] {
  const isKey = typeAt(text, document) === "object" && memberAt(text, document, path) !== undefined;
  return isKey ? [path] : parsedPath(path);
}

/** The segments of a path as it is written; `""` and `"."` are the document. Throws INVALID_ARGUMENTS. */
export function parsedPath(path: string): string[] {
  if (path === "" || path === ".") return [];
  if (path.startsWith("/")) {
    return path
      .slice(1)
      .split("/")
      .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  const segments: string[] = [];
  for (let at = 0; at < path.length; at = SEGMENT.lastIndex) {
    SEGMENT.lastIndex = at;
    const match = SEGMENT.exec(path);
    const segment = match === null ? undefined : (match[2] ?? match[3] ?? unquoted(match[4]));
    if (segment === undefined) {
      const place = `is invalid at character ${at + 1}`;
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        `The path ${quoted(path)} ${place}: write it as scene.roots[0].children or /scene/roots/0/children.`,
      );
    }
    segments.push(segment);
  }
  return segments;
}

/** The dotted form of a path through objects, which `segmentsOf` reads back. */
export function dottedPath(keys: readonly string[]): string {
  return keys
    .map((key, depth) =>
      BARE_KEY.test(key) ? `${depth === 0 ? "" : "."}${key}` : `[${JSON.stringify(key)}]`,
    )
    .join("");
}

/** Follows the segments from a value as far as they exist. */
export function walk(text: Uint8Array, from: number, segments: readonly string[]): Walk {
  let start = from;
  for (const [depth, segment] of segments.entries()) {
    const type = typeAt(text, start);
    let next: number | undefined;
    if (type === "array" && INDEX.test(segment)) next = itemAt(text, start, Number(segment));
    if (type === "object") next = memberAt(text, start, segment);
    if (next === undefined) return { found: false, holder: start, depth };
    start = next;
  }
  return { found: true, start };
}

/** Describes the value at a place, for a caller who expected something else there. */
export function contentsAt(text: Uint8Array, start: number): string {
  const type = typeAt(text, start);
  if (type === "null") return "is null";
  if (type !== "array" && type !== "object") return `is a ${type}`;
  const count = countAt(text, start);
  if (count === 0) return `is an empty ${type}`;
  if (type === "array") return `has the items 0 to ${count - 1}`;
  const keys: string[] = [];
  eachMember(text, start, (key, at) => {
    keys.push(quoted(stringAt(text, key)));
    return keys.length < SHOWN_KEYS ? endOf(text, at) : ENOUGH;
  });
  const more = count > keys.length ? ` and ${count - keys.length} more` : "";
  return `has the keys ${keys.join(", ")}${more}`;
}

/** For messages: in quotes, at most about 80 characters. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text, 80));
}

function unquoted(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as string);
  } catch {
    return undefined;
  }
}
