/**
 * decide(snapshot, request): what a submit becomes. The gateway reads a snapshot, decides here, and one script
 * applies the decision only if the hash's version is still the one of the snapshot.
 */
import { hasBegun, isFinal, type OperationRecord } from "./operation.js";
import {
  type EditorState,
  isSameRequest,
  type Moment,
  type ReplayOptions,
  type Requester,
  replays,
} from "./replay.js";
import { type Around, editorFor, isFor, type Target, type TargetProblem } from "./target.js";
import { isAlwaysRepeatable } from "./tool.js";

/** What the store knew of a hash at one moment. */
export interface Snapshot extends Moment {
  /** The log_id of the newest operation of the hash, also when its record's retention has ended. */
  newest: string | null;
  /** The records that may answer: of each Editor the newest, and the newest that the Editor began. */
  records: readonly OperationRecord[];
  /** The operation made by an earlier call with the same `force_new`. */
  forced?: OperationRecord | undefined;
}

/** What an operation is found by. */
export interface Sought extends Requester {
  fingerprint: string;
  target: Target;
  keyed: boolean;
  forceNew?: string | undefined;
}

export interface SubmitRequest extends Sought {
  hash: string;
  /** The hash of the operation that force_new names; undefined when the store does not know it for this principal. */
  forceNewHash?: string | undefined;
  /** What the Editor of a new operation is chosen by. */
  around: Around;
}

export type Decision =
  | { kind: "create"; editor: string; editorOpen: boolean; after: string | null; supersedes?: string }
  | Found
  | { kind: "refuse"; problem: TargetProblem }
  /** ▲8 Not an operation of this call; `newest` is, and is shown as a replay shows it. */
  | { kind: "refuse"; problem: { code: "FORCE_NEW_MISMATCH"; newest: OperationRecord | undefined } };

/** An operation that the call finds instead of creating one; a key that names another call is refused. */
export type Found =
  | { kind: "join"; record: OperationRecord }
  | { kind: "replay"; record: OperationRecord }
  | { kind: "refuse"; problem: { code: "IDEMPOTENCY_CONFLICT" } };

/** Pure; the caller applies the decision atomically or asks again with a new snapshot. */
export function decide(snapshot: Snapshot, request: SubmitRequest, options?: ReplayOptions): Decision {
  const found = lookUp(snapshot, request, options);
  if (found?.kind === "refuse") return found;
  if (request.forceNew !== undefined && request.forceNewHash !== request.hash) {
    const meant = candidates(snapshot.records, request.target);
    // As a replay does: what never began is passed over, where something did.
    const newest = meant.find((record) => !isPassedOver(record)) ?? meant[0];
    return { kind: "refuse", problem: { code: "FORCE_NEW_MISMATCH", newest } };
  }
  if (found) return found;
  const editor = editorFor(request.target, request.around);
  if (typeof editor !== "string") return { kind: "refuse", problem: editor };
  return {
    kind: "create",
    editor,
    editorOpen: request.target.kind === "open",
    after: snapshot.newest,
    ...(request.forceNew === undefined ? {} : { supersedes: request.forceNew }),
  };
}

/** The half of the decision that needs no target: the operation that answers the call, if there is one (▲4). */
export function lookUp(snapshot: Snapshot, request: Sought, options?: ReplayOptions): Found | undefined {
  // ▲3 A key names one call for good.
  if (request.keyed && snapshot.records.some((record) => record.fingerprint !== request.fingerprint)) {
    return { kind: "refuse", problem: { code: "IDEMPOTENCY_CONFLICT" } };
  }
  const own = request.forceNew === undefined ? executionFor(snapshot.records, request) : undefined;
  if (own) return { kind: isFinal(own.state) ? "replay" : "join", record: own };
  // ▲8 A forced call is found by what it supersedes alone.
  const asked =
    request.forceNew === undefined
      ? candidates(snapshot.records, request.target)
      : [snapshot.forced].filter((record) => record !== undefined);
  for (const record of asked) {
    if (!isFinal(record.state) && joins(record, snapshot, request)) return { kind: "join", record };
    if (isFinal(record.state) && replays(record, request, snapshot, options))
      return { kind: "replay", record };
  }
  return undefined;
}

/**
 * ▲4 Of each Editor that the call may mean the newest operation, newest first. One that never began is followed by the
 * one before it, and one that another operation answers for is left out: that one is among the records.
 */
function candidates(records: readonly OperationRecord[], target: Target): OperationRecord[] {
  const meant = records
    .filter((record) => record.executedAs === undefined)
    .filter((record) => isFor(target, record.editor))
    .toSorted((a, b) => b.order - a.order || b.acceptedAt - a.acceptedAt);
  return meant.filter(
    (record, index) =>
      !meant.slice(0, index).some((newer) => newer.editor === record.editor && !isPassedOver(newer)),
  );
}

/** ▲5 What answers for the operation that this very request made, whatever has changed. */
function executionFor(records: readonly OperationRecord[], request: Sought): OperationRecord | undefined {
  const made = records.find((record) => record.executedAs !== undefined && isSameRequest(record, request));
  return made && records.find(({ logId }) => logId === made.executedAs);
}

/** Ended without having begun. */
function isPassedOver(record: OperationRecord): boolean {
  return isFinal(record.state) && !hasBegun(record);
}

/** ▲5 An operation in flight takes the call in, unless something that it should see was accepted in between. */
function joins(record: OperationRecord, { editors, incarnation }: Moment, request: Sought): boolean {
  const isForced = record.supersedes !== undefined && record.supersedes === request.forceNew;
  if (record.effect === "mutating" || isSameRequest(record, request)) return true;
  // Its outcome will be what is left of it, which is not what this call asks for.
  if (record.cancel) return false;
  if (record.effect === "repeatable" && (record.keyed || isForced)) return true;
  // ▲6 It may have ended and been told before the store lost that; not a restored one that the Editor says is running.
  if (record.incarnation !== incarnation || (record.rebuilt && record.state !== "running")) return false;
  const editor = editors.find(({ id }) => id === record.editor);
  if (!editor) return false;
  // A restored one was counted when it came back: its place among the changes is where it was accepted.
  if (record.rebuilt)
    return isAlwaysRepeatable(record.tool) && changedNothingSince(editor, record.acceptedAt);
  // Others that change the Editor meanwhile do not keep a retry from finding its tests; its own caller does.
  if (isAlwaysRepeatable(record.tool)) return (editor.callerMutationSeq ?? 0) <= record.mutationSeq;
  return editor.mutationSeq === record.mutationSeq;
}

/** What an older version noted without its time may be later. */
function changedNothingSince(
  { callerMutationSeq, callerChangedAt }: EditorState,
  acceptedAt: number,
): boolean {
  if (callerChangedAt === undefined) return callerMutationSeq === undefined;
  return callerChangedAt <= acceptedAt;
}
