/** `tsx packaging/registry/main.ts <bundle> <url>`: prints the entry that the release workflow publishes. */
import { readFileSync } from "node:fs";
import { withBundle } from "./with-bundle.js";

const [bundle, url] = process.argv.slice(2);
if (bundle === undefined || url === undefined) throw new Error("usage: main.ts <bundle> <url of the bundle>");
console.log(JSON.stringify(withBundle(readFileSync(bundle), url), undefined, 2));
