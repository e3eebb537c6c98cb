/** Which array of a document a caller means when it asks for items. */

import { BrokerError } from "../errors.js";
import { contentsAt, dottedPath, quoted, segmentsOf, walk } from "./document-path.js";
import { documentIn, eachMember, endOf, type Place, stringAt, typeAt } from "./json-text.js";

/** An array of the document. */
export interface ListChoice {
  list: Place;
  /** Its name for callers: the key, or the path; undefined when the document is the array. */
  field?: string;
  /** The object that holds it, if that is the document itself. */
  outer?: Place;
}

/** `{"warnings": [], "data": {"hierarchy": […]}}` means the hierarchy: an array that is most of the document wins. */
const MOST = 0.5;
/** Objects nested deeper are not searched. */
const SEARCHED_LEVELS = 32;

/**
 * The array that a path names. Without a path: the document itself, else its largest array field by written size (the
 * first of equals), unless an array further down, below objects only, makes up most of the document; undefined if there
 * is none. Throws INVALID_ARGUMENTS if the path names no array; the message says what is there instead.
 */
export function chooseList(text: Uint8Array, path?: string): ListChoice | undefined {
  const document = documentIn(text);
  if (path !== undefined) return namedList(text, document, path);
  const type = typeAt(text, document.start);
  if (type === "array") return { list: document };
  if (type !== "object") return undefined;
  const { direct, deeper } = largestLists(text, document.start);
  const isMost =
    deeper && size(deeper.list) > Math.max(MOST * size(document), direct ? size(direct.list) : 0);
  if (isMost) return { list: deeper.list, field: dottedPath(deeper.keys) };
  return direct && { list: direct.list, field: direct.keys[0] ?? "", outer: document };
}

function namedList(text: Uint8Array, document: Place, path: string): ListChoice {
  const segments = segmentsOf(path, text, document.start);
  const end = walk(text, document.start, segments);
  if (!end.found) {
    const holder = end.depth === 0 ? "The document" : quoted(dottedPath(segments.slice(0, end.depth)));
    const missing = `${quoted(path)} does not exist.`;
    throw new BrokerError("INVALID_ARGUMENTS", `${missing} ${holder} ${contentsAt(text, end.holder)}.`);
  }
  const list = { start: end.start, end: endOf(text, end.start) };
  if (typeAt(text, list.start) !== "array") {
    throw new BrokerError(
      "INVALID_ARGUMENTS",
      `${quoted(path)} is not an array: it ${contentsAt(text, list.start)}.`,
    );
  }
  const [first] = segments;
  if (first === undefined) return { list };
  const isField = segments.length === 1 && typeAt(text, document.start) === "object";
  return isField ? { list, field: first, outer: document } : { list, field: path };
}

interface FoundList {
  keys: string[];
  list: Place;
}

/** Among the arrays reached through objects only: the document's largest field, and the largest further down. */
function largestLists(text: Uint8Array, start: number): { direct?: FoundList; deeper?: FoundList } {
  const largest: { direct?: FoundList; deeper?: FoundList } = {};
  const search = (object: number, keys: readonly number[]): number =>
    eachMember(text, object, (key, at) => {
      const type = typeAt(text, at);
      const way = [...keys, key];
      if (type === "object" && way.length < SEARCHED_LEVELS) return search(at, way);
      const end = endOf(text, at);
      const which = way.length === 1 ? "direct" : "deeper";
      const best = largest[which];
      if (type === "array" && (best === undefined || end - at > size(best.list)))
        largest[which] = { keys: way.map((one) => stringAt(text, one)), list: { start: at, end } };
      return end;
    });
  search(start, []);
  return largest;
}

const size = ({ start, end }: Place): number => end - start;
