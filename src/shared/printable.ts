/**
 * What a terminal shows of texts that an Editor or a caller wrote: a terminal obeys control characters (it sets the
 * clipboard, the title, links, clears the screen), so each of them is shown by its code instead. Nothing is taken away:
 * what was written stays visible.
 */
import { StringDecoder } from "node:string_decoder";

/**
 * C0 but tab and line feed, DEL, C1; the marks that turn the direction of text (bidi), and the two separators that some
 * terminals take for line ends.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const coded = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text of any number of lines. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(OBEYED, coded);
}

/** Text that stays in its line. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, (character) => (character === "\n" ? "\\n" : "\\t"));
}

/** JSON of the same value, with the obeyed characters escaped that JSON leaves as they are. */
export function printableJson(value: unknown, indent: number | undefined = 2): string {
  return (JSON.stringify(value, undefined, indent) ?? "").replace(OBEYED, coded);
}

/** The same of JSON text that comes piece by piece. */
export async function* printablePieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  // Between values JSON may have line ends of its own.
  const escaped = (text: string): string =>
    text.replace(OBEYED, (character) => (character === "\r" ? "" : coded(character)));
  for await (const piece of pieces) yield escaped(decoder.write(piece));
  yield escaped(decoder.end());
}

/** Values for a table or a sentence: every text in them stays in its line. What nests deeper than is read is left out. */
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
