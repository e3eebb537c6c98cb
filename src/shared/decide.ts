/**
 * decide(snapshot, request): what a submit becomes. The gateway reads a snapshot, decides here, and one script
 * applies the decision only if the hash's version is still the one of the snapshot.
 */
import { isFinal, type OperationRecord } from "./operation.js";
import { type ReplayOptions, type Requester, replays } from "./replay.js";
import { type Around, editorFor, isFor, type Target, type TargetProblem } from "./target.js";
import type { Effect } from "./tool.js";

/** What the store knew of a hash at one moment. */
export interface Snapshot {
  /** ms since the epoch, store clock. */
  now: number;
  /** The log_id of the newest operation of the hash, also when its record's retention has ended. */
  newest: string | null;
  /** The records that may answer: the newest of all, of each Editor, and of those with an open target. */
  records: readonly OperationRecord[];
  /** The operation made by an earlier call with the same `force_new`. */
  forced?: OperationRecord | undefined;
  /** Every Editor ever seen, with the number of mutating operations accepted for it. */
  editors: readonly { id: string; mutationSeq: number }[];
}

export interface SubmitRequest extends Requester {
  tool: string;
  effect: Effect;
  fingerprint: string;
  target: Target;
  /** What the Editor of a new operation is chosen by. */
  around: Around;
  keyed: boolean;
  forceNew?: string | undefined;
  /** The hash of the operation that force_new names; undefined when the store does not know it for this principal. */
  forceNewHash?: string | undefined;
  hash: string;
}

export type Decision =
  | { kind: "create"; editor: string; editorOpen: boolean; after: string | null; supersedes?: string }
  | { kind: "join"; record: OperationRecord }
  | { kind: "replay"; record: OperationRecord }
  | { kind: "refuse"; problem: TargetProblem | { code: "IDEMPOTENCY_CONFLICT" | "FORCE_NEW_MISMATCH" } };

/** Pure; the caller applies the decision atomically or asks again with a new snapshot. */
export function decide(snapshot: Snapshot, request: SubmitRequest, options?: ReplayOptions): Decision {
  // ▲3 A key names one call for good.
  if (request.keyed && snapshot.records.some((record) => record.fingerprint !== request.fingerprint)) {
    return { kind: "refuse", problem: { code: "IDEMPOTENCY_CONFLICT" } };
  }
  if (request.forceNewHash !== undefined && request.forceNewHash !== request.hash) {
    return { kind: "refuse", problem: { code: "FORCE_NEW_MISMATCH" } };
  }
  const candidate = request.forceNew === undefined ? newestFor(snapshot, request.target) : snapshot.forced;
  if (candidate && !isFinal(candidate.state) && joins(candidate, snapshot, request)) {
    return { kind: "join", record: candidate };
  }
  if (candidate && isFinal(candidate.state) && replays(candidate, request, snapshot.now, options)) {
    return { kind: "replay", record: candidate };
  }
  const editor = editorFor(request.target, request.around);
  if (typeof editor !== "string") return { kind: "refuse", problem: editor };
  return {
    kind: "create",
    editor,
    editorOpen: request.target.kind === "open",
    ...linksOf(snapshot, request),
  };
}

/** ▲4 The newest operation for the same Editor, or where either side left the Editor open. */
function newestFor(snapshot: Snapshot, target: Target): OperationRecord | undefined {
  return snapshot.records
    .filter((record) => record.editorOpen || isFor(target, record.editor))
    .reduce<OperationRecord | undefined>((a, b) => (a === undefined || b.order > a.order ? b : a), undefined);
}

/** ▲5 An operation in flight takes the call in, unless something that it should see was accepted in between. */
function joins(record: OperationRecord, snapshot: Snapshot, request: SubmitRequest): boolean {
  const isIdentity = record.keyed || request.forceNew !== undefined;
  if (record.effect === "mutating" || isIdentity) return true;
  const editor = snapshot.editors.find(({ id }) => id === record.editor);
  return editor !== undefined && editor.mutationSeq === record.mutationSeq;
}

/** ▲10 `after`, frozen at creation. ▲8 A log_id that the store does not know is kept as `after` as it stands. */
function linksOf(snapshot: Snapshot, request: SubmitRequest): { after: string | null; supersedes?: string } {
  if (request.forceNew === undefined) return { after: snapshot.newest };
  const after = request.forceNewHash === undefined ? request.forceNew : snapshot.newest;
  return { after, supersedes: request.forceNew };
}
