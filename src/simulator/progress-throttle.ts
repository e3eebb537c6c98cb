/** Progress at most every `intervalMs`, the last report always sent. */
import type { Timers } from "./timers.js";

export interface ProgressReport {
  progress: number;
  total?: number;
  message?: string;
  /** The partial result so far. */
  partialResult?: unknown;
}

export interface ProgressThrottle {
  report(report: ProgressReport): void;
  /** Sends held-back reports now, before the outcome is reported. */
  flush(): void;
  close(): void;
}

export function createProgressThrottle(
  deps: { timers: Timers; now(): number; send(report: ProgressReport): void },
  options: { intervalMs: number },
): ProgressThrottle {
  let held: ProgressReport | undefined;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;

  const send = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (held === undefined) return;
    const report = held;
    held = undefined;
    lastSentAt = deps.now();
    deps.send(report);
  };

  return {
    report(report) {
      held = report;
      const wait = lastSentAt + options.intervalMs - deps.now();
      if (wait <= 0) send();
      else cancelTimer ??= deps.timers.after(wait, send);
    },
    flush: send,
    close() {
      cancelTimer?.();
      held = undefined;
    },
  };
}
