/** Cuts long text for people and agents to read. */

/**
 * At most `limit` UTF-16 units of the text, then a mark with the number of units cut; never half a surrogate pair.
 * `length`: the whole length if `text` is only its beginning, which must be at least one unit longer than the limit.
 */
export function shortened(text: string, limit: number, length = text.length): string {
  if (length <= limit) return text;
  const splitsPair = isHigh(text.charCodeAt(limit - 1)) && isLow(text.charCodeAt(limit));
  const end = splitsPair ? limit - 1 : limit;
  return `${text.slice(0, end)}…(+${length - end} characters)`;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
