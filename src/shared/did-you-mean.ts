/** The name that a caller may have meant. */
import { closest, distance } from "fastest-levenshtein";

/** Behind what is wrong with the name; empty if no name is near. */
export function didYouMean(written: string, names: readonly string[]): string {
  const near = nearest(written, names);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

export function nearest(written: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const byBare = new Map(names.map((name) => [bare(name), name]));
  const [wanted, known] = [bare(written.slice(0, 100)), [...byBare.keys()]];
  const within = known.filter(
    (name) => wanted.length > 2 && (name.includes(wanted) || wanted.includes(name)),
  );
  const near = closest(wanted, within.length > 0 ? within : known);
  // Half of its letters may be wrong: two that changed places are two.
  const isNear = within.length > 0 || distance(wanted, near) <= Math.max(1, Math.floor(near.length / 2));
  return isNear ? byBare.get(near) : undefined;
}

/** Without what spellings differ in: MenuItemPath, menuItemPath, menu_item_path and menu-item-path are one name. */
export function bare(name: string): string {
  return name.replaceAll(/[-_ ]/g, "").toLowerCase();
}
