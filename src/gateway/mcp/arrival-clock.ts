/**
 * ▲7 When can a client have sent the message that arrives now? A process that stood still reads it late, and would
 * take a request that its client has given up meanwhile for one that was answered at once.
 */

/** While the event loop turns at least every `stallMs`, a message is read when it comes; it is looked at every `tickMs`. */
const TIMINGS = { stallMs: 1_000, tickMs: 250 };

/** What was sent during a stall takes many reads: by so many looks in time all of it was read. */
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
