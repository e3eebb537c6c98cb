/** How deep a value nests, without recursion: what came over a wire may nest deeper than any stack. */

/** Of arrays and objects inside each other; a value that is neither has 0. Looks no deeper than `most`. */
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
