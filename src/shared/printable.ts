/**
 * Makes text written by an Editor or a caller safe for a terminal. A terminal obeys control characters (they set the
 * clipboard, the title, or links, or clear the screen), so each is replaced by its code. Nothing is removed: the text stays
 * visible as written.
 */
import { StringDecoder } from "node:string_decoder";

// JSON text without half a surrogate pair: the APIs of models refuse a request that contains one anywhere.

/** The JSON text of a value, with U+FFFD for each half of a surrogate pair. */
export function wellFormedJson(value: unknown): string {
  return wellFormed(JSON.stringify(value));
}

/** The same JSON text with U+FFFD, which is as long, for each escape that stands for half a surrogate pair. */
function wellFormed(json: string): string {
  return /\\ud/i.test(json)
    ? json.replace(ESCAPE, (all, before: string, pair?: string) => (pair ? all : `${before}\\ufffd`))
    : json;
}

/** The same for the bytes of whole JSON texts. */
export function wellFormedBytes({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  const utf8 = Buffer.from(buffer, byteOffset, byteLength);
  // Bytes as characters: only ASCII is looked at, and nothing is decoded.
  const text = utf8.toString("latin1");
  const repaired = wellFormed(text);
  return repaired === text ? utf8 : Buffer.from(repaired, "latin1");
}

/** Behind escaped backslashes, the last of which begins no escape. */
const ESCAPE = /(?<!\\)((?:\\\\)*)(?:(\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2})|\\ud[89a-f][\da-f]{2})/gi;

/**
 * C0 except tab and line feed, DEL, C1; the marks that change text direction (bidi); and the two separators that some
 * terminals treat as line ends.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching them is the purpose.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const coded = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text of any number of lines. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(OBEYED, coded);
}

/** Text that stays on its line. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, (character) => (character === "\n" ? "\\n" : "\\t"));
}

/** JSON of the same value, with those control characters escaped that JSON leaves unescaped. */
export function printableJson(value: unknown, indent: number | undefined = 2): string {
  return wellFormed(JSON.stringify(value, undefined, indent) ?? "").replace(OBEYED, coded);
}

/** The same for JSON text that comes in pieces. */
export async function* printablePieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  // Between values JSON may contain line ends.
  const escaped = (text: string): string =>
    text.replace(OBEYED, (character) => (character === "\r" ? "" : coded(character)));
  for await (const piece of pieces) yield escaped(decoder.write(piece));
  yield escaped(decoder.end());
}

/** Values for a table or a sentence: every text in them stays on its line. Deeper nesting is left out. */
export function printableValues<T>(value: T, depth = 8): T {
  if (typeof value === "string") return printableLine(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return undefined as T;
  if (Array.isArray(value)) return value.map((each) => printableValues(each, depth - 1)) as T;
  const entries = Object.entries(value).map(([name, each]) => [
    printableLine(name),
    printableValues(each, depth - 1),
  ]);
  return Object.fromEntries(entries) as T;
}

// Cuts long text for people and agents to read.

/**
 * At most `limit` UTF-16 units of the text, then a mark with the number of units cut; never half a surrogate pair.
 * `length`: the whole length if `text` is only its beginning, which must be at least one unit longer than the limit.
 */
export function shortened(text: string, limit: number, length = text.length): string {
  if (length <= limit) return text;
  const kept = head(text, limit);
  return `${kept}…(+${length - kept.length} characters)`;
}

/** At most `limit` UTF-16 units from the beginning of the text; never half a surrogate pair. */
export function head(text: string, limit: number): string {
  return text.slice(0, splitsPair(text, limit) ? limit - 1 : limit);
}

/** At most `limit` UTF-16 units from the end of the text; never half a surrogate pair. */
export function tail(text: string, limit: number): string {
  const start = Math.max(0, text.length - limit);
  return text.slice(splitsPair(text, start) ? start + 1 : start);
}

function splitsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
