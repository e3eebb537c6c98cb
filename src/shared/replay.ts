/** When a finished operation still answers an identical call (▲6, ▲7, ▲9), and when the call is a new wish. */
import { type Caller, hasBegun, type OperationRecord } from "./operation.js";
import type { RpcId } from "./rpc.js";

/** Who sends this call, as far as a replay depends on it. */
export interface Requester {
  /** null: a stateless request; nothing can ever be proven to have reached its caller. */
  caller: Caller | null;
  requestId: RpcId | null;
}

export interface ReplayOptions {
  /** How long a delivered outcome goes on answering callers that did not confirm it, ms. */
  replayWindowMs: number;
  /** A request answered within this time was not given up by its client: SDK clients wait far longer, ms. */
  quickAnswerMs: number;
}

export const REPLAY_DEFAULTS: ReplayOptions = { replayWindowMs: 15 * 60_000, quickAnswerMs: 10_000 };

/**
 * Does a finished operation answer this identical call? True: replay it. False: the call is a new wish and runs.
 * In doubt it replays: a stale answer says that it is one, a second build does not ask.
 */
export function replays(
  record: OperationRecord,
  request: Requester & { forceNew?: string | undefined },
  now: number,
  options: ReplayOptions = REPLAY_DEFAULTS,
): boolean {
  // ▲8 The same forced call again is the same operation, as a key is. Only what never began may be wished anew.
  const isIdentity =
    record.keyed || (record.supersedes !== undefined && record.supersedes === request.forceNew);
  // ▲6 Reads and idempotent tools: running again is what the caller wants, and harmless.
  if (record.effect !== "mutating" && !isIdentity) return false;
  if (!hasBegun(record)) return !isNewerRequest(record, request);
  if (isIdentity) return true;
  // ▲9 Unknown stays unknown until a person or a program says by force_new that it may run again.
  if (record.state === "interrupted") return true;
  if (isConfirmed(record, request, options) && isNewerRequest(record, request)) return false;
  // ▲6 Nobody was ever told: whoever asks is still waiting for this outcome.
  if (record.firstDeliveredAt === undefined) return true;
  const window = Math.max(options.replayWindowMs, 2 * (record.executionMs ?? 0));
  return now < record.firstDeliveredAt + window;
}

/** ▲7 Has this caller proven that it read the outcome? */
function isConfirmed(record: OperationRecord, request: Requester, options: ReplayOptions): boolean {
  const delivery = request.caller ? record.deliveries[request.caller.id] : undefined;
  if (!delivery || !request.caller) return false;
  if (delivery.confirmed) return true;
  // An identical call on stdio proves nothing, unless its client cannot have run into a timeout of its own yet.
  return request.caller.transport === "stdio" && delivery.tookMs < options.quickAnswerMs;
}

/**
 * ▲7 Only a request that its caller made after the creating and the answered one can be a new wish: a late copy
 * of an older request has a lower JSON-RPC id. A caller that neither created nor was answered proves nothing.
 */
function isNewerRequest(record: OperationRecord, request: Requester): boolean {
  const { caller, requestId } = request;
  if (caller === null || typeof requestId !== "number") return false;
  const created = record.createdBy.caller === caller.id ? record.createdBy.requestId : undefined;
  const answered = record.deliveries[caller.id]?.requestId;
  const earlier = [created, answered].filter((id) => id !== undefined);
  return earlier.length > 0 && earlier.every((id) => typeof id === "number" && requestId > id);
}
