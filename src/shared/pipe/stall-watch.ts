/**
 * Read: has this process stood still while a message waited for it? Then nobody knows for how long its sender has been
 * waiting. The clock is the monotonic one, which sleeps with the machine, as the timers of clients on it do.
 */

/** How often it is looked at whether the event loop turns, ms. */
const TICK_MS = 250;

/** What was sent meanwhile takes many reads: it has been read after so many timely ticks. */
const SETTLED_TICKS = 4;

export interface StallWatch {
  /** Has the process stood still since this moment (performance.now()), or just before it? */
  hasStalledSince(moment: number): boolean;
  close(): void;
}

/** `stallMs`: a process whose event loop has not turned for so long has stood still. */
export function createStallWatch({
  stallMs,
  tickMs = TICK_MS,
}: {
  stallMs: number;
  tickMs?: number;
}): StallWatch {
  let lastTick = performance.now();
  /** What arrived before this moment may have waited. */
  let settledAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    const now = performance.now();
    if (now - lastTick > tickMs + stallMs) settledAt = now + SETTLED_TICKS * tickMs;
    lastTick = now;
  };
  const timer = setInterval(look, tickMs);
  timer.unref();
  return {
    hasStalledSince(moment) {
      // A message may be read before the late tick.
      look();
      return moment < settledAt;
    },
    close: () => clearInterval(timer),
  };
}
