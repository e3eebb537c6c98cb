/**
 * The failover time of an installation, measured.
 *
 * `npm run failover -- [--times 20] [--lease 5000]`
 * Exit code 0: the median to the new owner's first frame is at most twice the lease time; 1: it is above.
 */
import { parseArgs } from "node:util";
import { loadNow } from "../bench/measure/machine.js";
import { quantile } from "../bench/measure/statistics.js";
import { playFailovers } from "./failovers.js";

const { values } = parseArgs({
  options: { times: { type: "string", default: "20" }, lease: { type: "string", default: "5000" } },
});
const leaseMs = Number(values.lease);
const times = Number(values.times);
const seconds = (ms: number): string => (ms / 1000).toFixed(2).padStart(6);
const leases = (ms: number): string => (ms / leaseMs).toFixed(2).padStart(6);
const LIMIT = 2;

console.log(`${times} failovers, lease ${leaseMs} ms, load ${loadNow()}`);
const failovers = await playFailovers(times, leaseMs, ({ frameMs, resultMs }) =>
  console.log(`first frame ${seconds(frameMs)} s   outcome reported ${seconds(resultMs)} s`),
);
const frames = failovers.map(({ frameMs }) => frameMs);
const results = failovers.map(({ resultMs }) => resultMs);
console.log("\n                 median    p90    max   (times the lease: median, p90, max)");
for (const [name, all] of [["first frame", frames] as const, ["outcome reported", results] as const]) {
  const marks = [0.5, 0.9, 1].map((share) => quantile(all, share));
  console.log(`${name.padEnd(14)} ${marks.map(seconds).join(" ")} s   ${marks.map(leases).join(" ")}`);
}
const isMet = quantile(frames, 0.5) <= LIMIT * leaseMs;
console.log(isMet ? "The goal is met." : `The goal is MISSED: at most ${LIMIT} x the lease.`);
process.exitCode = isMet ? 0 : 1;
