/**
 * Pages of a large result: whole items only, cut where their real sizes say.
 *
 * Finding the boundaries measures the whole document (about as long as parsing it); a page by a known index is a slice.
 */

import { contentsOf, isObject } from "./document-path.js";
import { BrokerError } from "./errors.js";
import { jsonBytes, memberBytes } from "./json-bytes.js";
import { chooseList, type ListChoice, listAt } from "./list-choice.js";
import { shortened } from "./shortened-text.js";

/** What a page says of itself. */
export interface Pagination {
  /** Key or path of the paged array; undefined when the document is the array, or is shown whole. */
  field?: string;
  start_index: number;
  /** Exclusive. */
  end_index: number;
  total_items: number;
  /** At least 1: an empty array has one empty page. */
  total_pages: number;
  /** Other fields of the document, too large to be on every page; at most ten are named. */
  omitted_fields?: OmittedField[];
  omitted_field_count?: number;
}

export interface OmittedField {
  field: string;
  bytes: number;
}

/**
 * `data` is an array of items for a document that is an array; else an object with the items under
 * `data[pagination.field]` and the pagination again as `data._pagination`; or the whole document.
 */
export interface Page {
  /** From 1, as asked for. */
  page: number;
  data: unknown;
  pagination: Pagination;
}

/** The boundaries of all pages of one document; plain JSON, to be kept beside it. */
export interface PageIndex {
  /** `whole`: the document is its only page. */
  layout: "array" | "field" | "whole";
  /** The way to the array. */
  segments: string[];
  field?: string;
  /** Keys of the document that are on every page. */
  kept: string[];
  omitted: OmittedField[];
  omittedCount: number;
  totalItems: number;
  /** Index of each page's first item; its length is the number of pages. */
  starts: number[];
}

export interface PageRequest {
  /** From 1. */
  page: number;
  /** UTF-8 bytes of a page's `data` as JSON; only a page of one item may be longer. */
  pageSizeBytes: number;
  /** Names an array (document-path.ts); without it list-choice.ts chooses. */
  path?: string | undefined;
}

/** Fields beside the paged array are on every page up to this share of it, or all when the document is one page. */
const OUTER_SHARE = 0.25;
const NAMED_OMISSIONS = 10;
const LONGEST_NAME = 60;
const MARK = "_pagination";

/**
 * One page. A page that is not there is empty, with the true totals (whole documents: `null`).
 * Throws INVALID_ARGUMENTS: a page or size that is no whole number, a path without an array, no array at all.
 */
export function pageOf(document: unknown, request: PageRequest): Page {
  const { page, pageSizeBytes, path } = request;
  return pageAt(document, pageIndexOf(document, path, pageSizeBytes), page);
}

/** Finds the boundaries once; they depend on the document, the path and the size alone. Throws like `pageOf`. */
export function pageIndexOf(document: unknown, path: string | undefined, pageSizeBytes: number): PageIndex {
  if (!Number.isInteger(pageSizeBytes) || pageSizeBytes < 1) {
    throw new BrokerError("INVALID_ARGUMENTS", "A page size is a whole number of bytes, from 1.");
  }
  const list = chooseList(document, path);
  const isNamedOrOutermost =
    list !== undefined && (path !== undefined || Array.isArray(document) || list.outer);
  if (!isNamedOrOutermost) {
    // Nothing of a document that fits is left out for the sake of an array further down.
    const bytes = jsonBytes(document);
    if (bytes <= pageSizeBytes) return WHOLE;
    if (list === undefined) throw noList(document, bytes);
  }
  return indexOf(list, pageSizeBytes);
}

/** Cuts one page; `index` was made of this very document. Costs a slice and the few fields beside it. */
export function pageAt(document: unknown, index: PageIndex, page: number): Page {
  if (!Number.isInteger(page)) {
    throw new BrokerError("INVALID_ARGUMENTS", "A page is a whole number, from 1.");
  }
  const { starts, totalItems } = index;
  const isThere = page >= 1 && page <= starts.length;
  const before = page < 1 ? 0 : totalItems;
  const start = isThere ? (starts[page - 1] ?? 0) : before;
  const end = isThere ? (starts[page] ?? totalItems) : before;
  const pagination = paginationOf(index, start, end, starts.length);
  if (index.layout === "whole") return { page, data: isThere ? document : null, pagination };
  const items = listAt(document, index.segments).slice(start, end);
  if (index.layout === "array") return { page, data: items, pagination };
  return { page, data: envelope(document, index, items, pagination), pagination };
}

const WHOLE: PageIndex = {
  layout: "whole",
  segments: [],
  kept: [],
  omitted: [],
  omittedCount: 0,
  totalItems: 1,
  starts: [0],
};

function indexOf(list: ListChoice, pageSizeBytes: number): PageIndex {
  const itemBytes = list.items.map(jsonBytes);
  const totalItems = itemBytes.length;
  const listBytes = 2 + itemBytes.reduce((sum, bytes) => sum + bytes + 1, 0);
  const index: PageIndex = {
    layout: list.field === undefined ? "array" : "field",
    segments: list.segments,
    // Beside our own mark a field of its name needs another spelling; as a path it means the same.
    ...(list.field === undefined ? {} : { field: list.field === MARK ? `["${MARK}"]` : list.field }),
    ...outerFields(list, listBytes, pageSizeBytes),
    totalItems,
    starts: [],
  };
  return { ...index, starts: startsOf(itemBytes, pageSizeBytes - emptyPageBytes(list.outer, index)) };
}

/** `room`: bytes for the items of a page and the commas between them. */
function startsOf(itemBytes: readonly number[], room: number): number[] {
  const starts = [0];
  let used = 0;
  for (const [at, bytes] of itemBytes.entries()) {
    const isFirst = at === starts.at(-1);
    const needed = isFirst ? bytes : used + 1 + bytes;
    if (!isFirst && needed > room) {
      starts.push(at);
      used = bytes;
    } else {
      used = needed;
    }
  }
  return starts;
}

function outerFields(
  { outer, segments }: ListChoice,
  listBytes: number,
  pageSizeBytes: number,
): Pick<PageIndex, "kept" | "omitted" | "omittedCount"> {
  const fields = Object.keys(outer ?? {})
    .filter((key) => key !== segments[0])
    .map((key) => ({ key, bytes: memberBytes(key, outer?.[key]) + 1 }));
  const sum = fields.reduce((total, { bytes }) => total + bytes, 0);
  const room = listBytes + sum + PAGINATION_BYTES <= pageSizeBytes ? sum : OUTER_SHARE * pageSizeBytes;
  const kept: string[] = [];
  const omitted: OmittedField[] = [];
  let omittedCount = 0;
  let used = 0;
  for (const { key, bytes } of fields) {
    if (key !== MARK && used + bytes <= room) {
      kept.push(key);
      used += bytes;
      continue;
    }
    omittedCount++;
    if (omitted.length < NAMED_OMISSIONS) omitted.push({ field: shortened(key, LONGEST_NAME), bytes });
  }
  return { kept, omitted, omittedCount };
}

/** More than a pagination without omissions takes, for a field's name of ordinary length. */
const PAGINATION_BYTES = 300;

/** An upper bound for a page without its items: every number as long as it can get. */
function emptyPageBytes(document: unknown, index: PageIndex): number {
  if (index.layout === "array") return 2;
  const most = index.totalItems;
  return jsonBytes(envelope(document, index, [], paginationOf(index, most, most, Math.max(1, most))));
}

function paginationOf(index: PageIndex, start: number, end: number, totalPages: number): Pagination {
  return {
    ...(index.field === undefined ? {} : { field: index.field }),
    start_index: start,
    end_index: end,
    total_items: index.totalItems,
    total_pages: totalPages,
    ...(index.omittedCount === 0
      ? {}
      : { omitted_fields: index.omitted, omitted_field_count: index.omittedCount }),
  };
}

/** Built from entries, so that a key `__proto__` is a key like others. */
function envelope(document: unknown, index: PageIndex, items: unknown[], pagination: Pagination): unknown {
  const outer = isObject(document) ? document : {};
  return Object.fromEntries([
    ...index.kept.map((key) => [key, outer[key]] as const),
    [index.field ?? "", items],
    [MARK, pagination],
  ]);
}

function noList(document: unknown, bytes: number): BrokerError {
  const way = isObject(document)
    ? "ask for some of its fields, name a list by its path, or take a part with a jq filter"
    : "take a part with a jq filter, such as .[0:2000] of a string";
  const what = `The result ${contentsOf(document)}, takes ${bytes} bytes and has no list to turn pages of`;
  return new BrokerError("INVALID_ARGUMENTS", `${what}: ${way}.`);
}
