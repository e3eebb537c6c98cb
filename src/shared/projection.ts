/** Part of a large result without jq: some of its items, reduced to some of their fields. */
import { contentsAt, parsedPath, walk } from "./document-path.js";
import { BrokerError } from "./errors.js";
import { documentIn, eachItem, endOf, memberAt, type Place, typeAt } from "./json-text.js";
import { chooseList } from "./list-choice.js";
import { shortened } from "./shortened-text.js";

export interface ProjectionRequest {
  /** Names or paths (document-path.ts) of fields of an item; none or an empty list means whole items. */
  fields?: readonly string[] | undefined;
  /** Items at most; all when not said. 0 asks for the totals alone. */
  limit?: number | undefined;
  /** Items passed over; 0 when not said. */
  offset?: number | undefined;
  /** Names an array; without it the same one is chosen as for pages. */
  path?: string | undefined;
}

/** What is told of a projection beside its items. */
export interface Projected {
  /** Where the items are from: key or path; undefined when the document is the array, or its one item. */
  field?: string;
  offset: number;
  total_items: number;
  /** Where to go on; undefined after the last item. */
  next_offset?: number;
  /** Fields that no item here has; at most ten are named. */
  missing_fields?: string[];
  /** Said with missing fields: what the first item has instead. */
  hint?: string;
}

export interface Projection {
  /** An array of items, JSON in UTF-8. */
  json: Uint8Array;
  told: Projected;
}

const NAMED_MISSING = 10;

/**
 * An item becomes an object with the asked fields it has, each under its name as asked; an item that is no object stays.
 * An object without a list is its own one item. Offsets beyond the end answer no items and the true total.
 * Throws INVALID_ARGUMENTS: limit or offset that count nothing, a path without an array, a document without fields or
 * items.
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
    told: {
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
  /** Read when the first item has no such key. */
  segments?: string[];
  isMissing: boolean;
}

/** Notes at the fields which were found. */
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
    throw new BrokerError("INVALID_ARGUMENTS", `${name} is a whole number of items, from 0.`);
  }
  return value;
}
