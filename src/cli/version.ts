import { readFileSync } from "node:fs";
import { packageFile } from "../shared/package-file.js";

/** The package's own version. */
export const { version: VERSION } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
  version: string;
};
