/** What a run says: the rows, the ratios to the floors of the same round, and whether the goal is met. */
import type { Machine } from "./machine.js";
import type { Measured, Plan, Row } from "./rounds.js";
import { type Block, median, quantile, type Spread, spreadOf } from "./statistics.js";

export interface RowReport {
  key: string;
  title: string;
  calls: number;
  /** µs. */
  p50: number;
  p95: number;
  p99: number;
  /** Median of the rounds. */
  perSecond: number;
}

export interface RatioReport extends Spread {
  title: string;
}

export interface Report {
  machine: Machine;
  plan: Plan;
  rows: RowReport[];
  ratios: RatioReport[];
  goal: { title: string; limit: number; ratio: number; met: boolean };
}

/** The verbs may take so many times what their parts take. */
const GOAL = 2;
const GOAL_TITLE = "verbs / (bare BullMQ + TCP echo + one flush)";

interface Ratio {
  title: string;
  /** Keys of rows: their medians are added. */
  of: string[];
  to: string[];
  /** Calls a second are compared instead. */
  byRate?: true;
}

const RATIOS: Ratio[] = [
  { title: GOAL_TITLE, of: ["verbs"], to: ["bare", "echo", "flush"] },
  { title: "verbs / bare BullMQ", of: ["verbs"], to: ["bare"] },
  {
    title: "calls a second: verbs / bare BullMQ, many in flight",
    of: ["verbs-many"],
    to: ["bare-many"],
    byRate: true,
  },
  { title: "bare BullMQ / Redis PING", of: ["bare"], to: ["ping"] },
  { title: "HTTP tools/call / HTTP no-op", of: ["http-call"], to: ["http-no-op"] },
  { title: "HTTP tools/call / (verbs + HTTP no-op)", of: ["http-call"], to: ["verbs", "http-no-op"] },
  { title: "stdio tools/call / stdio no-op", of: ["stdio-call"], to: ["stdio-no-op"] },
  { title: "stdio tools/call / (verbs + stdio no-op)", of: ["stdio-call"], to: ["verbs", "stdio-no-op"] },
];

export function reportOf(machine: Machine, plan: Plan, rows: readonly Row[], measured: Measured): Report {
  const blocksOf = (key: string): readonly Block[] => measured.get(key) ?? [];
  const ratios = RATIOS.map((ratio) => ({ title: ratio.title, ...spreadOf(ratioOfRounds(ratio, blocksOf)) }));
  const ratio = ratios.find(({ title }) => title === GOAL_TITLE)?.median ?? Number.NaN;
  return {
    machine,
    plan,
    rows: rowReports(rows, measured),
    ratios,
    goal: { title: GOAL_TITLE, limit: GOAL, ratio, met: ratio <= GOAL },
  };
}

export function rowReports(rows: readonly Row[], measured: Measured): RowReport[] {
  return rows.map(({ key, title }) => {
    const blocks = measured.get(key) ?? [];
    const all = blocks.flatMap(({ latencies }) => latencies);
    return {
      key,
      title,
      calls: all.length,
      p50: quantile(all, 0.5),
      p95: quantile(all, 0.95),
      p99: quantile(all, 0.99),
      perSecond: median(blocks.map(({ perSecond }) => perSecond)),
    };
  });
}

/** One ratio a round: both sides of it met the same disturbances. */
function ratioOfRounds({ of, to, byRate }: Ratio, blocksOf: (key: string) => readonly Block[]): number[] {
  const valueIn = (block: Block | undefined): number => {
    if (!block) return Number.NaN;
    return byRate ? block.perSecond : median(block.latencies);
  };
  const sum = (keys: string[], round: number): number =>
    keys.reduce((total, key) => total + valueIn(blocksOf(key)[round]), 0);
  return blocksOf(of[0] ?? "").map((_block, round) => sum(of, round) / sum(to, round));
}

export function machineLine({ cores, processor, system, node, redis, load }: Machine): string {
  return `${cores} cores (${processor}), ${system}, Node ${node}, Redis ${redis}, load ${load.toFixed(1)}`;
}

/** Said where the numbers cannot be trusted. */
export function loadWarning({ cores, load }: Machine): string | undefined {
  if (load <= cores) return undefined;
  return `WARNING: the load of ${load.toFixed(1)} is above the ${cores} cores: only the ratios say something, if at all.`;
}

/** At most 100 columns. */
export function tables({ rows, ratios, goal, plan }: Report): string {
  const number = (value: number): string => Math.round(value).toLocaleString("en");
  const times = (value: number): string => value.toFixed(2);
  return [
    ...columns([
      ["row", "calls", "p50 µs", "p95 µs", "p99 µs", "calls/s"],
      ...rows.map(({ title, calls, p50, p95, p99, perSecond }) => [
        title,
        ...[calls, p50, p95, p99, perSecond].map(number),
      ]),
    ]),
    "",
    ...columns([
      ["ratio of the medians of a round", "median", "lowest", "highest"],
      ...ratios.map(({ title, median, lowest, highest }) => [title, ...[median, lowest, highest].map(times)]),
    ]),
    "",
    `${plan.rounds} rounds. Goal: ${goal.title} ≤ ${goal.limit}: ${times(goal.ratio)}, ${goal.met ? "met" : "MISSED"}.`,
  ].join("\n");
}

/** The first column to the left, the others to the right. */
function columns(lines: string[][]): string[] {
  const widths = lines[0]?.map((_cell, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  return lines.map((line) =>
    line
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  "),
  );
}
