/** What the script in apply.ts has to know of a record that it writes. */
import { hasBegun, isFinal, type OperationRecord, type State } from "../operation.js";

/** How the script notes that the Editor began it; a restored one that others followed takes nobody's place. */
export function beganAs(record: OperationRecord): "began" | "began_earlier" | "" {
  // A call that comes before its outcome is collected must find it, also behind what was made meanwhile.
  if (!hasBegun(record)) return record.rebuilt && !isFinal(record.state) ? "began_earlier" : "";
  return record.rebuilt && record.order === 0 ? "began_earlier" : "began";
}

/** How long it took, at the moment when that is known; of use to guess how long the tool takes next time. */
export function tookBetween(
  before: OperationRecord,
  { state, executionMs }: OperationRecord,
): number | undefined {
  return state === "completed" && before.state !== state ? executionMs : undefined;
}

/** What the script has to know of a state. */
export function phaseOf(state: State): "waiting" | "sent" | "final" {
  if (isFinal(state)) return "final";
  return state === "accepted" || state === "queued" ? "waiting" : "sent";
}

/**
 * The store's time as this process knows it may be ahead by a round trip, and by less the next time: what happens to an
 * operation is never dated before what happened to it earlier.
 */
export function timeAfter(
  { acceptedAt, dispatchedAt = 0, startedAt = 0 }: OperationRecord,
  now: number,
): number {
  return Math.max(now, acceptedAt, dispatchedAt, startedAt);
}
