/** What the scripts need to know of a record that they write. */
import { isFinal, mayHaveBegun, type OperationRecord } from "../../operation/operation.js";

/** How the script records that the Editor began it; a restored record does not displace later ones. */
export function beganAs(record: OperationRecord): "began" | "began_earlier" | "" {
  // A call that comes before its outcome is collected must find it, even behind later operations.
  if (!mayHaveBegun(record)) return record.rebuilt && !isFinal(record.state) ? "began_earlier" : "";
  return record.rebuilt && record.order === 0 ? "began_earlier" : "began";
}

/** Choice of target (▲4): the targets under which calls find it in its chain: its Editor, and its pool. */
export function targetsOf({ editor, pool = editor }: OperationRecord): string[] {
  return [...new Set([editor, pool])];
}

/** How long it took, at the moment when that is known; used to estimate the tool's next run. */
export function tookBetween(
  before: OperationRecord,
  { state, executionMs }: OperationRecord,
): number | undefined {
  return state === "completed" && before.state !== state ? executionMs : undefined;
}

/**
 * This process's copy of the store's time is late by up to a round trip, and now and then by more than before. So an event
 * of an operation is never dated before an earlier one.
 */
export function timeAfter(
  { acceptedAt, dispatchedAt = 0, startedAt = 0 }: OperationRecord,
  now: number,
): number {
  return Math.max(now, acceptedAt, dispatchedAt, startedAt);
}
