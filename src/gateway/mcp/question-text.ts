/**
 * The text that a user sees before agreeing to a call. The author of the arguments may try to show something other than
 * what will run, so nothing is left out silently, and every invisible character is made visible.
 */
import { printableLine, shortened, tail } from "../../shared/printable.js";
import type { Question } from "../call-reader.js";

/** UTF-16 units of arguments that are shown whole; of longer ones the beginning and the end are shown. */
const MOST_SHOWN = 8_000;
const SHOWN_FIRST = 6_000;
const SHOWN_LAST = MOST_SHOWN - SHOWN_FIRST;

/**
 * Characters that take no room or only look like a space: format characters, separators, every space but the ordinary
 * one, fillers and the blank Braille pattern, joiners, variation selectors; and unpaired surrogates.
 */
const UNSEEN =
  /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2800\u3164\u115f\u1160\uffa0\u17b4\u17b5]|(?! )\p{Zs}|\u034f|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/** A run of one character is replaced by its length, which leaves room for the text that it would push out of view. */
const RUN = new RegExp(`( |${UNSEEN.source})\\1{7,}`, "gu");

const coded = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
};

function visible(text: string): string {
  const short = text.replace(RUN, (run, one: string) => {
    const length = run.length / one.length;
    return one === " " ? ` …(${length} blanks)… ` : ` …(${length} times ${coded(one)})… `;
  });
  return printableLine(short.replace(UNSEEN, coded));
}

/** The question to ask before a call is executed. */
export function questionText({ tool, editor, arguments: args }: Question): string {
  const shown = visible(args);
  const run = `Run ${visible(tool)} in the Unity Editor ${visible(editor)}? It may change or delete something there.`;
  if (shown.length <= MOST_SHOWN) return `${run}\nArguments: ${shown}`;
  const first = shortened(shown, SHOWN_FIRST, shown.length - SHOWN_LAST);
  const hidden = shown.length - MOST_SHOWN;
  const warning = `NOT SHOWN: ${hidden} of ${shown.length} characters of the arguments. Say yes only if you know them.`;
  return `${warning}\n${run}\nArguments: ${first}… ${tail(shown, SHOWN_LAST)}`;
}
