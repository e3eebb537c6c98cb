/** Which array of a document is meant when its items are asked for. */
import { contentsOf, dottedPath, isObject, quoted, segmentsOf, walk } from "./document-path.js";
import { BrokerError } from "./errors.js";
import { jsonBytes } from "./json-bytes.js";

/** An array of the document, and the way to it. */
export interface ListChoice {
  items: readonly unknown[];
  /** Empty when the document is the array. */
  segments: string[];
  /** How callers are told of it: the key, or the path; undefined when the document is the array. */
  field?: string;
  /** The object that holds it, when that is the document itself. */
  outer?: Record<string, unknown>;
}

/** `{"warnings": [], "data": {"hierarchy": […]}}` means the hierarchy: an array that is most of the document wins. */
const MOST = 0.5;
/** Objects below this are not searched. */
const SEARCHED_LEVELS = 32;

/**
 * The array that a path names, or without a path: the document, else its largest array field by serialized size (the
 * first of equals), but an array further down, below objects only, if it is most of the document; undefined when there is
 * none of these.
 * Throws INVALID_ARGUMENTS when the path names no array, and says what is there instead.
 */
export function chooseList(document: unknown, path?: string): ListChoice | undefined {
  if (path !== undefined) return namedList(document, path);
  if (Array.isArray(document)) return { items: document, segments: [] };
  if (!isObject(document)) return undefined;
  const lists = listsBelow(document);
  const [only] = lists;
  if (lists.length === 1 && only?.outer !== undefined) return only;
  const direct = largest(lists.filter(({ segments }) => segments.length === 1));
  const deeper = largest(lists.filter(({ segments }) => segments.length > 1));
  if (deeper === undefined || deeper.bytes <= (direct?.bytes ?? 0)) return direct?.list;
  return deeper.bytes > MOST * jsonBytes(document) ? deeper.list : direct?.list;
}

/** The array that a choice's segments lead to, in the document of that choice. */
export function listAt(document: unknown, segments: readonly string[]): readonly unknown[] {
  const end = walk(document, segments);
  if (!end.found || !Array.isArray(end.value)) throw new Error(`no array at ${segments.join("/")}`);
  return end.value;
}

function namedList(document: unknown, path: string): ListChoice {
  const segments = segmentsOf(path, document);
  const end = walk(document, segments);
  if (!end.found) {
    const holder = end.depth === 0 ? "The document" : quoted(dottedPath(segments.slice(0, end.depth)));
    const missing = `${quoted(path)} is not there.`;
    throw new BrokerError("INVALID_ARGUMENTS", `${missing} ${holder} ${contentsOf(end.holder)}.`);
  }
  if (!Array.isArray(end.value)) {
    throw new BrokerError(
      "INVALID_ARGUMENTS",
      `${quoted(path)} is not an array: it ${contentsOf(end.value)}.`,
    );
  }
  const [first] = segments;
  if (first === undefined) return { items: end.value, segments };
  if (segments.length === 1 && isObject(document)) {
    return { items: end.value, segments, field: first, outer: document };
  }
  return { items: end.value, segments, field: path };
}

/** All arrays that are reached through objects only, level by level. */
function listsBelow(document: Record<string, unknown>): ListChoice[] {
  const lists: ListChoice[] = [];
  let level: { holder: Record<string, unknown>; segments: string[] }[] = [{ holder: document, segments: [] }];
  for (let depth = 0; depth < SEARCHED_LEVELS && level.length > 0; depth++) {
    const deeper: typeof level = [];
    for (const { holder, segments } of level) {
      for (const [key, value] of Object.entries(holder)) {
        const way = [...segments, key];
        if (isObject(value)) deeper.push({ holder: value, segments: way });
        if (!Array.isArray(value)) continue;
        lists.push(
          depth === 0
            ? { items: value, segments: way, field: key, outer: document }
            : { items: value, segments: way, field: dottedPath(way) },
        );
      }
    }
    level = deeper;
  }
  return lists;
}

function largest(lists: readonly ListChoice[]): { list: ListChoice; bytes: number } | undefined {
  let best: { list: ListChoice; bytes: number } | undefined;
  for (const list of lists) {
    const bytes = jsonBytes(list.items);
    if (best === undefined || bytes > best.bytes) best = { list, bytes };
  }
  return best;
}
