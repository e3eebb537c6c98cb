/** Part of a large result without jq: some of its items, reduced to some of their fields. */
import { contentsOf, isObject, parsedPath, type Walk, walk } from "./document-path.js";
import { BrokerError } from "./errors.js";
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

export interface Projection {
  /** Where the items are from: key or path; undefined when the document is the array, or its one item. */
  field?: string;
  items: unknown[];
  offset: number;
  total_items: number;
  /** Where to go on; undefined after the last item. */
  next_offset?: number;
  /** Fields that no item here has; at most ten are named. */
  missing_fields?: string[];
  /** Said with missing fields: what the first item has instead. */
  hint?: string;
}

const NAMED_MISSING = 10;

/**
 * An item becomes an object with the asked fields it has, each under its name as asked; an item that is no object stays.
 * An object without a list is its own one item. Offsets beyond the end answer no items and the true total.
 * Throws INVALID_ARGUMENTS: limit or offset that count nothing, a path without an array, a document without fields or items.
 */
export function project(document: unknown, request: ProjectionRequest): Projection {
  const offset = count("offset", request.offset) ?? 0;
  const limit = count("limit", request.limit) ?? Number.POSITIVE_INFINITY;
  const list = chooseList(document, request.path);
  if (list === undefined && !isObject(document)) {
    const way = "take a part with a jq filter, such as .[0:2000] of a string";
    throw new BrokerError(
      "INVALID_ARGUMENTS",
      `The result has no items: it ${contentsOf(document)}; ${way}.`,
    );
  }
  const all = list?.items ?? [document];
  const chosen = all.slice(offset, offset + limit);
  const fields = [...new Set(request.fields)].map((name): Field => ({ name, isMissing: true }));
  const items = fields.length === 0 ? chosen : chosen.map((item) => reduced(item, fields));
  const end = offset + chosen.length;
  return {
    ...(list?.field === undefined ? {} : { field: list.field }),
    items,
    offset,
    total_items: all.length,
    ...(end < all.length ? { next_offset: end } : {}),
    ...missing(fields, chosen),
  };
}

interface Field {
  name: string;
  /** Read when the first item has no such key. */
  segments?: string[];
  isMissing: boolean;
}

/** Notes at the fields which were found. Built from entries, so that a field `__proto__` is a field like others. */
function reduced(item: unknown, fields: readonly Field[]): unknown {
  if (!isObject(item)) return item;
  const found: [string, unknown][] = [];
  for (const field of fields) {
    const { name } = field;
    const end = lookUp(item, field);
    if (!end.found) continue;
    found.push([name, end.value]);
    field.isMissing = false;
  }
  return Object.fromEntries(found);
}

function lookUp(item: Record<string, unknown>, field: Field): Walk {
  if (Object.hasOwn(item, field.name)) return { found: true, value: item[field.name] };
  field.segments ??= parsedPath(field.name);
  return walk(item, field.segments);
}

function missing(
  fields: readonly Field[],
  items: readonly unknown[],
): Pick<Projection, "missing_fields" | "hint"> {
  const names = fields.filter(({ isMissing }) => isMissing).map(({ name }) => shortened(name, 80));
  const first = items.find(isObject);
  if (names.length === 0 || first === undefined) return {};
  return { missing_fields: names.slice(0, NAMED_MISSING), hint: `The first item ${contentsOf(first)}.` };
}

function count(name: string, value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
    throw new BrokerError("INVALID_ARGUMENTS", `${name} is a whole number of items, from 0.`);
  }
  return value;
}
