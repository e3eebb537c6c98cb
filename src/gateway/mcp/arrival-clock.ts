/**
 * ▲7 When can a client have sent the message that arrives now? A process that stood still reads it late, and would
 * take a request that its client has given up meanwhile for one that was answered at once.
 */

/** While the event loop turns at least every `stallMs`, a message is read when it comes; it is looked at every `tickMs`. */
const TIMINGS = { stallMs: 1_000, tickMs: 250 };

/** By so many looks in time everything that sat in the pipe was read, also where the client never pauses. */
const SETTLED_TICKS = 4;

/** Monotonic time stops while a machine sleeps, wall time jumps when it is set: the longer of both has passed. */
export interface Instant {
  monotonic: number;
  wall: number;
}

export interface ArrivalClock {
  /** The earliest moment at which a message that arrives now can have been sent. */
  arrival(): Instant;
  close(): void;
}

function now(): Instant {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** ms. */
export function since(then: Instant, at = now()): number {
  return Math.max(at.monotonic - then.monotonic, at.wall - then.wall);
}

export function createArrivalClock({ stallMs, tickMs } = TIMINGS): ArrivalClock {
  /** By then everything that had been sent before was read. */
  let readUp = now();
  let lastTick = readUp;
  let hasArrived = false;
  let onTime = 0;
  const isStalled = (at: Instant): boolean => since(readUp, at) > stallMs;
  const timer = setInterval(() => {
    const at = now();
    // What was sent during a stall may take many reads: it is forgotten once nothing comes, or the loop has turned freely.
    onTime = since(lastTick, at) <= stallMs ? onTime + 1 : 0;
    const isSettled = onTime >= (hasArrived ? SETTLED_TICKS : 1);
    if (!isStalled(at) || isSettled) readUp = at;
    lastTick = at;
    hasArrived = false;
  }, tickMs);
  timer.unref();
  return {
    arrival() {
      const at = now();
      hasArrived = true;
      return isStalled(at) ? readUp : at;
    },
    close: () => clearInterval(timer),
  };
}
