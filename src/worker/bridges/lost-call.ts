/** What is known of a call whose answer was lost, to a bridge that keeps no ledger. */
import { unknown } from "../../shared/wire/plain.js";
import type { Outcome } from "../../shared/wire/wire.js";
import { ConnectionLost, FrameTooLarge } from "../transport/disconnect.js";

/** The answer will not come, or cannot be read. */
export function afterLoss(error: unknown, startedAt: number): Outcome {
  const now = Date.now();
  const unsent = error instanceof ConnectionLost ? !error.sent : isOutgoing(error);
  if (unsent) {
    const message = `Not sent: ${(error as Error).message}.`;
    return { status: "failed", error: { type: "not_sent", message }, endedAt: now };
  }
  const after = `${((now - startedAt) / 1000).toFixed(1)} s after it was sent`;
  const what =
    error instanceof ConnectionLost
      ? `The connection to the Editor ended (${error.reason}) ${after}.`
      : `Its answer, ${after}, could not be taken: ${(error as Error).message}.`;
  return unknown(
    `${what} Its bridge keeps no ledger, so nobody can tell whether, or how far, it ran.`,
    startedAt,
    now,
  );
}

function isOutgoing(error: unknown): boolean {
  return error instanceof FrameTooLarge && error.direction === "outgoing";
}
