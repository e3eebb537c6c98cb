/** `npm run store-failover -- [--seeds 5] [--seed 1] [--calls 240]`; docs/proofs/store-failover.md says what is checked. */
import { parseArgs } from "node:util";
import { countsOf, markdownTable } from "../engine/report.js";
import { playStoreFailover } from "./store-failover.js";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    calls: { type: "string", default: "240" },
  },
});
/** Every third master stands still. */
const howOf = (seed: number) => (seed % 3 === 0 ? "stands still" : "is killed");
const first = Number(values.seed);
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => first + at);
const rows: (string | number)[][] = [];
const all: string[] = [];
for (const seed of seeds) {
  const startedAt = performance.now();
  const { faults, calls, failover, restored, silentMs } = await playStoreFailover({
    seed,
    how: howOf(seed),
    calls: Number(values.calls),
    comesBack: true,
    say: (line) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)}  ${line}`),
  });
  const { lagMs, lost, promotedMs } = failover;
  const states = countsOf(lost.unknown.values()).map(([state, count]) => `${count} ${state}`);
  rows.push([
    ...[seed, howOf(seed), lagMs, calls.length],
    calls.filter(({ ended }) => ended?.status === "completed").length,
    states.join(", ") || "none",
    restored,
    ...[lost.older, Math.round(promotedMs), Math.round(silentMs), faults.length],
  ]);
  for (const fault of faults) console.error(`FAULT seed ${seed}: ${fault}`);
  all.push(...faults);
}
const HEAD = [
  ...["seed", "the master", "lag, ms", "calls", "completed", "lost", "of them found again", "older"],
  ...["promoted, ms", "nobody answered, ms", "faults"],
];
console.log(`\n${markdownTable(HEAD, rows)}`);
process.exit(all.length > 0 ? 1 : 0);
