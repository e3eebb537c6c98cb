/** How this command line was called, for hints that can be copied. */
import { sep } from "node:path";

/** In a checkout and from npx `node <path>/dist/cli/main.js`, usable from every folder; installed `unity-broker`. */
export function selfCommand(): string {
  const script = process.argv[1] ?? "";
  const folders = script.split(sep);
  const isInstalled = folders.includes("node_modules") && !folders.includes("_npx");
  if (isInstalled || !script.endsWith("main.js")) return "unity-broker";
  return /^[\w@%+=:,./\\~-]+$/.test(script) ? `node ${script}` : `node "${script}"`;
}
