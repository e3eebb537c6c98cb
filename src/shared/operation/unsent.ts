/**
 * Store incarnation (▲13): may a waiting operation be called unsent? After the store was restored from an older copy,
 * an operation that it shows as queued may have been sent, run and acknowledged; only the Editor's ledger knows. Ending
 * it as never begun would let the same call run a second time, so it is not ended while that Editor is missing.
 */
import { isWaiting, next, type OperationRecord } from "./operation.js";

/** What is known of the store's losses; `KnownEditors` is one. */
export interface StoreLosses {
  /** The Editors that were known before the last loss and have not been back since. */
  missing: readonly string[];
  /** The store's incarnation when it was asked. An end that relies on this is written in that incarnation only. */
  incarnation: string;
}

/** `sentIn` when only the ledger says that it was sent: no session can be named, so it is never sent without asking. */
const UNKNOWN_SESSION = "unknown";

/** False if the session is unknown: then no session can be called a different one. */
export function isSessionKnown({ sentIn }: OperationRecord): boolean {
  return sentIn !== UNKNOWN_SESSION;
}

/**
 * An operation accepted in the present incarnation is recorded completely: nothing was lost since. One of a pool may have been
 * taken by any Editor.
 */
export function isSurelyUnsent(record: OperationRecord, { missing, incarnation }: StoreLosses): boolean {
  if (!isWaiting(record.state)) return false;
  if (record.incarnation === incarnation) return true;
  return record.pool === undefined ? !missing.includes(record.editor) : missing.length === 0;
}

/** The record marked as sent at an unknown time; undefined if the store knows that it was sent, or how it ended. */
export function markAsSent(record: OperationRecord): OperationRecord | undefined {
  const state = next(record.state, "claimed");
  return state && { ...record, state, sentIn: UNKNOWN_SESSION };
}

/**
 * Is it of a pool, and from before a loss of the store? Then the pool may have had it back, and another Editor begun it, in writes that
 * are lost: it is neither claimed nor sent until all that the Editors know is imported.
 */
export function isFromBeforeLoss({ pool, incarnation }: OperationRecord, present: string): boolean {
  return pool !== undefined && incarnation !== present;
}
