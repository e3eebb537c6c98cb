/** ▲15 Nothing waits for ever. */
import type { OperationRecord } from "./operation.js";

export interface WaitLimits {
  /** An operation that was not sent expires once its Editor was continuously away for this long, ms. */
  absentMs: number;
  /** … or this long after it was accepted, ms. */
  unsentMs: number;
  /** An operation that was sent is called interrupted after this long without an outcome, ms. */
  sentMs: number;
}

export const WAIT_LIMITS: WaitLimits = {
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
 * When an operation stops waiting if its Editor is not seen again; undefined once it has ended. Times in ms, store clock.
 *
 * `watchedSince`: since when sweeping has gone on without a pause. While everything stands still (a suspended laptop, a
 * paused VM) no Editor can show that it is there, so after a pause everybody has one full absence time anew.
 */
export function deadlineOf(
  record: OperationRecord,
  editorLastSeenAt: number,
  limits: WaitLimits,
  watchedSince = 0,
): Deadline | undefined {
  const soonest = watchedSince + limits.absentMs;
  switch (record.state) {
    case "accepted":
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
    default:
      return undefined;
  }
}

/** What has become of an operation that waits too long; undefined: it may go on waiting. As `deadlineOf`. */
export function expiryOf(
  record: OperationRecord,
  editorLastSeenAt: number,
  now: number,
  limits: WaitLimits,
  watchedSince = 0,
): Deadline["event"] | undefined {
  const deadline = deadlineOf(record, editorLastSeenAt, limits, watchedSince);
  return deadline && now >= deadline.at ? deadline.event : undefined;
}
