/**
 * Pages of a large result: whole items only, cut by their real sizes.
 *
 * Finding the boundaries reads the whole text once or twice; a page of a known index is a slice of it.
 */

import { BrokerError } from "../errors.js";
import { shortened } from "../printable.js";
import { contentsAt } from "./document-path.js";
import { documentIn, eachItem, eachMember, endOf, type Place, stringAt, typeAt } from "./json-text.js";
import { chooseList, type ListChoice } from "./list-choice.js";

/** A page's description of itself. */
export interface Pagination {
  /** Key or path of the paged array; undefined when the document is the array, or is shown whole. */
  field?: string;
  start_index: number;
  /** Exclusive. */
  end_index: number;
  total_items: number;
  /** At least 1: an empty array has one empty page. */
  total_pages: number;
  /** Other fields of the document, too large to be on every page; at most ten are listed. */
  omitted_fields?: OmittedField[];
  omitted_field_count?: number;
}

export interface OmittedField {
  field: string;
  bytes: number;
}

/**
 * An array of items if the document is an array; else an object with the items under `pagination.field` and the pagination
 * again as `_pagination`; or the whole document.
 */
export interface Page {
  /** From 1, as asked for. */
  page: number;
  /** JSON in UTF-8. */
  json: Uint8Array;
  pagination: Pagination;
}

/** The boundaries of all pages of one document. */
export interface PageIndex {
  /** `whole`: the document is its only page. */
  layout: "array" | "field" | "whole";
  field?: string;
  /** Members of the document that are on every page. */
  kept: Place[];
  omitted: OmittedField[];
  omittedCount: number;
  totalItems: number;
  /** The items of each page: the number of the first, and where they are in the text. */
  pages: ({ first: number } & Place)[];
}

export interface PageRequest {
  /** From 1. */
  page: number;
  /** UTF-8 bytes of a page as JSON; only a page of one item may be longer. */
  pageSizeBytes: number;
  /** Names an array (document-path.ts); without it list-choice.ts chooses. */
  path?: string | undefined;
}

/** Fields beside the paged array are on every page up to this share of it; all of them if the document is one page. */
const OUTER_SHARE = 0.25;
const NAMED_OMISSIONS = 10;
const LONGEST_NAME = 60;
const MARK = "_pagination";

/** Finds the boundaries. Throws INVALID_ARGUMENTS: a size that is no whole number, a path without an array, no array. */
export function pageIndexOf(text: Uint8Array, path: string | undefined, pageSizeBytes: number): PageIndex {
  if (!Number.isInteger(pageSizeBytes) || pageSizeBytes < 1) {
    throw new BrokerError("INVALID_ARGUMENTS", "The page size must be a whole number of bytes, at least 1.");
  }
  const document = documentIn(text);
  const choice = chooseList(text, path);
  const isNamedOrOutermost =
    choice !== undefined && (path !== undefined || choice.outer !== undefined || choice.field === undefined);
  if (!isNamedOrOutermost) {
    // A document that fits is shown whole, even if an array further down would be chosen.
    if (document.end - document.start <= pageSizeBytes)
      return { ...WHOLE, pages: [{ first: 0, ...document }] };
    if (choice === undefined) throw noList(text, document);
  }
  return indexOf(text, choice, pageSizeBytes);
}

/** Cuts one page; `index` must come from this very text. A page beyond the last is empty, with the true totals. */
export function pageAt(text: Uint8Array, index: PageIndex, page: number): Page {
  if (!Number.isInteger(page)) {
    throw new BrokerError("INVALID_ARGUMENTS", "The page must be a whole number, at least 1.");
  }
  const { pages, totalItems } = index;
  const found = pages[page - 1];
  const before = page < 1 ? 0 : totalItems;
  const first = found?.first ?? before;
  const pagination = paginationOf(index, first, found ? (pages[page]?.first ?? totalItems) : before);
  const items = found ? text.subarray(found.start, found.end) : NOTHING;
  if (index.layout === "whole") return { page, json: found ? Buffer.from(items) : bytes("null"), pagination };
  const list = [bytes("["), items, bytes("]")];
  if (index.layout === "array") return { page, json: Buffer.concat(list), pagination };
  return { page, json: envelope(text, index, list, pagination), pagination };
}

const bytes = (text: string): Buffer => Buffer.from(text, "utf8");
const NOTHING = bytes("");

const WHOLE: Omit<PageIndex, "pages"> = {
  layout: "whole",
  kept: [],
  omitted: [],
  omittedCount: 0,
  totalItems: 1,
};

function indexOf(text: Uint8Array, choice: ListChoice, pageSizeBytes: number): PageIndex {
  const { list, field } = choice;
  const index: PageIndex = {
    layout: field === undefined ? "array" : "field",
    // A field with the name of our own mark is written as a path, which means the same.
    ...(field === undefined ? {} : { field: field === MARK ? `["${MARK}"]` : field }),
    ...outerFields(text, choice, pageSizeBytes),
    // An upper bound until they are counted: an item and its comma take at least two bytes.
    totalItems: Math.ceil((list.end - list.start) / 2),
    pages: [],
  };
  return { ...index, ...pagesOf(text, list, pageSizeBytes - emptyPageBytes(text, index)) };
}

/** `room`: bytes for a page's items and their separators. */
function pagesOf(text: Uint8Array, list: Place, room: number): Pick<PageIndex, "pages" | "totalItems"> {
  const pages: PageIndex["pages"] = [];
  let totalItems = 0;
  eachItem(text, list.start, (start) => {
    const end = endOf(text, start);
    const last = pages.at(-1);
    if (last === undefined || end - last.start > room) pages.push({ first: totalItems, start, end });
    else last.end = end;
    totalItems += 1;
    return end;
  });
  return {
    pages: pages.length === 0 ? [{ first: 0, start: list.start, end: list.start }] : pages,
    totalItems,
  };
}

function outerFields(
  text: Uint8Array,
  { list, outer }: ListChoice,
  pageSizeBytes: number,
): Pick<PageIndex, "kept" | "omitted" | "omittedCount"> {
  const found = { kept: [] as Place[], omitted: [] as OmittedField[], omittedCount: 0 };
  if (outer === undefined) return found;
  const isOnePage = outer.end - outer.start + PAGINATION_BYTES <= pageSizeBytes;
  const room = isOnePage ? pageSizeBytes : OUTER_SHARE * pageSizeBytes;
  let used = 0;
  eachMember(text, outer.start, (keyStart, start) => {
    const end = endOf(text, start);
    if (start === list.start) return end;
    const key = stringAt(text, keyStart);
    const size = end - keyStart + 1;
    if (key !== MARK && used + size <= room) {
      found.kept.push({ start: keyStart, end });
      used += size;
      return end;
    }
    found.omittedCount += 1;
    if (found.omitted.length < NAMED_OMISSIONS)
      found.omitted.push({ field: shortened(key, LONGEST_NAME), bytes: size });
    return end;
  });
  return found;
}

/** More than a pagination without omissions takes, for a field's name of ordinary length. */
const PAGINATION_BYTES = 300;

/** An upper bound for a page without its items: every number at its longest. */
function emptyPageBytes(text: Uint8Array, index: PageIndex): number {
  if (index.layout === "array") return 2;
  const most = index.totalItems;
  const pagination = { ...paginationOf(index, most, most), total_pages: most };
  return envelope(text, index, [bytes("[]")], pagination).length;
}

function paginationOf(index: PageIndex, start: number, end: number): Pagination {
  return {
    ...(index.field === undefined ? {} : { field: index.field }),
    start_index: start,
    end_index: end,
    total_items: index.totalItems,
    total_pages: index.pages.length,
    ...(index.omittedCount === 0
      ? {}
      : { omitted_fields: index.omitted, omitted_field_count: index.omittedCount }),
  };
}

function envelope(
  text: Uint8Array,
  index: PageIndex,
  list: readonly Uint8Array[],
  pagination: Pagination,
): Buffer {
  const kept = index.kept.flatMap(({ start, end }) => [text.subarray(start, end), bytes(",")]);
  const field = bytes(`${JSON.stringify(index.field ?? "")}:`);
  const mark = bytes(`,"${MARK}":${JSON.stringify(pagination)}}`);
  return Buffer.concat([bytes("{"), ...kept, field, ...list, mark]);
}

function noList(text: Uint8Array, { start, end }: Place): BrokerError {
  const way =
    typeAt(text, start) === "object"
      ? "ask for some of its fields, name a list by its path, or take a part with a jq filter"
      : "take a part with a jq filter, such as .[0:2000] of a string";
  const what = `The result ${contentsAt(text, start)}, takes ${end - start} bytes and has no list to page through`;
  return new BrokerError("INVALID_ARGUMENTS", `${what}: ${way}.`);
}
