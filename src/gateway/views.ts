/** Operations as their principal may see them, with all data for an answer. */
import { isPool } from "../shared/editors/target.js";
import type { OperationView } from "../shared/operation/answer.js";
import { deadlineOf, type ExpiryLimits } from "../shared/operation/expiry.js";
import type { EditorAway, WaitingPool } from "../shared/operation/flight.js";
import { goneOf } from "../shared/operation/gone.js";
import {
  type EditorMark,
  isFinal,
  isSurelyUnsent,
  isWaiting,
  type OperationRecord,
} from "../shared/operation/operation.js";
import type { Duplicate } from "../shared/operation/timeline.js";
import type { Editors, KnownEditor } from "../shared/store/editors/editors.js";
import type { Live, Operations, Reports } from "../shared/store/operations/operation-store.js";
import type { FoundWithResult } from "../shared/store/operations/record.js";
import type { Queues } from "../shared/store/queue.js";
import type { Store } from "../shared/store/store.js";
import type { CallRules } from "../shared/tools/call-rules.js";
import type { KnownEditorsReader } from "./editors/known-editors.js";
import { lastSeenIn, membersIn } from "./editors/pool-keeper.js";
import { holdingUp, stands } from "./editors/target-error.js";
import type { Estimates } from "./estimates.js";
import type { Results } from "./results/results.js";

export interface ViewOptions {
  limits: ExpiryLimits;
  rules?: CallRules;
}

/** Read only if an answer shows it. */
export interface ViewSources {
  operations: Operations;
  queues: Queues;
  editors: Editors;
  results: Results;
  heldBack: Store["heldBack"];
  lastSweep: Pick<Store["lastSweep"], "watchedSince">;
  knownEditors: Pick<KnownEditorsReader, "read" | "shown">;
  estimates: Estimates;
}

export interface Views {
  /**
   * The view as of when it was found; a record that the store has lost since is looked for again. `piece`: of its result, if that was
   * found with it.
   */
  viewOf(record: OperationRecord, piece?: Buffer): Promise<OperationView | "retention_ended" | undefined>;
  /** Without the result and progress; "retention_ended" if the operation that answered for it is no longer stored. */
  briefViewOf(record: OperationRecord): Promise<OperationView | "retention_ended">;
  ownRecord(principal: string, logId: string): Promise<OperationRecord | "retention_ended" | undefined>;
  /** The same with its result, if that is small. */
  ownWithResult(principal: string, logId: string): Promise<FoundWithResult | "retention_ended" | undefined>;
  read(principal: string, logId: string): Promise<OperationView | "retention_ended" | undefined>;
}

export function createViews(deps: ViewSources, options: ViewOptions): Views {
  const { operations, queues, editors, results } = deps;

  /** Chain check (▲10 b): the operation that answers for it; "retention_ended" if that is no longer stored. */
  const executionOf = async ({
    executedAs,
  }: OperationRecord): Promise<OperationRecord | "retention_ended" | undefined> =>
    executedAs === undefined ? undefined : ((await operations.find(executedAs)) ?? "retention_ended");

  /** Of one that has ended only this is asked, so what was read for a call of the last second will do; undefined: it is away. */
  const editorOf = async ({ editor }: OperationRecord): Promise<EditorMark | undefined> => {
    const present = await deps.knownEditors.shown();
    return present.find(({ id, connected }) => id === editor && connected)?.profile;
  };

  const buildView = async (
    record: OperationRecord,
    brief: boolean,
    piece?: Buffer,
  ): Promise<OperationView | "retention_ended"> => {
    const execution = await executionOf(record);
    if (execution === "retention_ended") return execution;
    const shown = execution ? answeredBy(record, execution) : record;
    const { logId } = execution ?? record;
    const final = isFinal(shown.state);
    const waits = isWaiting(shown.state);
    const [live, delivered, ahead, editor, editorNow, held, isPaused, now] = await Promise.all([
      brief || shown.state === "completed" ? ({} as Live) : operations.live(logId),
      brief || !final ? {} : results.delivered(execution ?? record, execution ? undefined : piece),
      final || shown.state === "running" ? undefined : queues.ahead(record),
      final ? undefined : editors.find(record.editor),
      final ? editorOf(record) : undefined,
      waits ? deps.heldBack(record) : undefined,
      waits && queues.isPaused(record.editor, record.lane),
      operations.recentNow(),
    ]);
    const pool = isPool(record.editor) ? await poolOf(shown) : undefined;
    const isAway = !final && !editor?.connected && !pool?.connected && !pool?.paused;
    const watchedSince = isAway ? await deps.lastSweep.watchedSince() : 0;
    const isHeldUp = isAway || isPaused || held !== undefined || (pool?.closedBy.length ?? 0) > 0;
    const isUnderWay = !final && !isHeldUp && shown.cancel === undefined;
    const estimate = isUnderWay
      ? await deps.estimates.of(shown, { ahead, members: pool?.serving ?? [], now })
      : undefined;
    const mayHaveBeenSent = isAway && waits && !isSurelyUnsent(shown, await deps.knownEditors.read());
    return {
      record: shown,
      ...delivered,
      progress: live.progress,
      partialResult: live.partialResult,
      isPartialTruncated: live.isTruncated,
      queuePosition: ahead?.length,
      estimate,
      isPaused,
      intervals: options.rules?.intervals(shown),
      editorNow,
      editorAway: isAway
        ? absenceOf(record, pool ?? editor ?? { lastSeenAt: 0 }, editor, watchedSince, mayHaveBeenSent)
        : undefined,
      pool,
      heldBack: held,
      diagnosis: editor && holdingUp(stands(editor.diagnosis, now)),
      now,
    };
  };

  const poolOf = async (
    record: OperationRecord,
  ): Promise<WaitingPool & { lastSeenAt: number; serving: string[] }> => {
    const { editor: pool } = record;
    const [all, losses] = await Promise.all([editors.all(), deps.knownEditors.read()]);
    const members = membersIn(pool, all);
    const here = members.filter(({ connected }) => connected);
    const paused = await Promise.all(
      here.map(({ profile }) => queues.isPaused(profile.editorId, record.lane)),
    );
    const serving = here.filter((_, at) => !paused[at]).map(({ profile }) => profile.editorId);
    return {
      closedBy: isWaiting(record.state) && !isSurelyUnsent(record, losses) ? losses.missing : [],
      known: members.length,
      serving,
      connected: serving.length,
      paused: here.length - serving.length,
      lastSeenAt: lastSeenIn(pool, members),
    };
  };

  const absenceOf = (
    record: OperationRecord,
    { lastSeenAt }: { lastSeenAt: number },
    editor: KnownEditor | undefined,
    watchedSince: number,
    mayHaveBeenSent: boolean,
  ): EditorAway => ({
    project: editor?.profile.projectName,
    lastSeenAt: lastSeenAt || undefined,
    gone: goneOf(record, editor, false),
    hasClosed: editor?.ended !== undefined && editor.ended.editorSessionId === editor.profile.editorSessionId,
    deadline: mayHaveBeenSent ? undefined : deadlineOf(record, lastSeenAt, options.limits, watchedSince),
    mayHaveBeenSent,
  });

  /** Invariant 8: another principal's operation is not found. */
  const notFound = async (principal: string, logId: string): Promise<"retention_ended" | undefined> =>
    (await operations.tombstone(logId)) === principal ? "retention_ended" : undefined;

  const ownRecord: Views["ownRecord"] = async (principal, logId) => {
    const record = await operations.find(logId);
    if (!record) return notFound(principal, logId);
    return record.principal === principal ? record : undefined;
  };

  const ownWithResult: Views["ownWithResult"] = async (principal, logId) => {
    const found = await operations.findWithResult(logId);
    if (!found) return notFound(principal, logId);
    return found.record.principal === principal ? found : undefined;
  };

  const viewOf: Views["viewOf"] = async (record, piece) => {
    const view = await buildView(record, false, piece);
    if (view === "retention_ended") return view;
    const isWhole = view.result !== undefined || view.large?.preview !== undefined;
    if (view.record.state !== "completed" || isWhole) return view;
    // Record recovery (▲10 d): the store was restored between the two reads, so an end without its result must not be
    // reported.
    const latest = await ownRecord(record.principal, record.logId);
    return typeof latest === "object" ? buildView(latest, false) : latest;
  };

  const read: Views["read"] = async (principal, logId) => {
    const own = await ownWithResult(principal, logId);
    return typeof own === "object" ? viewOf(own.record, own.piece) : own;
  };

  return { viewOf, briefViewOf: (record) => buildView(record, true), ownRecord, ownWithResult, read };
}

/** The operation, with state, times and outcome of the operation that answered its call. */
function answeredBy(record: OperationRecord, execution: OperationRecord): OperationRecord {
  const { logId, acceptedAt, createdBy, askers, cancel } = record;
  return {
    ...execution,
    logId,
    acceptedAt,
    createdBy,
    executedAs: execution.logId,
    ...(askers ? { askers } : {}),
    ...(cancel ? { cancel } : {}),
  };
}

// An operation with what its history is told from.

export interface Explained {
  record: OperationRecord;
  duplicates: Duplicate[];
  /** Of the execution that answers for it. */
  reports: Reports;
}

export async function explained(
  operations: Pick<Operations, "duplicatesOf" | "reportsOf">,
  record: OperationRecord,
): Promise<Explained> {
  const [duplicates, reports] = await Promise.all([
    operations.duplicatesOf(record.logId),
    operations.reportsOf(record.executedAs ?? record.logId),
  ]);
  return { record, duplicates, reports };
}
