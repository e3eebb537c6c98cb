/** `npm run farm -- [--builds 300] [--seed 7] [--fault-ms 1200] [--calm]`; docs/proofs/farm.md says what is checked. */
import { parseArgs } from "node:util";
import { freshSeed } from "../engine/random.js";
import { runFarm } from "./farm.js";

const { values } = parseArgs({
  options: {
    builds: { type: "string", default: "300" },
    seed: { type: "string" },
    "fault-ms": { type: "string", default: "1200" },
    calm: { type: "boolean", default: false },
  },
});
const seed = values.seed === undefined ? freshSeed() : Number(values.seed);
const startedAt = performance.now();
const { faults, table } = await runFarm({
  seed,
  builds: Number(values.builds),
  faultEveryMs: values.calm ? Number.POSITIVE_INFINITY : Number(values["fault-ms"]),
  say: (line) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)}  ${line}`),
});
console.log(`\n${table}\n\n${Math.round((performance.now() - startedAt) / 1000)} s, seed ${seed}`);
for (const fault of faults) console.error(`FAULT ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);
