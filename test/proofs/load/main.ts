/**
 * `npm run load -- [--editors 50] [--sessions 200] [--rate 50] [--seconds 120] [--json <file>]`
 * docs/proofs/load.md says what is checked.
 * Exit code 0: as many executions as calls, and memory that did not grow; 1: not so; 2: it could not be run; 130: interrupted.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { runBenchmark } from "../bench/run-benchmark.js";
import { grown, wrongCounts } from "./judge.js";
import { runLoad } from "./load.js";
import { printed } from "./report.js";

const { values } = parseArgs({
  options: {
    editors: { type: "string", default: "50" },
    sessions: { type: "string", default: "200" },
    rate: { type: "string", default: "50" },
    seconds: { type: "string", default: "120" },
    json: { type: "string" },
  },
});

await runBenchmark(async (closers) => {
  const options = {
    editors: Number(values.editors),
    sessions: Number(values.sessions),
    perSecond: Number(values.rate),
    seconds: Number(values.seconds),
    idleSeconds: 10,
  };
  const report = await runLoad(closers, options, console.error);
  console.log(printed(report));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report)}\n`);
  const faults = [...wrongCounts(report), ...grown(report)];
  for (const fault of faults) console.error(`FAULT ${fault}`);
  return faults.length === 0;
});
