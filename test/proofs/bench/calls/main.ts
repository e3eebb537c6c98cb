/**
 * What a call takes as an assistant makes it: over `unity-broker mcp`, by the broker in the background, which owns the Editor;
 * beside what nobody can do without, in the same rounds.
 *
 * `npm run bench-calls -- [--quick | --counts] [--rounds <number>] [--json <file>]`
 * `--counts`: one round of few calls, for what is counted; no time is judged.
 * Exit code 0: every goal is met; 1: one is missed, or a count is wrong; 2: it could not be measured; 130: interrupted.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { runBenchmark } from "../run-benchmark.js";
import { measureCalls } from "./measure-calls.js";
import { countFaults, isGood, printed } from "./report.js";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    counts: { type: "boolean", default: false },
    rounds: { type: "string" },
    json: { type: "string" },
  },
});
const length = values.counts ? "counts" : values.quick ? "quick" : "long";
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);

await runBenchmark(async (closers) => {
  const report = await measureCalls(closers, length, rounds);
  console.log(`\n${printed(report)}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  return values.counts ? countFaults(report).length === 0 : isGood(report);
});
