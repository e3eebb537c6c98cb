import { readFileSync } from "node:fs";

/** The package's own version. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };
