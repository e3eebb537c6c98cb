/** How long a request may stay open, and whether it may have waited before it was read. */
import { BrokerError } from "./errors.js";
import { head } from "./printable.js";

export interface WaitTime {
  ms: number;
  /** Set if the requested time was cut; part of the answer. */
  note?: string;
}

export interface WaitLimits {
  /** Of a call that says nothing. */
  standardSeconds: number;
  mostSeconds: number;
}

/** Common clients give up after 60 s, also while they are shown progress. */
export const WAITS: WaitLimits = { standardSeconds: 1, mostSeconds: 50 };

/** What a schema says of `timeout`. */
export function waitText(standardSeconds: number, { mostSeconds }: WaitLimits): string {
  return `Seconds to wait (default ${Math.min(standardSeconds, mostSeconds)}, max ${mostSeconds}).`;
}

/**
 * Reads a `timeout` in seconds, fractions allowed, also as text, 0 = answer at once; throws INVALID_TIMEOUT. `fallbackSeconds`: for a
 * request that says nothing.
 */
export function waitTime(
  requested: unknown,
  fallbackSeconds: number,
  { mostSeconds }: Pick<WaitLimits, "mostSeconds"> = WAITS,
): WaitTime {
  const seconds = secondsIn(requested ?? fallbackSeconds);
  if (typeof seconds !== "number" || Number.isNaN(seconds) || seconds < 0) {
    throw new BrokerError("INVALID_TIMEOUT", `timeout ${shown(requested)} is invalid.`);
  }
  if (seconds <= mostSeconds) return { ms: seconds * 1000 };
  const isAsked = requested !== undefined && requested !== null;
  return {
    ms: mostSeconds * 1000,
    ...(isAsked ? { note: `The wait was cut from ${seconds} to ${mostSeconds} seconds.` } : {}),
  };
}

/** A model writes "3" for 3. */
function secondsIn(requested: unknown): unknown {
  return typeof requested === "string" && requested.trim() !== "" ? Number(requested) : requested;
}

/** Does not print arrays or objects: they may nest too deep. */
function shown(value: unknown): string {
  return typeof value === "object" ? "(an object)" : head(JSON.stringify(value), 100);
}

// Read: has this process stood still while a message waited for it? Then nobody knows for how long its sender has been
// waiting. The clock is the monotonic one, which sleeps with the machine, as the timers of clients on it do.

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
