/**
 * The benchmark: what a call costs beside what its parts cost, measured in turn in one run.
 *
 * `npm run bench -- [--quick] [--json <file>] [--in-flight 16]`
 * Exit code 0: the goal is met; 1: it is missed; 2: it could not be measured; 130: interrupted.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Closers, createClosers } from "./closers.js";
import { bareQueueFloor, echoFloor, type Floor, flushFloor, pingFloor } from "./floors/floors.js";
import { describeMachine, loadNow } from "./measure/machine.js";
import { loadWarning, machineLine, type Report, reportOf, tables } from "./measure/report.js";
import { LONG, playRounds, QUICK } from "./measure/rounds.js";
import { mcpRows, verbRows } from "./ours.js";
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

class Interrupted extends Error {}

const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => reject(new Interrupted(signal)));
  }
});

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

async function run(): Promise<number> {
  const closers = createClosers();
  try {
    const report = await Promise.race([measure(closers), interrupted]);
    console.log(`\n${tables(report)}`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
    return report.goal.met ? 0 : 1;
  } catch (error) {
    if (error instanceof Interrupted) return 130;
    console.error(error);
    return 2;
  } finally {
    await closers.closeAll();
  }
}

process.exit(await run());
