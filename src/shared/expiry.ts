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

/** What has become of an operation that waits too long; undefined: it may go on waiting. Times in ms, store clock. */
export function expiryOf(
  record: OperationRecord,
  editorLastSeenAt: number,
  now: number,
  limits: WaitLimits,
): "expired" | "interrupted" | undefined {
  switch (record.state) {
    case "accepted":
    case "queued": {
      const absentSince = Math.max(editorLastSeenAt, record.acceptedAt);
      return now - absentSince >= limits.absentMs || now - record.acceptedAt >= limits.unsentMs
        ? "expired"
        : undefined;
    }
    case "dispatched":
    case "running":
      return now - (record.dispatchedAt ?? record.acceptedAt) >= limits.sentMs ? "interrupted" : undefined;
    default:
      return undefined;
  }
}
