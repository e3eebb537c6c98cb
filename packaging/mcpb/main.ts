/** `npm run bundle -- [file]`: builds the .mcpb bundle. */
import { buildBundle } from "./bundle.js";

const [output = "unity-job-broker.mcpb"] = process.argv.slice(2);
await buildBundle(output);
console.log(output);
