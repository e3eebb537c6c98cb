/** When an ended operation answers an identical call (▲6, ▲7, ▲9), and when the call creates a new one. */

import type { RpcId } from "../wire/rpc.js";
import {
  type Caller,
  type Delivery,
  type EditorMark,
  type EndMark,
  mayHaveBegun,
  type OperationRecord,
} from "./operation.js";

/** The sender of this call, as far as a replay depends on it. */
export interface Requester {
  /** null: a stateless request; nothing can be proven to have reached its caller. */
  caller: Caller | null;
  /** Orders the caller's requests: over HTTP the JSON-RPC id, over stdio the number of its arrival. */
  requestId: RpcId | null;
  /** Over stdio, for a session that had another gateway before: the number of its first message here. */
  since?: number | undefined;
}

export interface ReplayOptions {
  /** How long a delivered outcome answers callers that have not proven to have read it, ms. */
  replayWindowMs: number;
  /** A request answered within this time was not given up: no client gives up sooner, ms. */
  quickAnswerMs: number;
}

export const REPLAY_DEFAULTS: ReplayOptions = { replayWindowMs: 15 * 60_000, quickAnswerMs: 10_000 };

/** An Editor as it is known now. */
export interface EditorState {
  id: string;
  /** The number of changes accepted for it (▲5). */
  mutationSeq: number;
  /** That count at the caller's last change (stateless: its principal's); absent: it made none. */
  callerMutationSeq?: number | undefined;
  /** When that change was accepted, ms, store clock; absent: an older version of the store did not record it. */
  callerChangedAt?: number | undefined;
  /** Where it stood in its last message; absent: its bridge does not say. */
  mark?: EditorMark | undefined;
}

/** What is known at the moment of the call. */
export interface Moment {
  /** ms since the epoch, store clock. */
  now: number;
  /** The store's incarnation (▲13). */
  incarnation: string;
  editors: readonly EditorState[];
}

/**
 * Does an ended operation answer this identical call? False: this operation does not keep the call from running. In
 * doubt, a repeatable operation runs again, because it has no effect to double; a mutating one is replayed.
 */
export function replays(
  record: OperationRecord,
  request: Requester & { forceNew?: string | undefined },
  moment: Moment,
  options: ReplayOptions = REPLAY_DEFAULTS,
): boolean {
  if (record.effect === "read_only") return isSameRequest(record, request);
  if (isSameRequest(record, request)) return true;
  if (!mayHaveBegun(record)) return record.effect === "mutating" && isOlderRequest(record, request);
  // Replay (▲6): a key, and (▲8) the superseded operation of a forced call, each identify one operation.
  if (record.keyed || (record.supersedes !== undefined && record.supersedes === request.forceNew))
    return true;
  return record.effect === "repeatable"
    ? repeatableReplays(record, moment)
    : mutatingReplays(record, request, moment, options);
}

/** Replay (▲6): only until it was first delivered, and while no change is known since its end. */
function repeatableReplays(record: OperationRecord, { incarnation, editors }: Moment): boolean {
  if (record.state !== "completed" && record.state !== "failed") return false;
  if (record.rebuilt || record.incarnation !== incarnation) return false;
  if (record.firstDeliveredAt !== undefined) return false;
  const editor = editors.find(({ id }) => id === record.editor);
  return (
    countsOf(record, editors).every(({ state, seq }) => state?.mutationSeq === seq) &&
    stoodStill(record.editorMark, editor?.mark)
  );
}

/**
 * Where a change counts that an operation has not seen (▲5): its Editor, and its pool, in which one may wait that no Editor has
 * taken yet. `state`: as it is now; `seq`: as it was.
 */
export function countsOf(
  { editor, pool, mutationSeq, poolSeq }: OperationRecord,
  states: readonly EditorState[],
): { state: EditorState | undefined; seq: number }[] {
  const stateOf = (id: string): EditorState | undefined => states.find((each) => each.id === id);
  const ofPool = pool === undefined || pool === editor ? [] : [{ state: stateOf(pool), seq: poolSeq ?? 0 }];
  return [{ state: stateOf(editor), seq: mutationSeq }, ...ofPool];
}

function mutatingReplays(
  record: OperationRecord,
  request: Requester,
  { now, incarnation }: Moment,
  options: ReplayOptions,
): boolean {
  // Unknown stays unknown (▲9): the outcome stays unknown until a caller allows another run with force_new.
  if (record.state === "interrupted") return true;
  // Confirmed delivery (▲7): deliveries and proofs from before a change of incarnation do not count.
  const counts = record.deliveredIn === incarnation;
  const delivery = counts && request.caller ? record.deliveries[request.caller.id] : undefined;
  if (delivery && isProven(delivery, request, options) && isLaterRequest(record, delivery, request)) {
    return false;
  }
  // Replay (▲6): it was never delivered: the caller is still waiting for this outcome.
  if (!counts || record.firstDeliveredAt === undefined) return true;
  const window = Math.max(options.replayWindowMs, 2 * (record.executionMs ?? 0));
  if (now < record.firstDeliveredAt + window) return true;
  return delivery === undefined && hasAsked(record, request.caller);
}

/** Confirmed delivery (▲7): has any caller proven, by naming its log_id, that it read this outcome? */
export function isConfirmed({ deliveredIn, deliveries }: OperationRecord, incarnation: string): boolean {
  return deliveredIn === incarnation && Object.values(deliveries).some(({ confirmed }) => confirmed);
}

/**
 * Replay (▲6): does the Editor stand where it stood when the operation ended, as far as it says? Counters only grow: a
 * lower one was reported before the end. Unknown counts as changed.
 */
function stoodStill(end: EndMark | undefined, now: EditorMark | undefined): boolean {
  if (!end || !now) return false;
  const reloads = end.reloadAnnounced ? 1 : 0;
  return (
    end.editorSessionId === now.editorSessionId &&
    now.assetCounter <= end.assetCounter &&
    now.generation <= end.generation + reloads
  );
}

/**
 * Confirmed delivery (▲7): has the caller provably read the answer? Naming the log_id proves it; over stdio, so does
 * any message after a quick answer of this gateway. What an earlier gateway of the session wrote may be lost.
 */
function isProven(
  { confirmed, tookMs, upTo = 0 }: Delivery,
  { caller, since = 0 }: Requester,
  { quickAnswerMs }: ReplayOptions,
): boolean {
  return confirmed || (caller?.transport === "stdio" && tookMs < quickAnswerMs && upTo >= since);
}

/**
 * Confirmed delivery (▲7): a request is a new call only if its caller sent it after both the creating and the answered
 * request.
 */
function isLaterRequest(record: OperationRecord, delivery: Delivery, request: Requester): boolean {
  const { caller, requestId } = record.createdBy;
  const answered = delivery.upTo ?? delivery.requestId;
  const earlier = caller === request.caller?.id ? [requestId, answered] : [answered];
  return earlier.every((id) => isBefore(id, request.requestId));
}

/**
 * Join (▲5): is this the very request that created the operation, resent by a proxy, or by a client after a broken
 * stream?
 */
export function isSameRequest({ createdBy }: OperationRecord, { caller, requestId }: Requester): boolean {
  return (
    caller !== null &&
    requestId !== null &&
    createdBy.caller === caller.id &&
    createdBy.requestId === requestId
  );
}

/** A late copy of a request older than the creating one; it must not run what was cancelled since. */
function isOlderRequest({ createdBy }: OperationRecord, { caller, requestId }: Requester): boolean {
  return caller !== null && createdBy.caller === caller.id && isBefore(requestId, createdBy.requestId);
}

function isBefore(id: RpcId | null, other: RpcId | null): boolean {
  return typeof id === "number" && typeof other === "number" && id < other;
}

/** Replay (▲6): a caller that asked for the outcome and has not received it is still waiting for it. */
function hasAsked({ createdBy, askedBy }: OperationRecord, caller: Caller | null): boolean {
  return caller !== null && (createdBy.caller === caller.id || (askedBy ?? []).includes(caller.id));
}
