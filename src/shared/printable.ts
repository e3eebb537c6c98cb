/**
 * Makes text written by an Editor or a caller safe for a terminal. A terminal obeys control characters (they set the
 * clipboard, the title, or links, or clear the screen), so each is replaced by its code. Nothing is removed: the text stays
 * visible as written.
 */
import { StringDecoder } from "node:string_decoder";
import { wellFormed } from "./well-formed-json.js";

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
