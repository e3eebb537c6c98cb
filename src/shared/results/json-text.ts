/**
 * Reads JSON text in place: where values begin and end in its UTF-8 bytes. A document is never parsed as a whole, so its
 * size costs time but no memory, and a part of it is cut out exactly as written, to the last digit.
 *
 * Places are found, not validated. Text that is not JSON throws MalformedJson if its strings or brackets do not end, at
 * the latest when a value is taken out of it. Nothing here recurses, so deep nesting cannot exhaust the stack.
 */

/** A value in a text: its bytes from `start` up to `end`. */
export interface Place {
  start: number;
  end: number;
}

export type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

export class MalformedJson extends Error {
  override readonly name = "MalformedJson";

  constructor(at: number) {
    super(`invalid JSON at byte ${at}`);
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Stops a visit. */
export const ENOUGH = -1;

/** The single value of the text. */
export function documentIn(text: Uint8Array): Place {
  const start = skipSpace(text, 0);
  const end = endOf(text, start);
  if (skipSpace(text, end) < text.length) throw new MalformedJson(end);
  return { start, end };
}

export function typeAt(text: Uint8Array, start: number): JsonType {
  switch (text[start]) {
    case OPEN_OBJECT:
      return "object";
    case OPEN_LIST:
      return "array";
    case QUOTE:
      return "string";
    case 0x74:
    case 0x66:
      return "boolean";
    case 0x6e:
      return "null";
    default:
      return "number";
  }
}

/** The end of the value that begins here. */
export function endOf(text: Uint8Array, start: number): number {
  const first = text[start];
  if (first === QUOTE) return endOfString(text, start);
  if (first === OPEN_LIST || first === OPEN_OBJECT) return endOfNested(text, start);
  let at = start;
  while (at < text.length && !isBetween(text[at] as number)) at += 1;
  if (at === start) throw new MalformedJson(start);
  return at;
}

/**
 * Calls `visit` with the start of every item of the array that begins here. `visit` answers the item's end (usually from
 * `endOf`), or ENOUGH. Answers the array's own end, or ENOUGH.
 */
export function eachItem(text: Uint8Array, start: number, visit: (start: number) => number): number {
  let at = skipSpace(text, start + 1);
  if (text[at] === CLOSE_LIST) return at + 1;
  for (;;) {
    const end = visit(at);
    if (end === ENOUGH) return ENOUGH;
    at = skipSpace(text, end);
    if (text[at] === CLOSE_LIST) return at + 1;
    if (text[at] !== COMMA) throw new MalformedJson(at);
    at = skipSpace(text, at + 1);
  }
}

/** The same for the members of an object: `visit` gets the start of the key, which is a string, and of the value. */
export function eachMember(
  text: Uint8Array,
  start: number,
  visit: (keyStart: number, start: number) => number,
): number {
  let at = skipSpace(text, start + 1);
  if (text[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    if (text[at] !== QUOTE) throw new MalformedJson(at);
    const colon = skipSpace(text, endOfString(text, at));
    if (text[colon] !== COLON) throw new MalformedJson(colon);
    const end = visit(at, skipSpace(text, colon + 1));
    if (end === ENOUGH) return ENOUGH;
    at = skipSpace(text, end);
    if (text[at] === CLOSE_OBJECT) return at + 1;
    if (text[at] !== COMMA) throw new MalformedJson(at);
    at = skipSpace(text, at + 1);
  }
}

/** Number of items of an array or members of an object; 0 for everything else. */
export function countAt(text: Uint8Array, start: number): number {
  let count = 0;
  const passed = (at: number): number => {
    count += 1;
    return endOf(text, at);
  };
  if (text[start] === OPEN_LIST) eachItem(text, start, passed);
  if (text[start] === OPEN_OBJECT) eachMember(text, start, (_key, at) => passed(at));
  return count;
}

/** The start of that item; undefined if there is none. */
export function itemAt(text: Uint8Array, start: number, index: number): number | undefined {
  let found: number | undefined;
  let number = 0;
  eachItem(text, start, (at) => {
    if (number++ < index) return endOf(text, at);
    found = at;
    return ENOUGH;
  });
  return found;
}

/** The start of that key's value (the first, if the key repeats); undefined if there is none. */
export function memberAt(text: Uint8Array, start: number, key: string): number | undefined {
  let found: number | undefined;
  eachMember(text, start, (keyStart, at) => {
    if (stringAt(text, keyStart) !== key) return endOf(text, at);
    found = at;
    return ENOUGH;
  });
  return found;
}

/** Parses the value. */
export function valueAt(text: Uint8Array, { start, end }: Place): unknown {
  try {
    return JSON.parse(decode(text, start, end));
  } catch {
    throw new MalformedJson(start);
  }
}

/** The string that begins here. */
export function stringAt(text: Uint8Array, start: number): string {
  const end = endOfString(text, start);
  const isPlain = text.subarray(start, end).indexOf(BACKSLASH) === -1;
  return isPlain ? decode(text, start + 1, end - 1) : (valueAt(text, { start, end }) as string);
}

/** The first `limit` or so UTF-16 units of a string, and its whole length. */
export function beginningAt(
  text: Uint8Array,
  start: number,
  units: number,
): { text: string; length: number } {
  const end = endOfString(text, start);
  let length = 0;
  let cut = end - 1;
  for (let at = start + 1; at < end - 1; ) {
    if (length >= units && cut === end - 1) cut = at;
    const byte = text[at] as number;
    if (byte === BACKSLASH) at += text[at + 1] === 0x75 ? 6 : 2;
    else at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    length += byte >= 0xf0 ? 2 : 1;
  }
  const beginning = Buffer.concat([text.subarray(start, cut), Uint8Array.of(QUOTE)]);
  return { text: valueAt(beginning, { start: 0, end: beginning.length }) as string, length };
}

function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  throw new MalformedJson(start);
}

function endOfNested(text: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at) - 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        if (depth === 0) return at + 1;
    }
  }
  throw new MalformedJson(start);
}

function skipSpace(text: Uint8Array, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** What may follow a number or a word. */
function isBetween(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT || byte === COLON || isSpace(byte);
}

function decode(text: Uint8Array, start: number, end: number): string {
  return Buffer.from(text.buffer, text.byteOffset + start, end - start).toString("utf8");
}
