/**
 * Names a place in a JSON document: `scene.roots[0].children`, `scene["a key"].list`, or as JSON Pointer (RFC 6901)
 * `/scene/roots/0/children`. A leading dot, as in jq, changes nothing.
 */
import { BrokerError } from "./errors.js";
import { shortened } from "./shortened-text.js";

/** A segment is a key, or in an array an index in decimal digits. */
const SEGMENT = /(^\.?|\.)([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
const INDEX = /^(0|[1-9]\d*)$/;
const BARE_KEY = /^[^.[\]/"]+$/;
const SHOWN_KEYS = 20;

/** Where a walk ended: at its goal, or at the last place that is there, `depth` segments down. */
export type Walk = { found: true; value: unknown } | { found: false; holder: unknown; depth: number };

/** The segments of a path; a path that is itself a key of the document is that key. Throws INVALID_ARGUMENTS. */
export function segmentsOf(path: string, document: unknown): string[] {
  return isObject(document) && Object.hasOwn(document, path) ? [path] : parsedPath(path);
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
      const place = `cannot be read from character ${at + 1} on`;
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        `The path ${quoted(path)} ${place}: write it as scene.roots[0].children or /scene/roots/0/children.`,
      );
    }
    segments.push(segment);
  }
  return segments;
}

/** The dotted form of a way through objects: what `segmentsOf` reads back. */
export function dottedPath(keys: readonly string[]): string {
  return keys
    .map((key, depth) =>
      BARE_KEY.test(key) ? `${depth === 0 ? "" : "."}${key}` : `[${JSON.stringify(key)}]`,
    )
    .join("");
}

/** Follows the segments as far as they are there. */
export function walk(document: unknown, segments: readonly string[]): Walk {
  let value = document;
  for (const [depth, segment] of segments.entries()) {
    if (Array.isArray(value) && INDEX.test(segment) && Number(segment) < value.length) {
      value = value[Number(segment)];
    } else if (isObject(value) && Object.hasOwn(value, segment)) {
      value = value[segment];
    } else {
      return { found: false, holder: value, depth };
    }
  }
  return { found: true, value };
}

/** What is at a place, for a caller who looked for something else there. */
export function contentsOf(value: unknown): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? "is an empty array" : `has the items 0 to ${value.length - 1}`;
  }
  if (!isObject(value)) return value === null ? "is null" : `is a ${typeof value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "is an empty object";
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : "";
  return `has the keys ${keys.slice(0, SHOWN_KEYS).map(quoted).join(", ")}${more}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
