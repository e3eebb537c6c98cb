/** A plain table for people: no borders, columns two spaces apart. */
import Table from "cli-table3";

const BORDERLESS = Object.fromEntries(
  [
    "top",
    "top-mid",
    "top-left",
    "top-right",
    "bottom",
    "bottom-mid",
    "bottom-left",
    "bottom-right",
    "left",
    "left-mid",
    "mid",
    "mid-mid",
    "right",
    "right-mid",
  ].map((place) => [place, ""]),
);

/** Rows as text, without a final newline; cells may contain colours. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const drawn = new Table({
    chars: { ...BORDERLESS, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  drawn.push(...(head.length > 0 ? [[...head]] : []), ...rows.map((row) => [...row]));
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
