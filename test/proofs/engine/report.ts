/** Tables, as every proof prints them and as docs/proofs has them. */
export type Cell = string | number;

/** `head` names the columns; a column whose cells are all numbers is aligned to the right. */
export function markdownTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const rules = head.map((_name, column) => {
    const isNumbers = rows.length > 0 && rows.every((row) => typeof row[column] === "number");
    return isNumbers ? "---:" : "---";
  });
  const line = (cells: readonly Cell[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), `|${rules.join("|")}|`, ...rows.map(line)].join("\n");
}

/** How often each name is there, by name. */
export function countsOf(names: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => a.localeCompare(b));
}
