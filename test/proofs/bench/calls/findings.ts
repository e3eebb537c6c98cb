/** What the rounds say, beside the goals. */
import { markdownTable } from "../../engine/report.js";
import type { Measured } from "../measure/rounds.js";
import { type Block, median, quantile } from "../measure/statistics.js";
import { THINKS_MS } from "./rows/caller-rows.js";
import { FEW_RETAINED } from "./rows/retained-rows.js";

export interface Finding {
  what: string;
  measured: string;
  value: number;
  unit: "×" | "ms";
  goal: number;
  isLeast?: true;
}

/** `cost`: processor time of a call by part, ms. `retained`: how many operations the large store holds. */
export function findings(
  measured: Measured,
  { cost, retained }: { cost: ReadonlyMap<string, number>; retained: number },
): Finding[] {
  const blocksOf = (key: string): readonly Block[] => measured.get(key) ?? [];
  const p50 = (key: string, round: number): number => median(blocksOf(key)[round]?.latencies ?? []) / 1_000;
  const all = (key: string, share: number): number =>
    quantile(
      blocksOf(key).flatMap(({ latencies }) => latencies),
      share,
    ) / 1_000;
  const rate = (key: string, round: number): number => blocksOf(key)[round]?.perSecond ?? Number.NaN;
  const ofRounds = (of: (round: number) => number): number =>
    median(blocksOf("call").map((_block, round) => of(round)));
  const total = [...cost.values()].reduce((sum, each) => sum + each, 0);
  const parts = [...cost].map(([part, each]) => `${part} ${each.toFixed(1)}`).join(", ");
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const perSecond = (key: string): string => `${Math.round(ofRounds((round) => rate(key, round)))} a second`;
  /** One row's median beside another's. */
  const beside = (what: string, [key, floor]: [string, string], goal: number): Finding => ({
    what,
    measured: `${ms(all(key, 0.5))}, ${ms(all(floor, 0.5))}`,
    value: ofRounds((round) => p50(key, round) / p50(floor, round)),
    unit: "×",
    goal,
  });
  return [
    {
      what: "a call, to bare BullMQ + two flushes + an echo by the SDK's server",
      measured: `p50 ${ms(all("call", 0.5))}, floor ${ms(ofRounds((at) => floorOf(p50, at)))}`,
      value: ofRounds((at) => p50("call", at) / floorOf(p50, at)),
      unit: "×",
      goal: 2.6,
    },
    beside(
      `a call after ${THINKS_MS} ms of silence, to that of a plain bridge`,
      ["spaced", "spaced-plain"],
      3,
    ),
    {
      what: "the first call of a started broker",
      measured: ms(all("first", 0.5)),
      value: ofRounds((at) => p50("first", at)),
      unit: "ms",
      goal: 20,
    },
    {
      what: "calls on eight Editors at once, to as many at once on one of them",
      measured: `${perSecond("eight")}, one Editor ${perSecond("one")}`,
      value: ofRounds((at) => rate("eight", at) / rate("one", at)),
      unit: "×",
      goal: 1,
      isLeast: true,
    },
    { what: "processor time of a call", measured: parts, value: total, unit: "ms", goal: 4 },
    {
      what: "16 callers with distinct calls, to bare BullMQ one at a time",
      measured: `${perSecond("many")}, bare ${perSecond("bare")}`,
      value: ofRounds((at) => rate("many", at) / rate("bare", at)),
      unit: "×",
      goal: 0.45,
      isLeast: true,
    },
    beside("the next call after another client was killed, to one that lives", ["after-kill", "beside"], 1.2),
    beside(
      "a read in the background lane while the main lane builds, to one while it is idle",
      ["reads-beside-build", "reads"],
      2,
    ),
    beside(
      `a call beside ${retained.toLocaleString("en")} retained operations, to one beside ${FEW_RETAINED}`,
      ["retained-many", "retained-few"],
      1.2,
    ),
  ];
}

/** What nobody can do without, ms. */
const floorOf = (p50: (key: string, round: number) => number, round: number): number =>
  p50("bare", round) + 2 * p50("flush", round) + p50("sdk", round);

export const isMet = ({ value, goal, isLeast }: Finding): boolean =>
  isLeast ? value >= goal : value <= goal;

export function table(found: readonly Finding[]): string {
  const rows = found.map((finding) => {
    const { what, measured, value, unit, goal, isLeast } = finding;
    const verdict = isMet(finding) ? "met" : "MISSED";
    return [what, measured, `${value.toFixed(2)} ${unit}`, `${isLeast ? "≥" : "≤"} ${goal} ${unit}`, verdict];
  });
  return markdownTable(["what", "measured", "median of the rounds", "goal", ""], rows);
}
