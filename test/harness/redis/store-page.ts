/** The table of docs/reference/store.md. */
import { readFileSync } from "node:fs";

export interface DocumentedKey {
  /** As it is written: `{ujb}:chain:<hash>`. */
  key: string;
  types: string[];
  lives: string;
  removedBy: string;
}

/** The key with `<>` for each part of its own. */
export const shapeOf = (key: string): string => key.replaceAll(/<[^>]*>/g, "<>");

/** The rows that begin with a key: `` | `{ujb}:…` | type | lives | removed by | ``. */
export function keysOfPage(): DocumentedKey[] {
  const page = readFileSync(new URL("../../../docs/reference/store.md", import.meta.url), "utf8");
  return [...page.matchAll(/^\| `(\{ujb\}:[^`]+)` \|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)].map(
    ([, key = "", types = "", lives = "", removedBy = ""]) => ({
      key,
      types: types.split(",").map((type) => type.trim()),
      lives: lives.trim(),
      removedBy: removedBy.trim(),
    }),
  );
}
