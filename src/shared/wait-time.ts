/** How long a request may stay open. */
import { BrokerError } from "./errors.js";

export interface WaitTime {
  ms: number;
  /** Set if the requested time was cut; part of the answer. */
  note?: string;
}

/** Seconds. Common clients give up after 60 s, also while they are shown progress. */
const CAP = 50;

/** Reads a `timeout` in seconds, fractions allowed, also as text, 0 = answer at once; throws INVALID_TIMEOUT. */
export function waitTime(requested: unknown, fallbackSeconds: number): WaitTime {
  const seconds = secondsIn(requested ?? fallbackSeconds);
  if (typeof seconds !== "number" || Number.isNaN(seconds) || seconds < 0) {
    throw new BrokerError("INVALID_TIMEOUT", `timeout ${shown(requested)} is invalid.`);
  }
  if (seconds <= CAP) return { ms: seconds * 1000 };
  return { ms: CAP * 1000, note: `The wait was cut from ${seconds} to ${CAP} seconds.` };
}

/** A model writes "3" for 3. */
function secondsIn(requested: unknown): unknown {
  return typeof requested === "string" && requested.trim() !== "" ? Number(requested) : requested;
}

/** Does not print arrays or objects: they may nest too deep. */
function shown(value: unknown): string {
  return typeof value === "object" ? "(an object)" : JSON.stringify(value).slice(0, 100);
}
