/** How this command line was called, for hints that can be copied as they are. */
import { sep } from "node:path";

/** In a checkout `node <path>/dist/cli/main.js`, usable from every folder; installed `unity-broker`, which npx puts on no PATH. */
export function selfCommand(): string {
  const script = process.argv[1] ?? "";
  if (script.split(sep).includes("_npx")) return "npx unity-job-broker";
  const isCheckout = script.endsWith("main.js") && !script.split(sep).includes("node_modules");
  if (!isCheckout) return "unity-broker";
  return /^[\w@%+=:,./\\~-]+$/.test(script) ? `node ${script}` : `node "${script}"`;
}
