/** A part of a large result without jq: some of its items, reduced to some of their fields. */

import { BrokerError } from "../errors.js";
import { shortened } from "../printable.js";
import { contentsAt, parsedPath, walk } from "./document-path.js";
import { documentIn, eachItem, endOf, memberAt, type Place, typeAt } from "./json-text.js";
import { chooseList } from "./list-choice.js";

export interface ProjectionRequest {
  /** Names or paths (document-path.ts) of fields of an item; none or an empty list means whole items. */
  fields?: readonly string[] | undefined;
  /** Most items; absent: all. 0 asks only for the totals. */
  limit?: number | undefined;
  /** Items to skip; absent: 0. */
  offset?: number | undefined;
  /** Names an array; without it the same array is chosen as for pages. */
  path?: string | undefined;
}

/** The description of a projection beside its items. */
export interface Projected {
  /** Where the items come from: key or path; undefined when the document is the array, or its one item. */
  field?: string;
  offset: number;
  total_items: number;
  /** The offset to continue at; undefined after the last item. */
  next_offset?: number;
  /** Fields that no item here has; at most ten are listed. */
  missing_fields?: string[];
  /** Present with missing fields: what the first item has instead. */
  hint?: string;
}

export interface Projection {
  /** An array of items, JSON in UTF-8. */
  json: Uint8Array;
  summary: Projected;
}

const NAMED_MISSING = 10;

/**
 * Reduces each item to an object with those of the requested fields that it has, each under its requested name; an item
 * that is not an object stays as it is. An object without a list is its own single item. Offsets beyond the end give no
 * items and the true total. Throws INVALID_ARGUMENTS: an invalid limit or offset, a path without an array, a document
 * without fields or items.
 */
export function project(text: Uint8Array, request: ProjectionRequest): Projection {
  const offset = count("offset", request.offset) ?? 0;
  const limit = count("limit", request.limit) ?? Number.POSITIVE_INFINITY;
  const document = documentIn(text);
  const choice = chooseList(text, request.path);
  if (choice === undefined && typeAt(text, document.start) !== "object") {
    const way = "take a part with a jq filter, such as .[0:2000] of a string";
    const what = `it ${contentsAt(text, document.start)}`;
    throw new BrokerError("INVALID_ARGUMENTS", `The result has no items: ${what}; ${way}.`);
  }
  const fields = [...new Set(request.fields)].map((name): Field => ({ name, isMissing: true }));
  const pieces: Uint8Array[] = [];
  let total = 0;
  let chosen = 0;
  let firstObject: number | undefined;
  const take = (start: number): number => {
    const end = endOf(text, start);
    total += 1;
    if (total <= offset || chosen >= limit) return end;
    chosen += 1;
    pieces.push(chosen === 1 ? OPEN : COMMA, ...reduced(text, { start, end }, fields));
    if (typeAt(text, start) === "object") firstObject ??= start;
    return end;
  };
  if (choice) eachItem(text, choice.list.start, take);
  else take(document.start);
  const end = Math.min(offset, total) + chosen;
  return {
    json: Buffer.concat(chosen === 0 ? [OPEN, CLOSE] : [...pieces, CLOSE]),
    summary: {
      ...(choice?.field === undefined ? {} : { field: choice.field }),
      offset,
      total_items: total,
      ...(end < total ? { next_offset: end } : {}),
      ...missing(text, fields, firstObject),
    },
  };
}

const [OPEN, CLOSE, COMMA] = ["[", "]", ","].map((one) => Buffer.from(one)) as [Buffer, Buffer, Buffer];

interface Field {
  name: string;
  /** Parsed when the first item has no such key. */
  segments?: string[];
  isMissing: boolean;
}

/** Marks the fields that were found. */
function reduced(text: Uint8Array, { start, end }: Place, fields: Field[]): Uint8Array[] {
  if (fields.length === 0 || typeAt(text, start) !== "object") return [text.subarray(start, end)];
  const pieces: Uint8Array[] = [];
  for (const field of fields) {
    const value = lookUp(text, start, field);
    if (value === undefined) continue;
    field.isMissing = false;
    const name = `${pieces.length === 0 ? "{" : ","}${JSON.stringify(field.name)}:`;
    pieces.push(Buffer.from(name), text.subarray(value, endOf(text, value)));
  }
  return pieces.length === 0 ? [Buffer.from("{}")] : [...pieces, Buffer.from("}")];
}

function lookUp(text: Uint8Array, item: number, field: Field): number | undefined {
  const own = memberAt(text, item, field.name);
  if (own !== undefined) return own;
  field.segments ??= parsedPath(field.name);
  const end = walk(text, item, field.segments);
  return end.found ? end.start : undefined;
}

function missing(
  text: Uint8Array,
  fields: readonly Field[],
  firstObject: number | undefined,
): Pick<Projected, "missing_fields" | "hint"> {
  const names = fields.filter(({ isMissing }) => isMissing).map(({ name }) => shortened(name, 80));
  if (names.length === 0 || firstObject === undefined) return {};
  const hint = `The first item ${contentsAt(text, firstObject)}.`;
  return { missing_fields: names.slice(0, NAMED_MISSING), hint };
}

function count(name: string, value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
    throw new BrokerError("INVALID_ARGUMENTS", `${name} must be a whole number of items, at least 0.`);
  }
  return value;
}
