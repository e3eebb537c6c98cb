/**
 * Some tests have a short form, which `npm test` plays, and a long one: more stages, more seeds, more bytes.
 * `LONG_FORM=1 npm test -- <file>` plays the long form of one file, `npm run proofs` that of all.
 */
export const isLongForm = process.env.LONG_FORM === "1";

/** The rows of a table to play: all in the long form, else those of these names, which differ most from each other. */
export function played<Row>(
  rows: Readonly<Record<string, Row>>,
  telling: readonly string[],
): [name: string, row: Row][] {
  const unknown = telling.filter((name) => !Object.hasOwn(rows, name));
  if (unknown.length > 0) throw new Error(`no such row: ${unknown.join(", ")}`);
  return Object.entries(rows).filter(([name]) => isLongForm || telling.includes(name));
}
