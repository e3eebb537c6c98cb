/** Expiry (▲15): nothing waits for ever. */
import type { OperationRecord } from "./operation.js";

export interface ExpiryLimits {
  /** An operation that was not sent expires once its Editor has been away without a pause for this long, ms. */
  absentMs: number;
  /** … or this long after it was accepted, ms. */
  unsentMs: number;
  /** An operation that was sent is marked interrupted after this long without an outcome, ms. */
  sentMs: number;
}

export const EXPIRY_LIMITS: ExpiryLimits = {
  absentMs: 10 * 60_000,
  unsentMs: 12 * 3_600_000,
  sentMs: 24 * 3_600_000,
};

export interface Deadline {
  event: "expired" | "interrupted";
  /** ms since the epoch, store clock. */
  at: number;
}

/**
 * When an operation stops waiting if its Editor does not come back; undefined once it has ended. Times in ms, store clock.
 *
 * `watchedSince`: since when the janitor has run without a pause. While the whole machine stands still (a suspended
 * laptop, a paused VM) no Editor can report, so after a pause every Editor gets the full absence time again.
 */
export function deadlineOf(
  record: OperationRecord,
  editorLastSeenAt: number,
  limits: ExpiryLimits,
  watchedSince = 0,
): Deadline | undefined {
  const soonest = watchedSince + limits.absentMs;
  switch (record.state) {
    case "queued": {
      const absent = Math.max(editorLastSeenAt, record.acceptedAt) + limits.absentMs;
      const unsent = record.acceptedAt + limits.unsentMs;
      return { event: "expired", at: Math.max(soonest, Math.min(absent, unsent)) };
    }
    case "dispatched":
    case "running": {
      const silent = (record.dispatchedAt ?? record.acceptedAt) + limits.sentMs;
      return { event: "interrupted", at: Math.max(soonest, silent) };
    }
    case "completed":
    case "failed":
    case "cancelled":
    case "interrupted":
    case "expired":
      return undefined;
  }
}

/** The record of an operation that has waited too long; undefined while it may still wait. Arguments as `deadlineOf`. */
export function expiryOf(
  record: OperationRecord,
  editorLastSeenAt: number,
  now: number,
  limits: ExpiryLimits,
  watchedSince = 0,
): Deadline["event"] | undefined {
  const deadline = deadlineOf(record, editorLastSeenAt, limits, watchedSince);
  return deadline && now >= deadline.at ? deadline.event : undefined;
}
