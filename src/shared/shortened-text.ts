/** Cuts long text for people and agents to read. */

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
