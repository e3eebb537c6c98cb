/**
 * decide(snapshot, request): what a submit becomes. The gateway reads a snapshot and decides here. One script then
 * applies the decision, only if the version of the hash is still the one in the snapshot.
 */

import { editorFor, isFor, type Target, type TargetContext, type TargetProblem } from "../editors/target.js";
import { isAlwaysRepeatable } from "../tools/tool.js";
import {
  countsOf,
  type EditorState,
  type Moment,
  REPLAY_DEFAULTS,
  type ReplayOptions,
  runsAgain,
  windowOf,
} from "./again.js";
import { askingOf, stillOwed } from "./askings.js";
import { type Asking, type Caller, isFinal, mayHaveBegun, type OperationRecord } from "./operation.js";

/** What the store knew of a hash at one moment. */
export interface Snapshot extends Moment {
  /** The log_id of the newest operation of the hash; null if its record is not stored (any more). */
  newest: string | null;
  /** The records that may answer: for each Editor the newest one, and the newest one that the Editor began. */
  records: readonly OperationRecord[];
  /** The operation made by an earlier call with the same `force_new`. */
  forced?: OperationRecord | undefined;
}

/** The parts of a call that identify its operation. */
export interface Sought {
  caller: Caller;
  fingerprint: string;
  target: Target;
  keyed: boolean;
  forceNew?: string | undefined;
}

export interface SubmitRequest extends Sought {
  hash: string;
  /** The hash of the operation that force_new names; undefined if the store has none for this principal. */
  forceNewHash?: string | undefined;
  /** What the Editor of a new operation is chosen from. */
  targetContext: TargetContext;
}

export type Decision =
  | {
      kind: "create";
      editor: string;
      pool?: string;
      editorOpen: boolean;
      after: string | null;
      supersedes?: string;
      /** Who is owed the outcome that it comes after, and this one with it. */
      askers?: Record<string, Asking>;
    }
  | Lookup
  | { kind: "refuse"; problem: TargetProblem }
  /**
   * Named re-run (▲8): force_new names an operation of another call; `newest` is this call's own, shown as in a replay.
   */
  | { kind: "refuse"; problem: { code: "FORCE_NEW_MISMATCH"; newest: OperationRecord | undefined } };

/** The operation that the call finds instead of creating one, or a refusal: the key already names another call. */
export type Lookup =
  | { kind: "join"; record: OperationRecord }
  | { kind: "replay"; record: OperationRecord }
  | { kind: "refuse"; problem: { code: "IDEMPOTENCY_CONFLICT" } };

/** Pure. The caller applies the decision atomically, or decides again with a new snapshot. */
export function decide(snapshot: Snapshot, request: SubmitRequest, options?: ReplayOptions): Decision {
  const found = lookUp(snapshot, request, options);
  if (found?.kind === "refuse") return found;
  if (request.forceNew !== undefined && request.forceNewHash !== request.hash) {
    const meant = candidates(snapshot.records, request);
    // As in a replay: an operation that never began is passed over in favour of one that did.
    const newest = meant.find((record) => !isPassedOver(record)) ?? meant[0];
    return { kind: "refuse", problem: { code: "FORCE_NEW_MISMATCH", newest } };
  }
  if (found) return found;
  const editor = editorFor(request.target, request.targetContext);
  if (typeof editor !== "string") return { kind: "refuse", problem: editor };
  const askers = owedBefore(snapshot, request, options);
  return {
    kind: "create",
    editor,
    ...(request.target.kind === "pool" ? { pool: request.target.pool } : {}),
    editorOpen: request.target.kind === "open",
    after: snapshot.newest,
    ...(request.forceNew === undefined ? {} : { supersedes: request.forceNew }),
    ...(Object.keys(askers).length === 0 ? {} : { askers }),
  };
}

/** Owed: its caller runs again what others have asked for as well and not got yet. */
function owedBefore(
  { records, now }: Snapshot,
  sought: Sought,
  options: ReplayOptions = REPLAY_DEFAULTS,
): Record<string, Asking> {
  const before = candidates(records, sought).find((record) => !isPassedOver(record));
  if (before?.effect !== "mutating" || before.keyed) return {};
  return stillOwed(before, sought.caller, { now, windowMs: windowOf(before, options) });
}

/** The half of the decision that needs no target: the operation that answers the call, if any (▲4). */
export function lookUp(snapshot: Snapshot, request: Sought, options?: ReplayOptions): Lookup | undefined {
  // Idempotency hash (▲3): a key names one call permanently.
  if (request.keyed && snapshot.records.some((record) => record.fingerprint !== request.fingerprint)) {
    return { kind: "refuse", problem: { code: "IDEMPOTENCY_CONFLICT" } };
  }
  // Named re-run (▲8): a forced call is found only by the operation it supersedes.
  const asked =
    request.forceNew === undefined
      ? candidates(snapshot.records, request)
      : [snapshot.forced].filter((record) => record !== undefined);
  for (const record of asked) {
    if (!isFinal(record.state) && joins(record, snapshot, request)) return { kind: "join", record };
    if (isFinal(record.state) && !runsAgain(record, request, snapshot, options))
      return { kind: "replay", record };
  }
  return undefined;
}

/**
 * Choice of target (▲4): the newest operation of each Editor (or of the pool) that the call may mean, newest first. An operation that
 * never began is followed by its predecessor. An operation that another one answers for is left out: the other one is
 * among the records.
 */
function candidates(records: readonly OperationRecord[], sought: Sought): OperationRecord[] {
  const { target } = sought;
  const meant = records
    .filter((record) => !isElsewhere(record, sought))
    .filter((record) => record.executedAs === undefined)
    .filter((record) => isFor(target, record))
    .toSorted((a, b) => b.order - a.order || b.acceptedAt - a.acceptedAt);
  return meant.filter(
    (record, index) =>
      !meant
        .slice(0, index)
        .some((newer) => runsIn(newer, target) === runsIn(record, target) && !isPassedOver(newer)),
  );
}

/**
 * Choice of target (▲4): what ran in another project than the one that its caller works in answers a call without `editor` only
 * under its key, or if this very caller has asked for it. The runs of a command line are one caller in every folder, so that says nothing.
 */
function isElsewhere(record: OperationRecord, { target, caller, keyed }: Sought): boolean {
  if (keyed || target.kind !== "open" || !target.elsewhere?.includes(record.editor)) return false;
  return caller.readsByName === true || askingOf(record, caller) === undefined;
}

/** Choice of target (▲4): to a call that names a pool, the pool's Editors are one. */
function runsIn({ editor }: OperationRecord, target: Target): string {
  return target.kind === "pool" ? target.pool : editor;
}

/** Ended without having begun. */
function isPassedOver(record: OperationRecord): boolean {
  return isFinal(record.state) && !mayHaveBegun(record);
}

/** Join (▲5): a call joins an operation in flight unless a change that the call should see was accepted in between. */
function joins(record: OperationRecord, { editors, incarnation }: Moment, request: Sought): boolean {
  const isForced = record.supersedes !== undefined && record.supersedes === request.forceNew;
  if (record.effect === "mutating") return true;
  if (record.effect === "repeatable" && (record.keyed || isForced)) return true;
  // A cancelled operation ends with a partial outcome, which is not what this call asks for.
  if (record.cancel) return false;
  // Its caller cancelled its own request for this run: it wants another one.
  if (record.givenUpBy?.includes(request.caller.id)) return false;
  // Replay (▲6): it may have ended and been delivered before the store lost that, unless the Editor says it runs.
  if (record.incarnation !== incarnation || (record.rebuilt && record.state !== "running")) return false;
  // A restored operation was counted when it was restored: its place among the changes is its acceptance time.
  if (record.rebuilt) {
    const changedNothing = (id: string): boolean => {
      const target = editors.find((each) => each.id === id);
      return target !== undefined && changedNothingSince(target, record.acceptedAt);
    };
    const targets = [record.editor, record.pool ?? record.editor];
    return isAlwaysRepeatable(record.tool) && targets.every(changedNothing);
  }
  // Changes by other callers do not keep a retry from finding its tests; changes by its own caller do.
  return countsOf(record, editors).every(({ state, seq }) =>
    isAlwaysRepeatable(record.tool)
      ? state !== undefined && (state.callerMutationSeq ?? 0) <= seq
      : state?.mutationSeq === seq,
  );
}

function changedNothingSince({ callerChangedAt }: EditorState, acceptedAt: number): boolean {
  return callerChangedAt === undefined || callerChangedAt <= acceptedAt;
}
