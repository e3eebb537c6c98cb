/** Where the files of this package are, whether its code runs from its sources, as it was compiled, or from one bundle. */
import { fileURLToPath } from "node:url";

const [, root = "", code = ""] = /^(.*\/)(src|dist)\//.exec(import.meta.url) ?? [];

/** The folder of the code that runs: `src` or `dist`. */
export const CODE = code;

/** By its path from the package's folder. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(path, root));
}
