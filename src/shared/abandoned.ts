/**
 * The one way in which giving up a call reaches its operation: the client cancelled the request that created it, it still
 * waits in the queue, nobody was told its log_id and nobody else waits for it. Then it leaves the queue after a while.
 * Whatever was sent to the Editor goes on.
 */
import { next, type OperationRecord } from "./operation.js";

function waits({ state }: OperationRecord): boolean {
  return state === "accepted" || state === "queued";
}

/** Its creator gave it up; undefined where that changes nothing. */
export function abandoned(record: OperationRecord, now: number): OperationRecord | undefined {
  if (!waits(record) || record.isKnown || record.abandonedAt !== undefined) return undefined;
  return { ...record, abandonedAt: now };
}

/** Somebody besides the request that created it waits for it, or is told its log_id; undefined where that is noted. */
export function known(record: OperationRecord): OperationRecord | undefined {
  if (!waits(record) || record.isKnown) return undefined;
  const { abandonedAt: _wantedAgain, ...rest } = record;
  return { ...rest, isKnown: true };
}

/** It leaves the queue; undefined: not, or not yet. */
export function left(record: OperationRecord, now: number, afterMs: number): OperationRecord | undefined {
  if (!waits(record) || record.abandonedAt === undefined || now - record.abandonedAt < afterMs)
    return undefined;
  const state = next(record.state, "cancelled");
  return state && { ...record, state, endedAt: now };
}
