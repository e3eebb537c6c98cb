/** How deep a value nests, without recursion: a value from the wire may nest deeper than any stack. */

/** Nesting of arrays and objects; 0 for any other value. Stops at `most`. */
export function depthOf(value: unknown, most: number): number {
  let level = [value].filter(isNested);
  let depth = 0;
  while (level.length > 0 && depth < most) {
    depth += 1;
    level = level.flatMap((nested) => Object.values(nested).filter(isNested));
  }
  return depth;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
