/**
 * The operations that this process last read or wrote. A change is tried on this copy first: the script writes only over
 * the exact record that the change was made from, so a stale copy costs one round trip and does no harm.
 */

import { createBoundedMemory } from "../../bounded-memory.js";
import type { OperationRecord } from "../../operation/operation.js";

export interface CachedRecord {
  /** The record as it is stored. */
  text: string;
  record: OperationRecord;
  /** The store's clock when it was last read, ms. */
  now: number;
  /** When that reading was asked for and when it was heard, on this process's monotonic clock, ms. */
  askedAt: number;
  heardAt: number;
}

/** The store's clock is read again after this long, ms. */
const FRESH_MS = 1_000;

/** More than any process has in flight. */
const REMEMBERED = 1_000;

export interface RecordCache {
  note(cached: CachedRecord): CachedRecord;
  /**
   * The record as asked for within the last second, with the store's present time, late by at most the round trip of that
   * reading. Never ahead of it: an outcome would be delivered before its reported time of execution.
   */
  recent(logId: string): { cached: CachedRecord; now: number } | undefined;
}

export function createRecordCache(): RecordCache {
  const records = createBoundedMemory<CachedRecord>(REMEMBERED);
  return {
    note(cached) {
      records.set(cached.record.logId, cached);
      return cached;
    },
    recent(logId) {
      const cached = records.get(logId);
      if (!cached) return undefined;
      const present = performance.now();
      if (present - cached.askedAt >= FRESH_MS) return undefined;
      return { cached, now: cached.now + Math.floor(present - cached.heardAt) };
    },
  };
}
