/** What the rounds say, beside the goals. */
import { markdownTable } from "../../engine/report.js";
import { type Block, median, quantile } from "../measure/statistics.js";

export interface Finding {
  what: string;
  measured: string;
  value: number;
  unit: "×" | "ms";
  goal: number;
  isLeast?: true;
}

/** Two calls after a silence, ms: of the broker, and of a bridge that remembers nothing. */
export interface Spaced {
  call: number;
  plain: number;
}

interface BesideRounds {
  /** ms. */
  first: readonly number[];
  spaced: readonly Spaced[];
  /** Processor time of a call by part, ms. */
  cost: ReadonlyMap<string, number>;
  thinksMs: number;
}

/** `blocksOf`: of a row, one block a round. */
export function findings(
  blocksOf: (key: string) => readonly Block[],
  { first, spaced, cost, thinksMs }: BesideRounds,
): Finding[] {
  const p50 = (key: string, round: number): number => median(blocksOf(key)[round]?.latencies ?? []) / 1_000;
  const all = (key: string, share: number): number =>
    quantile(
      blocksOf(key).flatMap(({ latencies }) => latencies),
      share,
    ) / 1_000;
  const rate = (key: string, round: number): number => blocksOf(key)[round]?.perSecond ?? Number.NaN;
  const ofRounds = (of: (round: number) => number): number =>
    median(blocksOf("call").map((_block, round) => of(round)));
  const total = [...cost.values()].reduce((sum, ms) => sum + ms, 0);
  const parts = [...cost].map(([part, ms]) => `${part} ${ms.toFixed(1)}`).join(", ");
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const perSecond = (key: string): string => `${Math.round(ofRounds((round) => rate(key, round)))} a second`;
  const spacedPlain = median(spaced.map(({ plain }) => plain));
  return [
    {
      what: "a call, to bare BullMQ + two flushes + an echo by the SDK's server",
      measured: `p50 ${ms(all("call", 0.5))}, floor ${ms(ofRounds((at) => floorOf(p50, at)))}`,
      value: ofRounds((at) => p50("call", at) / floorOf(p50, at)),
      unit: "×",
      goal: 2.2,
    },
    {
      what: "the 99th of 100 calls, to that of a plain bridge",
      measured: `${ms(all("call", 0.99))}, plain ${ms(all("plain", 0.99))} (p50 ${ms(all("plain", 0.5))})`,
      value: all("call", 0.99) / all("plain", 0.99),
      unit: "×",
      goal: 2,
    },
    {
      what: `a call after ${thinksMs} ms of silence, to that of a plain bridge`,
      measured: `${ms(median(spaced.map(({ call }) => call)))}, plain ${ms(spacedPlain)}`,
      value: median(spaced.map(({ call, plain }) => call / plain)),
      unit: "×",
      goal: 2.5,
    },
    {
      what: "the first call of a started broker",
      measured: ms(median(first)),
      value: median(first),
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
    { what: "processor time of a call", measured: parts, value: total, unit: "ms", goal: 2.2 },
    ...(["many", "crowd"] as const).map(
      (key): Finding => ({
        what: `${key === "many" ? 16 : 100} callers with distinct calls, to bare BullMQ one at a time`,
        measured: `${perSecond(key)}, bare ${perSecond("bare")}`,
        value: ofRounds((at) => rate(key, at) / rate("bare", at)),
        unit: "×",
        goal: 0.3,
        isLeast: true,
      }),
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
