/**
 * Confirmed delivery (▲7): estimates the earliest time at which a client can have sent the message that arrives now. A
 * process that stood still reads it late, and would take a request that its client has given up meanwhile for one that
 * was answered at once.
 */
import type { Instant } from "./frames.js";

/** While the event loop turns at least every `stallMs`, a message is read when it arrives; checked every `tickMs`. */
const TIMINGS = { stallMs: 1_000, tickMs: 250 };

/** Messages sent during a stall take many reads: after this many timely ticks all of them were read. */
const SETTLED_TICKS = 4;

export interface ArrivalClock {
  /** The earliest moment at which a message that arrives now can have been sent. */
  arrival(): Instant;
  close(): void;
}

/**
 * Monotonic time stops while a machine sleeps, and wall time jumps when it is set: the longer of the two counts. The
 * monotonic one is the system's and not the process's, so that the processes of a machine share it.
 */
function now(): Instant {
  return { monotonic: Number(process.hrtime.bigint()) / 1e6, wall: Date.now() };
}

/** ms. */
export function since(then: Instant, at = now()): number {
  return Math.max(at.monotonic - then.monotonic, at.wall - then.wall);
}

export function createArrivalClock({ stallMs, tickMs } = TIMINGS): ArrivalClock {
  /** Everything sent before this time was read. */
  let readUp = now();
  let lastTick = readUp;
  let onTime = SETTLED_TICKS;
  const timer = setInterval(() => {
    const at = now();
    onTime = since(lastTick, at) <= stallMs ? onTime + 1 : 0;
    if (onTime >= SETTLED_TICKS) readUp = at;
    lastTick = at;
  }, tickMs);
  timer.unref();
  return {
    arrival() {
      const at = now();
      return since(readUp, at) > stallMs ? readUp : at;
    },
    close: () => clearInterval(timer),
  };
}
