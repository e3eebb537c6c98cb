/**
 * The benchmark: what a call costs beside what its parts cost, measured in turn in one run.
 *
 * `npm run bench -- [--quick] [--json <file>] [--in-flight 16]`
 * Exit code 0: the goal is met; 1: it is missed; 2: it could not be measured; 130: interrupted.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Closers } from "./closers.js";
import { bareQueueFloor, echoFloor, type Floor, flushFloor, pingFloor } from "./floors/floors.js";
import { describeMachine, loadNow } from "./measure/machine.js";
import { loadWarning, machineLine, type Report, reportOf, tables } from "./measure/report.js";
import { LONG, playRounds, QUICK } from "./measure/rounds.js";
import { mcpRows, verbRows } from "./ours.js";
import { runBenchmark } from "./run-benchmark.js";
import { setStage } from "./stage.js";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    "in-flight": { type: "string", default: "16" },
  },
});
const plan = values.quick ? QUICK : LONG;
const inFlight = Number(values["in-flight"]);
/** Before this run adds to it. */
const load = loadNow();

async function measure(closers: Closers): Promise<Report> {
  const stage = await setStage(closers);
  const machine = await describeMachine(stage.address, load);
  console.log(machineLine(machine));
  const warning = loadWarning(machine);
  if (warning) console.log(warning);

  const floors: Floor[] = [];
  for (const floor of [
    () => echoFloor(stage.echoPort),
    () => pingFloor(stage.address),
    () => flushFloor(stage.folder),
    () => bareQueueFloor(stage.address, inFlight),
  ]) {
    const laid = await floor();
    floors.push(laid);
    closers.add(laid.close);
  }
  const rows = [
    ...floors.flatMap(({ rows: ofFloor }) => ofFloor),
    ...verbRows(stage.gateway, inFlight),
    ...mcpRows(stage.http, "http"),
    ...mcpRows(stage.stdio, "stdio"),
  ];
  const measured = await playRounds(rows, plan, (round) => {
    if (process.stderr.isTTY) process.stderr.write(`\rround ${round} of ${plan.rounds} `);
  });
  if (process.stderr.isTTY) process.stderr.write("\r\n");
  return reportOf(machine, plan, rows, measured);
}

await runBenchmark(async (closers) => {
  const report = await measure(closers);
  console.log(`\n${tables(report)}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  return report.goal.met;
});
