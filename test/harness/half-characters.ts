/** Half a surrogate pair in what a client is told ends its session at the API of its model. */

/** What a program has that cut an emoji in two: the second half of one, the first of another. */
export const HALVES = "\ude00 two halves \ud83d";

/** One emoji behind the other, and the same one place further on: a cut anywhere is within a character of one of them. */
export const LONG_TEXTS = ["😀".repeat(2_100), `x${"😀".repeat(2_100)}`] as const;

/** Where half a pair is in a value, in its keys, or in JSON that it holds as text. */
export function halvesIn(value: unknown, place = ""): string[] {
  if (typeof value === "string") {
    const here = value.isWellFormed() ? [] : [place];
    return [...here, ...halvesIn(jsonIn(value), `${place} (its JSON)`)];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => [
    ...(key.isWellFormed() ? [] : [`${place}: a key`]),
    ...halvesIn(one, `${place}/${key.slice(0, 40)}`),
  ]);
}

function jsonIn(text: string): unknown {
  if (!/^\s*[{["]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
