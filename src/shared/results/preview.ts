/** What a caller is given in place of a large result: enough for an agent to decide on its next call without reading the result. */
import { shortened } from "../printable.js";
import {
  beginningAt,
  countAt,
  documentIn,
  ENOUGH,
  eachItem,
  eachMember,
  endOf,
  type JsonType,
  type Place,
  typeAt,
  valueAt,
} from "./json-text.js";
import { chooseList } from "./list-choice.js";

// The answer in place of a result that is too large for the caller's context.

/** Estimated tokens. Common clients give up at 25 000. */
export const MAX_RESULT_TOKENS = 20_000;

export interface CachedForm {
  cached: true;
  /** For a stored result: its log_id. */
  cache_id: string;
  size_kb: number;
  /** Estimated from its length. */
  estimated_tokens: number;
  usage_hint: string;
  preview?: Preview;
}

/** `bytes`: size of its JSON. */
export function cachedForm(cacheId: string, bytes: number, preview: Preview | undefined): CachedForm {
  return {
    cached: true,
    cache_id: cacheId,
    size_kb: Math.round(bytes / 102.4) / 10,
    estimated_tokens: estimatedTokens(bytes),
    usage_hint: hintFor(preview),
    ...(preview === undefined ? {} : { preview }),
  };
}

function hintFor(preview: Preview | undefined): string {
  const list = preview?.list;
  const items = list === undefined ? ".[]" : `.${list}[]`;
  const field = Object.keys(preview?.item_fields ?? {})[0] ?? "name";
  return `Read it with fetch_cached_response and this log_id: page reads its pages, jq (such as "${items}.${field}") or fields, limit and offset a part. Nothing is executed again.`;
}

// Values reduced to their shape, from which people and agents decide whether to ask for more.

/** `array[400]`, `object{3}`, or the type. */
function shapeAt(text: Uint8Array, start: number): string {
  const type = typeAt(text, start);
  if (type === "array") return `array[${countAt(text, start)}]`;
  return type === "object" ? `object{${countAt(text, start)}}` : type;
}

/** The same, with the size of values that can be large: `string 12 B`. */
function sizedShapeAt(text: Uint8Array, { start, end }: Place): string {
  const isScalar = ["number", "boolean", "null"].includes(typeAt(text, start));
  return isScalar ? shapeAt(text, start) : `${shapeAt(text, start)} ${end - start} B`;
}

export interface ShorteningLimits {
  /** Of a string, and of a key. */
  characters: number;
  /** Of an array or object. */
  entries: number;
  /** Nesting levels shown; deeper values are reduced to their shape. */
  levels: number;
}

/** The value with long strings cut, long arrays and objects cut with a last entry `…`, and deep parts as their shape. */
function shortenedAt(text: Uint8Array, start: number, limits: ShorteningLimits): unknown {
  const type = typeAt(text, start);
  if (type === "string") return shortenedStringAt(text, start, limits.characters);
  if (type !== "array" && type !== "object") return valueAt(text, { start, end: endOf(text, start) });
  if (limits.levels < 1) return shapeAt(text, start);
  const inner = { ...limits, levels: limits.levels - 1 };
  const more = (shown: number): number => Math.max(0, countAt(text, start) - shown);
  if (type === "array") {
    const items: unknown[] = [];
    const isWhole = eachItem(text, start, (at) => {
      if (items.length === limits.entries) return ENOUGH;
      items.push(shortenedAt(text, at, inner));
      return endOf(text, at);
    });
    return isWhole === ENOUGH ? [...items, `…(+${more(limits.entries)} items)`] : items;
  }
  const entries: [string, unknown][] = [];
  const isWhole = eachMember(text, start, (key, at) => {
    if (entries.length === limits.entries) return ENOUGH;
    entries.push([shortenedStringAt(text, key, limits.characters), shortenedAt(text, at, inner)]);
    return endOf(text, at);
  });
  if (isWhole === ENOUGH) entries.push(["…", `+${more(limits.entries)} keys`]);
  return Object.fromEntries(entries);
}

/** Reads only the beginning of a long string. */
function shortenedStringAt(text: Uint8Array, start: number, characters: number): string {
  const beginning = beginningAt(text, start, characters + 2);
  return shortened(beginning.text, characters, beginning.length);
}

export interface Preview {
  type: JsonType;
  /** As written, UTF-8. */
  bytes: number;
  /** From the bytes, so too high for text beyond ASCII. */
  estimated_tokens: number;
  /** Of an array: items; of a string: UTF-16 units. */
  length?: number;
  /** Of an object: key → shape, such as `array[400] 2048000 B`, `object{3} 120 B`, `string 12 B`, `number`. */
  keys?: Record<string, string>;
  /** Keys that `keys` leaves out. */
  more_keys?: number;
  /** The array that pages consist of, unless it is the document. */
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
/** Most fields counted per item. */
const MOST_FIELDS = 1000;
const LONGEST_KEY = 60;
const SCANNED_ITEMS = 20;
/** Each takes up to six bytes in JSON (`\u0000`). */
const VALUE_CHARACTERS = 200;

/** From rich to poor; the first that fits is used. */
const SAMPLES = [
  { items: 2, characters: 80, entries: 12, levels: 3 },
  { items: 1, characters: 80, entries: 12, levels: 3 },
  { items: 1, characters: 40, entries: 8, levels: 2 },
  { items: 1, characters: 20, entries: 4, levels: 1 },
];

/** At most 2000 bytes of JSON for any document. Reads the document several times: build it once. */
export function previewOf(text: Uint8Array): Preview {
  const document = documentIn(text);
  const type = typeAt(text, document.start);
  const bytes = document.end - document.start;
  const preview: Preview = { type, bytes, estimated_tokens: estimatedTokens(bytes) };
  if (type === "string") {
    const { text: beginning, length } = beginningAt(text, document.start, VALUE_CHARACTERS + 2);
    return { ...preview, length, value: shortened(beginning, VALUE_CHARACTERS, length) };
  }
  if (type !== "array" && type !== "object") return { ...preview, value: valueAt(text, document) };
  if (type === "array") preview.length = countAt(text, document.start);
  else addKeys(preview, text, document);
  const choice = chooseList(text);
  if (choice === undefined) return preview;
  if (choice.field !== undefined) preview.list = shortened(choice.field, LONGEST_KEY);
  addItems(preview, text, choice.list);
  return preview;
}

function addKeys(preview: Preview, text: Uint8Array, document: Place): void {
  const shapes: [string, string][] = [];
  let count = 0;
  eachMember(text, document.start, (key, start) => {
    const end = endOf(text, start);
    count += 1;
    if (shapes.length < MOST_KEYS)
      shapes.push([shortenedStringAt(text, key, LONGEST_KEY), sizedShapeAt(text, { start, end })]);
    return end;
  });
  preview.keys = firstThatFit(shapes, KEYS_BYTES - written(preview));
  const more = count - Object.keys(preview.keys).length;
  if (more > 0) preview.more_keys = more;
}

function addItems(preview: Preview, text: Uint8Array, list: Place): void {
  const firsts: number[] = [];
  eachItem(text, list.start, (start) => {
    if (firsts.length === SCANNED_ITEMS) return ENOUGH;
    firsts.push(start);
    return endOf(text, start);
  });
  const types = new Map<string, Set<string>>();
  for (const start of firsts.filter((at) => typeAt(text, at) === "object")) {
    eachMember(text, start, (keyStart, at) => {
      const key = shortenedStringAt(text, keyStart, LONGEST_KEY);
      if (types.has(key) || types.size < MOST_FIELDS)
        types.set(key, (types.get(key) ?? new Set()).add(typeAt(text, at)));
      return endOf(text, at);
    });
  }
  if (types.size > 0) {
    const fields = [...types].slice(0, MOST_KEYS).map(([key, of]) => [key, [...of].join("|")] as const);
    preview.item_fields = firstThatFit(fields, FIELDS_BYTES - written(preview));
    const more = types.size - Object.keys(preview.item_fields).length;
    if (more > 0) preview.more_item_fields = more;
  }
  for (const limits of SAMPLES) {
    const sample = firsts.slice(0, limits.items).map((start) => shortenedAt(text, start, limits));
    if (written({ ...preview, sample }) > MOST_BYTES) continue;
    preview.sample = sample;
    return;
  }
}

/** The first entries that together take at most `room` bytes; keys that are equal when shortened count as one. */
function firstThatFit(entries: readonly (readonly [string, string])[], room: number): Record<string, string> {
  let used = 0;
  const fitting = entries.filter(([key, text]) => {
    used += written(key) + written(text) + 2;
    return used <= room;
  });
  return Object.fromEntries(fitting);
}

const written = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

// Estimates how many tokens JSON text takes.

/** Scene JSON (short names, many numbers and quotes) takes about three characters a token; four is a quarter too low. */
export const CHARACTERS_PER_TOKEN = 3;

/** An estimate, within a few percent for scene JSON: takes the text, or its length in characters. */
export function estimatedTokens(json: string | number): number {
  return Math.ceil((typeof json === "number" ? json : json.length) / CHARACTERS_PER_TOKEN);
}

// A partial result in an answer: whole if it is small, else what it looks like, and how to read more of it.

/** Most characters of one that an answer has whole. */
const WHOLE = 2_000;

export interface PartialForm {
  partial_result?: unknown;
  partial_preview?: Preview;
  partial_hint?: string;
}

export function partialForm(partial: unknown): PartialForm {
  const text = JSON.stringify(partial);
  if (text.length <= WHOLE) return { partial_result: partial };
  return {
    partial_preview: previewOf(Buffer.from(text)),
    partial_hint:
      "What there is so far is read with fetch_cached_response and this log_id, by page, jq or fields.",
  };
}
