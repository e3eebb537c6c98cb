/** How many columns a text has on a terminal, and what of it fits into some. */
import stringWidth from "string-width";

/** A colour, which has no column of its own, or the text up to the next. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const PARTS = /\u001b\[[\d;]*m|[^\u001b]+/g;
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** At most `width` columns of one line, with `…` where something is left out. All its colours stay. */
export function cut(line: string, width: number): string {
  if (stringWidth(line) <= width) return line;
  let left = width - 1;
  let shown = "";
  for (const [part] of line.matchAll(PARTS)) {
    if (part.startsWith("\u001b")) shown += part;
    else if (left >= 0)
      for (const { segment } of characters.segment(part)) {
        left -= stringWidth(segment);
        if (left < 0) {
          shown += "…";
          break;
        }
        shown += segment;
      }
  }
  return shown;
}

/** At spaces, to at most `width` columns where no word is longer. */
export function wrap(text: string, width = 80): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, width))
    .join("\n");
}

function wrapLine(text: string, width: number): string {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ")) {
    const longer: string = line === undefined ? word : `${line} ${word}`;
    if (line !== undefined && stringWidth(longer) > width) {
      lines.push(line.trimEnd());
      line = word;
    } else line = longer;
  }
  return [...lines, line ?? ""].join("\n").trimEnd();
}
