/** One interleaved run: every home is opened first, then each row is played in each round, then scripts are counted. */
import { called, openHome } from "../clients/home.js";
import type { Closers } from "../closers.js";
import { describeMachine, loadNow } from "../measure/machine.js";
import { loadWarning, machineLine, rowReports } from "../measure/report.js";
import { LONG, type Plan, playRounds, QUICK, type Row, SHORTEST } from "../measure/rounds.js";
import { findings } from "./findings.js";
import { createObserver } from "./observer.js";
import type { CallsReport } from "./report.js";
import { callerRows, spaced, THINKS_MS } from "./rows/caller-rows.js";
import { firstCallRow, killedClientRows } from "./rows/death-rows.js";
import { editorRows } from "./rows/editor-rows.js";
import { floorRows } from "./rows/floor-rows.js";
import { readRows } from "./rows/read-rows.js";
import { retainedRows } from "./rows/retained-rows.js";
import { countScripts } from "./script-count.js";

/** `retained`: ended operations of the large store; `editors`: of the farm, 8 where their time is measured. */
const LENGTHS: Record<"long" | "quick" | "counts", { plan: Plan; retained: number; editors?: number }> = {
  long: { plan: LONG, retained: 100_000 },
  quick: { plan: QUICK, retained: 2_000 },
  counts: { plan: SHORTEST, retained: 200, editors: 2 },
};

/** `rounds`: other than those of the length. Rejects with the first call that fails. */
export async function measureCalls(
  closers: Closers,
  length: keyof typeof LENGTHS,
  rounds?: number,
): Promise<CallsReport> {
  const { plan: usual, retained, editors = 8 } = LENGTHS[length];
  const plan = { ...usual, rounds: rounds ?? usual.rounds };
  const load = loadNow();
  const home = await openHome(closers);
  const machine = await describeMachine(await home.redis(), load);
  console.log([machineLine(machine), loadWarning(machine) ?? []].flat().join("\n"));

  const [eight, started, few, many] = await Promise.all([
    openHome(closers, { editors }),
    openHome(closers),
    openHome(closers),
    openHome(closers),
  ]);
  const first = await started.client();
  await called(first);
  await first.close();

  const floors = await floorRows(closers, home.folders[0] ?? "");
  const plain = floors.find(({ key }) => key === "plain");
  const plainCall = () => plain?.call(0);
  floors.push(spaced("spaced-plain", `plain bridge after ${THINKS_MS} ms of silence`, plainCall));
  const rows: Row[] = (
    await Promise.all([
      callerRows(closers, home),
      killedClientRows(closers, home),
      readRows(closers, home),
      [firstCallRow(closers, started)],
      editorRows(closers, eight),
      retainedRows(closers, { few, many }, retained),
      floors,
    ])
  ).flat();
  const observer = await createObserver(closers, home, [home, eight, started, few, many]);
  const measured = await playRounds(rows, plan, showRound(plan.rounds), observer.observe);
  if (process.stderr.isTTY) process.stderr.write("\r\n");
  const scripts = await countScripts(home);
  return {
    ...{ machine, rounds: plan.rounds, retained },
    rows: rowReports(rows, measured).map((row, at) => ({
      ...row,
      inFlight: rows[at]?.inFlight ?? 1,
      isPrepared: rows[at]?.prepare !== undefined,
      isFloor: floors.some(({ key }) => key === row.key),
    })),
    findings: findings(measured, { cost: observer.processorTime(), retained }),
    ...{ counts: observer.counts(), scripts, scriptsOfCall: observer.scriptsOfCall() },
  };
}

const showRound =
  (rounds: number) =>
  (round: number): void => {
    if (process.stderr.isTTY) process.stderr.write(`\rround ${round} of ${rounds} `);
  };
