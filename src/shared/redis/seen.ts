/**
 * What this process last read or wrote of operations. A change is tried on it first: the script writes only over the
 * very record that the change was made of, so one that is out of date costs a round trip and does no harm.
 */
import type { OperationRecord } from "../operation.js";
import { createRecent } from "./recent.js";

export interface Sight {
  /** The record as it is stored. */
  text: string;
  record: OperationRecord;
  /** Store clock when it was last asked, ms. */
  now: number;
  /** When that was, ms of this process's monotonic clock. */
  askedAt: number;
}

/** Nobody tells this process the store's time meanwhile, so it is asked again after this long, ms. */
const FRESH_MS = 1_000;

/** More than any process has under way. */
const REMEMBERED = 1_000;

export interface Seen {
  note(sight: Sight): Sight;
  /** As it was seen within the last second, with what the store's clock shows now: late by a round trip at most. */
  lately(logId: string): { sight: Sight; now: number } | undefined;
}

export function createSeen(): Seen {
  const sights = createRecent<Sight>(REMEMBERED);
  return {
    note(sight) {
      sights.set(sight.record.logId, sight);
      return sight;
    },
    lately(logId) {
      const sight = sights.get(logId);
      if (!sight) return undefined;
      const passed = performance.now() - sight.askedAt;
      return passed < FRESH_MS ? { sight, now: sight.now + Math.round(passed) } : undefined;
    },
  };
}
