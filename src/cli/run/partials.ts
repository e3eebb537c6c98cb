/** What is new in a partial result, as lines: the failed tests of run-tests, the log of a tool that keeps one. */
import type { Answer } from "../../shared/operation/answer.js";

/** Most lines for one answer; the result has all. */
const MOST_LINES = 20;

export interface Partials {
  /** Those that no earlier answer had. A list only grows: a tool that starts it again is shown from there. */
  linesOf(answer: Answer): string[];
}

/** `isOther`: a line of `Logs` was not shown already. */
export function createPartials(isOther: (line: string) => boolean = () => true): Partials {
  const shown = { failures: 0, Logs: 0 };

  const newIn = (list: unknown, name: keyof typeof shown): unknown[] => {
    if (!Array.isArray(list)) return [];
    const fresh = list.slice(list.length < shown[name] ? 0 : shown[name]);
    shown[name] = list.length;
    return fresh;
  };

  return {
    linesOf({ state, partial_result: partial }) {
      if (state !== "running" || typeof partial !== "object" || partial === null) return [];
      const { failures, Logs } = partial as Record<string, unknown>;
      const lines = newIn(failures, "failures").map(failureLine);
      let left = 0;
      for (const entry of newIn(Logs, "Logs")) {
        const text = typeof entry === "string" ? entry : JSON.stringify(entry);
        if (lines.length >= MOST_LINES) left += 1;
        else if (isOther(text)) lines.push(`  | ${text}`);
      }
      left += Math.max(0, lines.length - MOST_LINES);
      return left > 0 ? [...lines.slice(0, MOST_LINES), `  … and ${left} more`] : lines;
    },
  };
}

function failureLine(failure: unknown): string {
  const { name, message } = (failure ?? {}) as { name?: unknown; message?: unknown };
  return `  failed  ${String(name)}: ${String(message).split("\n")[0]}`;
}
