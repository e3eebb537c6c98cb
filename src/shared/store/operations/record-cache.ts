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
  /** The time of that reading on this process's monotonic clock, ms. */
  askedAt: number;
}

/** The store's clock is read again after this long, ms. */
const FRESH_MS = 1_000;

/** More than any process has in flight. */
const REMEMBERED = 1_000;

export interface RecordCache {
  note(cached: CachedRecord): CachedRecord;
  /** The record as seen within the last second, with the store's present time, late by at most one round trip. */
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
      const passed = performance.now() - cached.askedAt;
      return passed < FRESH_MS ? { cached, now: cached.now + Math.round(passed) } : undefined;
    },
  };
}
