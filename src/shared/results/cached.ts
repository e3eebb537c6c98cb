/** The answer in place of a result that is too large for the caller's context. */
import { estimatedTokens, type Preview } from "./preview.js";

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

export function isTooLarge(bytes: number, maxTokens: number): boolean {
  return estimatedTokens(bytes) > maxTokens;
}

function hintFor(preview: Preview | undefined): string {
  const list = preview?.list;
  const items = list === undefined ? ".[]" : `.${list}[]`;
  const field = Object.keys(preview?.item_fields ?? {})[0] ?? "name";
  return `Read it with fetch_cached_response and this log_id: page reads its pages, jq (such as "${items}.${field}") or fields, limit and offset a part. Nothing is executed again.`;
}

/**
 * Bounds a JSON text in its UTF-8 bytes before it is parsed. A parsed value takes many times the space and time of the two
 * bytes it can be written in, so the text's length alone bounds neither.
 */

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, OPEN_OBJECT, COMMA, COLON] = [0x5b, 0x7b, 0x2c, 0x3a];
const [CLOSE_LIST, CLOSE_OBJECT] = [0x5d, 0x7d];

/** Most strings end within this many bytes; a native search for their end pays off only for longer ones. */
const SHORT = 64;

/**
 * What the text has too much of; undefined: neither. `values`: more than `mostValues` opening brackets, commas and colons outside of
 * strings; each value but the first has one of them before it. `levels`: it nests deeper than `mostLevels`. Stops reading there.
 * Also accepts text that is not JSON.
 */
export function excessOf(
  text: Uint8Array,
  mostValues: number,
  mostLevels = Number.POSITIVE_INFINITY,
): "values" | "levels" | undefined {
  let values = 0;
  let levels = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        levels += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        levels -= 1;
        break;
      case COMMA:
      case COLON:
        values += 1;
    }
    if (values > mostValues) return "values";
    if (levels > mostLevels) return "levels";
  }
  return undefined;
}

/** The end of the string that begins here, or of the text. */
function closingQuote(text: Uint8Array, start: number): number {
  let at = start + 1;
  for (;;) {
    for (const near = Math.min(at + SHORT, text.length); at < near; at += 1) {
      if (text[at] === QUOTE) return at;
      if (text[at] === BACKSLASH) at += 1;
    }
    const quote = text.indexOf(QUOTE, at);
    if (quote === -1) return text.length;
    let first = quote;
    while (first > at && text[first - 1] === BACKSLASH) first -= 1;
    // Backslashes in pairs escape each other; an odd one escapes the quote.
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
}
