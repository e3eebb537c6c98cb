/**
 * ▲13 May an operation that waits be called unsent? The store may be an older copy of itself: then what it has in the
 * queue may have been sent, have run and be acknowledged since, and only the Editor's ledger knows. Whoever ends it as
 * never begun lets the same call run a second time, so as long as that Editor is missed nobody says so.
 */
import { nextAfter, type OperationRecord } from "./operation.js";

/** What is known of the store's losses; `KnownEditors` is one. */
export interface LossKnown {
  /** The Editors that were known before the last loss, and have not been back since. */
  missing: readonly string[];
  /** Of the store, when it was asked. An end that rests on this is written in the same one only. */
  incarnation: string;
}

/** `sentIn` of what only the ledger says was sent: in no session that could be named, and so never sent without asking. */
const UNKNOWN_SESSION = "unknown";

/** Which session has it is not known, so none can be said to be another one. */
export function isSessionKnown({ sentIn }: OperationRecord): boolean {
  return sentIn !== UNKNOWN_SESSION;
}

/** What was accepted in the present incarnation is as the store has it: nothing was lost since. */
export function isSurelyUnsent(record: OperationRecord, { missing, incarnation }: LossKnown): boolean {
  if (record.state !== "accepted" && record.state !== "queued") return false;
  return record.incarnation === incarnation || !missing.includes(record.editor);
}

/** The record, sent at a time that nobody knows; undefined where the store knows that it was, or how it ended. */
export function sentAfterAll(record: OperationRecord): OperationRecord | undefined {
  const state = nextAfter(record.state, record.state === "accepted" ? ["job_added", "claimed"] : ["claimed"]);
  return state && { ...record, state, sentIn: UNKNOWN_SESSION };
}
