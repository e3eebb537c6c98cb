/** Wakes a loop that waits: a ring while it does not wait is not lost. */
export interface Bell {
  ring(): void;
  /** Resolves at once if it rang since the last time, else with the next ring, after `ms`, or when the signal aborts. */
  rung(ms: number, signal: AbortSignal): Promise<void>;
}

export function createBell(): Bell {
  let hasRung = false;
  let wake: () => void = () => undefined;
  return {
    ring() {
      hasRung = true;
      wake();
    },
    async rung(ms, signal) {
      if (!hasRung && !signal.aborted)
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          };
          const timer = setTimeout(done, ms);
          signal.addEventListener("abort", done, { once: true });
          wake = done;
        });
      wake = () => undefined;
      hasRung = false;
    },
  };
}
