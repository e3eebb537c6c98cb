/** How long a request may stay open. */
import { BrokerError } from "./errors.js";

export interface WaitTime {
  ms: number;
  /** Set if the requested time was cut; part of the answer. */
  note?: string;
}

/** Seconds. Clients give up a silent request after 60 s, so a wait without progress ends well before. */
const CAP = 60;
const SILENT_CAP = 50;

/** Reads a `timeout` in seconds, fractions allowed, 0 = answer at once; throws INVALID_TIMEOUT. */
export function waitTime(requested: unknown, fallbackSeconds: number, showsProgress: boolean): WaitTime {
  const seconds = requested === undefined || requested === null ? fallbackSeconds : requested;
  if (typeof seconds !== "number" || Number.isNaN(seconds) || seconds < 0) {
    throw new BrokerError("INVALID_TIMEOUT", `timeout ${shown(requested)} is invalid.`);
  }
  const cap = showsProgress ? CAP : SILENT_CAP;
  if (seconds <= cap) return { ms: seconds * 1000 };
  const reason = showsProgress ? "" : " (60 with a progress token)";
  return { ms: cap * 1000, note: `The wait was cut from ${seconds} to ${cap} seconds${reason}.` };
}

/** Does not print arrays or objects: they may nest too deep. */
function shown(value: unknown): string {
  return typeof value === "object" ? "(an object)" : JSON.stringify(value).slice(0, 100);
}
