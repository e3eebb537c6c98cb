/** `npm run recording`: renews docs/guide/demo.svg from a run of the demo. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { draw } from "./draw.js";
import { record } from "./record.js";

const file = fileURLToPath(new URL("../../docs/guide/demo.svg", import.meta.url));
const drawn = draw(await record(["demo"], process.env));
writeFileSync(file, drawn);
console.log(`${file}: ${drawn.length} bytes`);
