/** Again: when the same call runs after the end of its operation, and when the recorded outcome answers it. */

import {
  askingOf,
  type Caller,
  type EditorMark,
  type EndMark,
  isOwed,
  mayHaveBegun,
  type OperationRecord,
} from "./operation.js";

export interface ReplayOptions {
  /** What is delivered so soon over a direct connection is read: no client is known that gives up sooner in silence, ms. */
  readWithinMs: number;
  /** A process that stood still for so long does not know how quick it was, ms. */
  stallMs: number;
  /** How long a delivered outcome answers callers that are not known to have read it, ms. */
  replayWindowMs: number;
  /** For so long after its end the outcome of a repeatable tool that nobody got answers, ms; longer if it took longer. */
  undeliveredMs: number;
}

export const REPLAY_DEFAULTS: ReplayOptions = {
  readWithinMs: 10_000,
  stallMs: 1_000,
  replayWindowMs: 15 * 60_000,
  undeliveredMs: 10_000,
};

/** An Editor as it is known now. */
export interface EditorState {
  id: string;
  /** The number of changes accepted for it (▲5). */
  mutationSeq: number;
  /** That count at the caller's last change (stateless: its principal's); absent: it made none. */
  callerMutationSeq?: number | undefined;
  /** When that change was accepted, ms, store clock. */
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
 * Does this ended operation leave an identical call to run? False: its recorded outcome answers the call. In doubt a
 * repeatable tool runs, because it has no effect to double, and a mutating one does not.
 */
export function runsAgain(
  record: OperationRecord,
  call: { caller: Caller; forceNew?: string | undefined },
  moment: Moment,
  options: ReplayOptions = REPLAY_DEFAULTS,
): boolean {
  if (record.effect === "read_only" || !mayHaveBegun(record)) return true;
  // A key, and (▲8) the superseded operation of a forced call, each identify one operation.
  if (record.keyed || (record.supersedes !== undefined && record.supersedes === call.forceNew)) return false;
  return record.effect === "repeatable"
    ? repeatableRuns(record, call.caller, moment, options)
    : mutatingRuns(record, call.caller, moment, options);
}

/** An outcome that nobody got answers while making a new one would cost no more than its age, and nothing is known to have changed. */
function repeatableRuns(
  record: OperationRecord,
  caller: Caller,
  { now, incarnation, editors }: Moment,
  { undeliveredMs }: ReplayOptions,
): boolean {
  if (record.state !== "completed" && record.state !== "failed") return true;
  // The store may have lost that it was delivered.
  if (record.rebuilt || record.incarnation !== incarnation) return true;
  if (record.firstDeliveredAt !== undefined || record.givenUpBy?.includes(caller.id)) return true;
  const { endedAt = 0, executionMs = 0 } = record;
  if (now - endedAt >= Math.max(undeliveredMs, executionMs)) return true;
  const editor = editors.find(({ id }) => id === record.editor);
  return !(
    countsOf(record, editors).every(({ state, seq }) => state?.mutationSeq === seq) &&
    stoodStill(record.editorMark, editor?.mark)
  );
}

/**
 * How long a client may take that has lost an answer and comes back for it, ms: as the gateway had it that accepted the call,
 * whichever gateway it comes to.
 */
export function windowOf(record: OperationRecord, options: ReplayOptions): number {
  const { executionMs = 0, replayWindowMs = options.replayWindowMs } = record;
  return Math.max(replayWindowMs, 2 * executionMs);
}

function mutatingRuns(
  record: OperationRecord,
  caller: Caller,
  { now, incarnation }: Moment,
  options: ReplayOptions,
): boolean {
  // Unknown stays unknown (▲9): the outcome stays unknown until a caller allows another run with force_new.
  if (record.state === "interrupted") return false;
  const mine = askingOf(record, caller);
  if (mine?.hasRead) return true;
  // The store may have lost who else asked.
  const knowsAll = !record.rebuilt && record.incarnation === incarnation;
  if (knowsAll && !isOwed(record)) return true;
  const { firstDeliveredAt } = record;
  if (firstDeliveredAt === undefined) return false;
  if (now < firstDeliveredAt + windowOf(record, options)) return false;
  // A caller that asked for this run and never got its outcome is still waiting for it.
  return !mine || mine.deliveredAt !== undefined || mine.askedAt !== undefined;
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

/**
 * Does the Editor stand where it stood when the operation ended, as far as it says? Counters only grow: a
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
