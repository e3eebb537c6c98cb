/**
 * The only case in which a cancelled call cancels its operation: the client cancelled the request that created it,
 * the operation still waits in the queue, nobody received its log_id, and no other request waits for it. Such an
 * operation leaves the queue after a delay. An operation that was sent to the Editor always goes on.
 */
import { isWaiting, next, type OperationRecord } from "./operation.js";

/** Marks the record as given up by its creator; undefined if nothing changes. */
export function abandoned(record: OperationRecord, now: number): OperationRecord | undefined {
  if (!isWaiting(record.state) || record.isKnown || record.abandonedAt !== undefined) return undefined;
  return { ...record, abandonedAt: now };
}

/** Marks the record as known: another request waits for it, or received its log_id. Undefined if it is marked already. */
export function markKnown(record: OperationRecord): OperationRecord | undefined {
  if (!isWaiting(record.state) || record.isKnown) return undefined;
  const { abandonedAt: _wantedAgain, ...rest } = record;
  return { ...rest, isKnown: true };
}

/** The cancelled record once the delay has passed; undefined if it was not given up, or not long enough ago. */
export function cancelIfAbandoned(
  record: OperationRecord,
  now: number,
  afterMs: number,
): OperationRecord | undefined {
  if (!isWaiting(record.state) || record.abandonedAt === undefined || now - record.abandonedAt < afterMs)
    return undefined;
  const state = next(record.state, "cancelled");
  return state && { ...record, state, endedAt: now };
}
