/**
 * The operations that this process has ended a moment ago. Who waits for one here is woken by the write that ended it, and
 * need not ask Redis for what was just written there: a final record does not change but for whom it was delivered to.
 */
import { createBoundedMemory } from "../../bounded-memory.js";
import type { OperationRecord } from "../../operation/operation.js";
import type { StoredResult } from "../results/stored-result.js";

export interface Ended {
  /** As it was stored. */
  record: OperationRecord;
  result: StoredResult | undefined;
}

export interface EndedHere {
  /** After the write was confirmed (▲14), never before. */
  note(ended: Ended): void;
  find(logId: string): Ended | undefined;
  on(listener: (logId: string) => void): () => void;
}

/** For so long an end is news, ms: later the store may have forgotten it, and only the store is asked. */
const MOMENT_MS = 1_000;
const REMEMBERED = 200;
/** Larger results are read from the store. */
const SMALL_BYTES = 16_384;

export function createEndedHere(): EndedHere {
  const ended = createBoundedMemory<Ended & { notedAt: number }>(REMEMBERED);
  const listeners = new Set<(logId: string) => void>();
  return {
    note({ record, result }) {
      if ((result?.bytes ?? 0) <= SMALL_BYTES)
        ended.set(record.logId, { record, result, notedAt: performance.now() });
      for (const listener of listeners) listener(record.logId);
    },
    find(logId) {
      const found = ended.get(logId);
      return found && performance.now() - found.notedAt < MOMENT_MS ? found : undefined;
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
