/** What is in a large result: enough for an agent to decide on its next call without reading the result. */
import { isObject } from "./document-path.js";
import { jsonBytes, memberBytes } from "./json-bytes.js";
import { chooseList } from "./list-choice.js";
import { shapeOf, shortenedValue, typeOf } from "./shape.js";
import { shortened } from "./shortened-text.js";
import { estimatedTokens } from "./token-estimate.js";

export interface Preview {
  type: string;
  /** As compact JSON, UTF-8. */
  bytes: number;
  /** Of the bytes, so too high for text beyond ASCII. */
  estimated_tokens: number;
  /** Of an array: items; of a string: UTF-16 units. */
  length?: number;
  /** Of an object: key → shape, such as `array[400] 2048000 B`, `object{3} 120 B`, `string 12 B`, `number`. */
  keys?: Record<string, string>;
  /** Keys that `keys` leaves out. */
  more_keys?: number;
  /** The array that pages are made of, when it is not the document. */
  list?: string;
  /** Fields of that array's first items: key → types, such as `string` or `number|null`. */
  item_fields?: Record<string, string>;
  more_item_fields?: number;
  /** The first one or two items, shortened. */
  sample?: unknown[];
  /** Of a scalar: the value, a string shortened. */
  value?: unknown;
}

/** UTF-8 bytes of the whole preview as JSON; keys and item fields leave room for the sample. */
const MOST_BYTES = 2000;
const KEYS_BYTES = 1000;
const FIELDS_BYTES = 1500;
const MOST_KEYS = 30;
const LONGEST_KEY = 60;
const SCANNED_ITEMS = 20;
/** Each takes up to six bytes in JSON (`\u0000`). */
const VALUE_CHARACTERS = 200;

/** From rich to poor; the first that fits is shown. */
const SAMPLES = [
  { items: 2, characters: 80, entries: 12, levels: 3 },
  { items: 1, characters: 80, entries: 12, levels: 3 },
  { items: 1, characters: 40, entries: 8, levels: 2 },
  { items: 1, characters: 20, entries: 4, levels: 1 },
];

/** At most 2000 bytes of JSON for any document. Measures all of it, once or twice: make it when the result is stored. */
export function previewOf(document: unknown): Preview {
  const members = isObject(document) ? Object.entries(document).map(measured) : undefined;
  const bytes = members === undefined ? jsonBytes(document) : objectBytes(members);
  const preview: Preview = { type: typeOf(document), bytes, estimated_tokens: estimatedTokens(bytes) };
  if (typeof document === "string") {
    return { ...preview, length: document.length, value: shortened(document, VALUE_CHARACTERS) };
  }
  if (typeof document !== "object" || document === null) return { ...preview, value: document };
  if (Array.isArray(document)) preview.length = document.length;
  if (members !== undefined) addKeys(preview, members);
  const list = chooseList(document);
  if (list === undefined) return preview;
  if (list.field !== undefined) preview.list = shortened(list.field, LONGEST_KEY);
  addItems(preview, list.items);
  return preview;
}

interface Member {
  key: string;
  value: unknown;
  valueBytes: number;
}

function measured([key, value]: [string, unknown]): Member {
  return { key, value, valueBytes: jsonBytes(value) };
}

/** Braces, and for each member its key, colon and comma; the last has no comma. */
function objectBytes(members: readonly Member[]): number {
  const inside = members.reduce((sum, { key, valueBytes }) => sum + jsonBytes(key) + valueBytes + 2, 0);
  return 2 + Math.max(0, inside - 1);
}

function addKeys(preview: Preview, members: readonly Member[]): void {
  const shapes = members
    .slice(0, MOST_KEYS)
    .map(({ key, value, valueBytes }) => [key, shapeOf(value, valueBytes)] as const);
  preview.keys = firstThatFit(shapes, KEYS_BYTES - jsonBytes(preview));
  const more = members.length - Object.keys(preview.keys).length;
  if (more > 0) preview.more_keys = more;
}

function addItems(preview: Preview, items: readonly unknown[]): void {
  const types = new Map<string, Set<string>>();
  for (const item of items.slice(0, SCANNED_ITEMS)) {
    for (const [key, value] of isObject(item) ? Object.entries(item) : []) {
      types.set(key, (types.get(key) ?? new Set()).add(typeOf(value)));
    }
  }
  if (types.size > 0) {
    const fields = [...types].slice(0, MOST_KEYS).map(([key, of]) => [key, [...of].join("|")] as const);
    preview.item_fields = firstThatFit(fields, FIELDS_BYTES - jsonBytes(preview));
    const more = types.size - Object.keys(preview.item_fields).length;
    if (more > 0) preview.more_item_fields = more;
  }
  for (const limits of SAMPLES) {
    const sample = items.slice(0, limits.items).map((item) => shortenedValue(item, limits));
    if (jsonBytes({ ...preview, sample }) > MOST_BYTES) continue;
    preview.sample = sample;
    return;
  }
}

/** The first entries that take no more than `room` bytes together; keys that are alike when shortened count as one. */
function firstThatFit(entries: readonly (readonly [string, string])[], room: number): Record<string, string> {
  let used = 0;
  const fitting = entries
    .map(([key, text]) => [shortened(key, LONGEST_KEY), text] as const)
    .filter(([key, text]) => {
      used += memberBytes(key, text) + 1;
      return used <= room;
    });
  return Object.fromEntries(fitting);
}
