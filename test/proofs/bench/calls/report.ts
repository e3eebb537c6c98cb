/** One run of this benchmark, as it is printed and as `--json` writes it. */
import { markdownTable } from "../../engine/report.js";
import type { Machine } from "../measure/machine.js";
import type { RowReport } from "../measure/report.js";
import { type Finding, isMet, table } from "./findings.js";
import type { RowCount } from "./observer.js";
import { isUsual, type ScriptCount } from "./script-count.js";

/**
 * Latencies in µs. `isPrepared`: something that is not measured comes before each call, so it has no rate. `isFloor`: nothing of
 * the broker is in it.
 */
export interface CallsRow extends RowReport {
  inFlight: number;
  isPrepared: boolean;
  isFloor: boolean;
}

export interface CallsReport {
  machine: Machine;
  rounds: number;
  /** How many ended operations the large store held at first. */
  retained: number;
  rows: CallsRow[];
  findings: Finding[];
  counts: RowCount[];
  scripts: ScriptCount;
  /** Scripts that Redis ran during the row "call", by calls; leases, heartbeats and notes of deliveries are among them. */
  scriptsOfCall: number;
}

/** What is wrong with what was counted; empty if every call was executed once, in the usual number of scripts. */
export function countFaults({ counts, scripts }: Pick<CallsReport, "counts" | "scripts">): string[] {
  const faults = counts
    .filter(({ calls, executions }) => calls !== executions)
    .map(({ row, calls, executions }) => `${row}: ${calls} calls, ${executions} executions`);
  return isUsual(scripts) ? faults : [...faults, `scripts of calls one at a time: ${spelt(scripts)}`];
}

const spelt = ({ calls, writes, claims, amendments, bullmq }: ScriptCount): string =>
  `${calls} calls, ${writes} that create or end, ${claims} that claim, ${amendments} that note a delivery, ${bullmq} that end a job`;

export function printed(report: CallsReport): string {
  const { rounds, retained, rows, findings, counts, scripts, scriptsOfCall } = report;
  const ms = (us: number): string => (us / 1_000).toFixed(us < 1_000 ? 2 : 1);
  const number = (value: number): string => Math.round(value).toLocaleString("en");
  const sum = (of: "calls" | "executions"): string =>
    number(counts.reduce((total, count) => total + count[of], 0));
  return [
    `${rounds} rounds; the large store held ${number(retained)} ended operations at first.`,
    "",
    table(findings),
    "",
    markdownTable(
      ["row", "calls", "p50 ms", "p99 ms", "calls a second"],
      rows.map(({ title, calls, p50, p99, perSecond, isPrepared }) => [
        ...[title, number(calls), ms(p50), ms(p99), isPrepared ? "" : number(perSecond)],
      ]),
    ),
    "",
    `Counted: ${sum("calls")} calls, ${sum("executions")} executions. Scripts: ${spelt(scripts)}.`,
    `Redis ran ${scriptsOfCall.toFixed(1)} scripts a call in the first of these rows, with leases and notes of deliveries.`,
    ...countFaults(report).map((fault) => `WRONG COUNT: ${fault}`),
  ].join("\n");
}

export const isGood = (report: CallsReport): boolean =>
  report.findings.every(isMet) && countFaults(report).length === 0;
