/**
 * The failover time of an installation, measured.
 *
 * `npm run failover -- [--times 20] [--lease 5000]`
 * Exit code 0: in the median the call that comes right after the kill is answered within 2 s; 1: it is later.
 */
import { parseArgs } from "node:util";
import { loadNow } from "../bench/measure/machine.js";
import { quantile } from "../bench/measure/statistics.js";
import { type Failover, playFailovers } from "./failovers.js";

const { values } = parseArgs({
  options: { times: { type: "string", default: "20" }, lease: { type: "string", default: "5000" } },
});
const leaseMs = Number(values.lease);
const times = Number(values.times);
const seconds = (ms: number): string => (ms / 1000).toFixed(2).padStart(6);
const LIMIT_MS = 2_000;
const ROWS: [name: string, field: keyof Failover][] = [
  ["first frame", "frameMs"],
  ["outcome reported", "resultMs"],
  ["queued ended", "queuedMs"],
  ["next answered", "nextMs"],
  ["lease left", "leaseLeftMs"],
];

console.log(`${times} failovers, lease ${leaseMs} ms, load ${loadNow()}`);
const failovers = await playFailovers(times, leaseMs, (failover) =>
  console.log(ROWS.map(([name, field]) => `${name} ${seconds(failover[field])} s`).join("   ")),
);
const all = (field: keyof Failover): number[] => failovers.map((failover) => failover[field]);
console.log("\n                 median    p90    max");
for (const [name, field] of ROWS) {
  const marks = [0.5, 0.9, 1].map((share) => quantile(all(field), share));
  console.log(`${name.padEnd(14)} ${marks.map(seconds).join(" ")} s`);
}
const isMet = quantile(all("nextMs"), 0.5) <= LIMIT_MS;
console.log(isMet ? "The goal is met." : `The goal is MISSED: at most ${seconds(LIMIT_MS).trim()} s.`);
process.exitCode = isMet ? 0 : 1;
