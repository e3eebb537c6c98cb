/** Where a time stands on the axis. What nothing happened in for long, after the end, takes little room, and says so. Pure. */
import { duration } from "../format.js";

export interface Scale {
  /** From 0 to 1. */
  at(time: number): number;
  breaks: { from: number; to: number; ms: number }[];
  ticks: { at: number; text: string }[];
}

/** The part of the axis that a break takes. */
const BREAK = 0.1;
/** A gap this many times as long as everything else is broken. */
const MUCH = 4;
const MOST_BREAKS = 3;

/** `times`: of everything that is shown; `whole`: what lies before is never broken (the operation's own life). */
export function scaleOf(times: readonly number[], whole: number): Scale {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const first = sorted[0] ?? 0;
  const last = Math.max(sorted.at(-1) ?? first, first + 1);
  const gaps = brokenGaps(sorted, whole, last - first);
  const linearMs = last - first - gaps.reduce((sum, { ms }) => sum + ms, 0);
  const room = 1 - BREAK * gaps.length;
  const at = (time: number): number => {
    let broken = 0;
    let passed = 0;
    for (const { from, to, ms } of gaps) {
      if (time >= to) [broken, passed] = [broken + ms, passed + BREAK];
      else if (time > from) {
        const part = ((time - from) / ms) * BREAK;
        return clamped(((from - first - broken) / linearMs) * room + passed + part);
      }
    }
    return clamped(((time - first - broken) / linearMs) * room + passed);
  };
  return {
    at,
    breaks: gaps.map(({ from, to, ms }) => ({ from: at(from), to: at(to), ms })),
    ticks: ticksOf(first, gaps[0]?.from ?? last, linearMs, at),
  };
}

function brokenGaps(
  sorted: readonly number[],
  whole: number,
  all: number,
): { from: number; to: number; ms: number }[] {
  const gaps = sorted
    .slice(1)
    .map((to, index) => ({ from: sorted[index] ?? to, to, ms: to - (sorted[index] ?? to) }))
    .filter(({ from }) => from >= whole)
    .sort((a, b) => b.ms - a.ms);
  const chosen: typeof gaps = [];
  let rest = all;
  for (const gap of gaps.slice(0, MOST_BREAKS)) {
    if (rest - gap.ms <= 0 || gap.ms < MUCH * (rest - gap.ms)) break;
    chosen.push(gap);
    rest -= gap.ms;
  }
  return chosen.sort((a, b) => a.from - b.from);
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
  72e5, 144e5, 288e5, 864e5,
];
const MOST_TICKS = 6;

/** Up to the first break, in round numbers since the beginning. */
function ticksOf(first: number, end: number, linearMs: number, at: (time: number) => number): Scale["ticks"] {
  const step = STEPS.find((each) => linearMs / each <= MOST_TICKS) ?? linearMs;
  const ticks: Scale["ticks"] = [];
  for (let ms = 0; first + ms <= end; ms += step)
    ticks.push({ at: at(first + ms), text: ms === 0 ? "0" : duration(ms) });
  return ticks;
}

function clamped(part: number): number {
  return Math.min(1, Math.max(0, part));
}
