/** When an ended operation answers an identical call (▲6, ▲7, ▲9), and when the call is a new one that runs. */
import {
  type Caller,
  type Delivery,
  type EditorMark,
  type EndMark,
  hasBegun,
  type OperationRecord,
} from "./operation.js";
import type { RpcId } from "./rpc.js";

/** Who sends this call, as far as a replay depends on it. */
export interface Requester {
  /** null: a stateless request; nothing can ever be proven to have reached its caller. */
  caller: Caller | null;
  /** Orders the caller's requests: over HTTP the JSON-RPC id, over stdio the number of its arrival. */
  requestId: RpcId | null;
}

export interface ReplayOptions {
  /** How long a delivered outcome goes on answering callers that did not prove to have read it, ms. */
  replayWindowMs: number;
  /** A request answered within this time was not given up by its client: none gives up sooner, ms. */
  quickAnswerMs: number;
}

export const REPLAY_DEFAULTS: ReplayOptions = { replayWindowMs: 15 * 60_000, quickAnswerMs: 10_000 };

/** An Editor as it is known now. */
export interface EditorState {
  id: string;
  /** Operations accepted for it that count as changes (▲5). */
  mutationSeq: number;
  /** That count at the last such operation of the asking caller (stateless: its principal); absent: it has none. */
  callerMutationSeq?: number | undefined;
  /** When that one was accepted, ms, store clock; absent: an older version of the store did not note it. */
  callerChangedAt?: number | undefined;
  /** Where it stood when it was last heard; absent: its bridge does not say. */
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
 * Does an ended operation answer this identical call? False: as far as this operation goes, the call runs. What is
 * repeatable has no effect that a second run could double, so doubt runs; what is mutating has, so doubt replays.
 */
export function replays(
  record: OperationRecord,
  request: Requester & { forceNew?: string | undefined },
  moment: Moment,
  options: ReplayOptions = REPLAY_DEFAULTS,
): boolean {
  if (record.effect === "read_only") return isSameRequest(record, request);
  if (isSameRequest(record, request)) return true;
  if (!hasBegun(record)) return record.effect === "mutating" && isOlderRequest(record, request);
  // ▲6 A key, and ▲8 the operation that a forced call supersedes, are the identity of one operation.
  if (record.keyed || (record.supersedes !== undefined && record.supersedes === request.forceNew))
    return true;
  return record.effect === "repeatable"
    ? repeatableReplays(record, moment)
    : mutatingReplays(record, request, moment, options);
}

/** ▲6 Until it was told to anybody, and only while nothing is known to have changed since its end. */
function repeatableReplays(record: OperationRecord, { incarnation, editors }: Moment): boolean {
  if (record.state !== "completed" && record.state !== "failed") return false;
  if (record.rebuilt || record.incarnation !== incarnation) return false;
  if (record.firstDeliveredAt !== undefined) return false;
  const editor = editors.find(({ id }) => id === record.editor);
  return (
    editor !== undefined &&
    editor.mutationSeq === record.mutationSeq &&
    stoodStill(record.editorMark, editor.mark)
  );
}

function mutatingReplays(
  record: OperationRecord,
  request: Requester,
  { now, incarnation }: Moment,
  options: ReplayOptions,
): boolean {
  // ▲9 Unknown stays unknown until a person or a program says by force_new that it may run again.
  if (record.state === "interrupted") return true;
  // ▲7 After a change of incarnation no delivery and no proof from before counts.
  const counts = record.deliveredIn === incarnation;
  const delivery = counts && request.caller ? record.deliveries[request.caller.id] : undefined;
  if (delivery && isProven(delivery, request.caller, options) && isLaterRequest(record, delivery, request)) {
    return false;
  }
  // ▲6 Nobody was told: the caller that asks is still waiting for this outcome.
  if (!counts || record.firstDeliveredAt === undefined) return true;
  const window = Math.max(options.replayWindowMs, 2 * (record.executionMs ?? 0));
  if (now < record.firstDeliveredAt + window) return true;
  return delivery === undefined && hasAsked(record, request.caller);
}

/**
 * ▲6 Is the Editor where it stood when the operation ended, as far as it says? Counters grow: one that is lower was
 * told before the end was. Unknown counts as changed.
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

/** ▲7 Did the caller surely read the answer? Naming the log_id proves it; over stdio also any message after a quick answer. */
function isProven(delivery: Delivery, caller: Caller | null, { quickAnswerMs }: ReplayOptions): boolean {
  return delivery.confirmed || (caller?.transport === "stdio" && delivery.tookMs < quickAnswerMs);
}

/** ▲7 Only a request that its caller sent after the creating and the answered one can be a new call. */
function isLaterRequest(record: OperationRecord, delivery: Delivery, request: Requester): boolean {
  const { caller, requestId } = record.createdBy;
  const answered = delivery.upTo ?? delivery.requestId;
  const earlier = caller === request.caller?.id ? [requestId, answered] : [answered];
  return earlier.every((id) => isBefore(id, request.requestId));
}

/** ▲5 The very request that created the operation, sent again by a proxy, or by a client after a broken stream. */
export function isSameRequest({ createdBy }: OperationRecord, { caller, requestId }: Requester): boolean {
  return (
    caller !== null &&
    requestId !== null &&
    createdBy.caller === caller.id &&
    createdBy.requestId === requestId
  );
}

/** A copy of a request from before the creating one that comes late; it must not run what was cancelled since. */
function isOlderRequest({ createdBy }: OperationRecord, { caller, requestId }: Requester): boolean {
  return caller !== null && createdBy.caller === caller.id && isBefore(requestId, createdBy.requestId);
}

function isBefore(id: RpcId | null, other: RpcId | null): boolean {
  return typeof id === "number" && typeof other === "number" && id < other;
}

/** ▲6 A caller that asked for the outcome and was not told it is still waiting for it. */
function hasAsked({ createdBy, askedBy }: OperationRecord, caller: Caller | null): boolean {
  return caller !== null && (createdBy.caller === caller.id || (askedBy ?? []).includes(caller.id));
}
