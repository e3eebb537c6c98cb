/** What happened to an operation, as those who follow it see it. Pure. */
import type { OperationRecord, State } from "./operation.js";

/**
 * - `accepted`         it has a record, and waits in a queue.
 * - `sent`             its Editor's owner claimed it; bytes may be on the way.
 * - `returned`         the Editor has not got it; it waits again.
 * - `started`          the Editor reported the start.
 * - `cancel_requested` somebody asked to cancel it while it was with the Editor.
 * - `restored`         the store had lost it, and the Editor's ledger knew it (▲10 d).
 * - a final state      it ended so.
 */
export type OperationEventName =
  | "accepted"
  | "sent"
  | "returned"
  | "started"
  | "cancel_requested"
  | "restored"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted"
  | "expired";

const ENTERED: Readonly<Record<State, OperationEventName>> = {
  queued: "returned",
  dispatched: "sent",
  running: "started",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted",
  expired: "expired",
};

/** Undefined: nothing that is worth an event, such as a further caller or a delivery. */
export function eventOfChange(
  before: OperationRecord,
  after: OperationRecord,
): OperationEventName | undefined {
  const { state } = after;
  if (state !== before.state) return ENTERED[state];
  return after.cancel && !before.cancel ? "cancel_requested" : undefined;
}
