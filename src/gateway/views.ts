/** Operations as their principal may see them, with everything that an answer shows. */
import type { OperationView } from "../shared/answer.js";
import { deadlineOf, type WaitLimits } from "../shared/expiry.js";
import type { EditorAway } from "../shared/flight.js";
import { goneOf } from "../shared/gone.js";
import { isFinal, type OperationRecord } from "../shared/operation.js";
import type { Live } from "../shared/redis/attachments.js";
import type { Editors, KnownEditor } from "../shared/redis/editors.js";
import type { Operations } from "../shared/redis/operations.js";
import type { Queues } from "../shared/redis/queue.js";
import type { Store } from "../shared/redis/store.js";
import { isSurelyUnsent } from "../shared/unsent.js";
import { type CandidateOptions, isConnected } from "./candidates.js";
import type { KnownEditorsReader } from "./known-editors.js";
import type { Results } from "./results.js";
import { holdingUp, stands } from "./troubles.js";

export interface ViewOptions extends CandidateOptions {
  limits: WaitLimits;
}

/** Read only where an answer shows it. */
export interface ViewSources {
  operations: Operations;
  queues: Queues;
  editors: Editors;
  results: Results;
  heldBack: Store["heldBack"];
  sweeping: Pick<Store["sweeping"], "watchedSince">;
  knownEditors: Pick<KnownEditorsReader, "read">;
}

export interface Views {
  /** `now`: store clock, ms. */
  isHere(editor: KnownEditor, now: number): boolean;
  /** As it was when it was found; what the store has lost since is looked for again. */
  viewOf(record: OperationRecord): Promise<OperationView | "ended" | undefined>;
  /** Without the result and what is shown while it runs; "ended" when what answered for it is not stored any more. */
  briefViewOf(record: OperationRecord): Promise<OperationView | "ended">;
  ownRecord(principal: string, logId: string): Promise<OperationRecord | "ended" | undefined>;
  read(principal: string, logId: string): Promise<OperationView | "ended" | undefined>;
}

export function createViews(deps: ViewSources, options: ViewOptions): Views {
  const { operations, queues, editors, results } = deps;

  const isHere: Views["isHere"] = (editor, now) =>
    isConnected(editor.live !== undefined, editor, now, options);

  /** ▲10 (b) What answers for the operation; "ended" when that is not stored any more. */
  const executionOf = async ({
    executedAs,
  }: OperationRecord): Promise<OperationRecord | "ended" | undefined> =>
    executedAs === undefined ? undefined : ((await operations.find(executedAs)) ?? "ended");

  const draw = async (record: OperationRecord, brief: boolean): Promise<OperationView | "ended"> => {
    const execution = await executionOf(record);
    if (execution === "ended") return execution;
    const shown = execution ? answeredBy(record, execution) : record;
    const { logId } = execution ?? record;
    const final = isFinal(shown.state);
    const waits = shown.state === "accepted" || shown.state === "queued";
    const [live, told, position, editor, held, now] = await Promise.all([
      brief || shown.state === "completed" ? ({} as Live) : operations.live(logId),
      brief || !final ? {} : results.told(execution ?? record),
      final || shown.state === "running" ? undefined : queues.position(record),
      editors.find(record.editor),
      waits ? deps.heldBack(record) : undefined,
      operations.now(),
    ]);
    const isAway = !final && !(editor && isHere(editor, now));
    const watchedSince = isAway ? await deps.sweeping.watchedSince() : 0;
    const mayHaveBeenSent = isAway && waits && !isSurelyUnsent(shown, await deps.knownEditors.read());
    return {
      record: shown,
      ...told,
      progress: live.progress,
      partialResult: live.partialResult,
      isPartialTruncated: live.isTruncated,
      queuePosition: position,
      editorNow: editor && isHere(editor, now) ? editor.profile : undefined,
      editorAway: isAway ? absenceOf(record, editor, watchedSince, mayHaveBeenSent) : undefined,
      heldBack: held,
      trouble: holdingUp(stands(editor?.trouble, now)),
      now,
    };
  };

  const absenceOf = (
    record: OperationRecord,
    editor: KnownEditor | undefined,
    watchedSince: number,
    mayHaveBeenSent: boolean,
  ): EditorAway => ({
    project: editor?.profile.projectName,
    lastSeenAt: editor?.lastSeenAt || undefined,
    gone: goneOf(record, editor, false),
    hasClosed: editor?.ended !== undefined && editor.ended.editorSessionId === editor.profile.editorSessionId,
    deadline: mayHaveBeenSent
      ? undefined
      : deadlineOf(record, editor?.lastSeenAt ?? 0, options.limits, watchedSince),
    mayHaveBeenSent,
  });

  /** Invariant 8: another's operation is not found. */
  const ownRecord: Views["ownRecord"] = async (principal, logId) => {
    const record = await operations.find(logId);
    if (record) return record.principal === principal ? record : undefined;
    return (await operations.tombstone(logId)) === principal ? "ended" : undefined;
  };

  const viewOf: Views["viewOf"] = async (record) => {
    const view = await draw(record, false);
    if (view === "ended") return view;
    const isWhole = view.result !== undefined || view.large?.preview !== undefined;
    if (view.record.state !== "completed" || isWhole) return view;
    // ▲10 The store was put back between the two looks: an end without its result is nothing to tell.
    const latest = await ownRecord(record.principal, record.logId);
    return typeof latest === "object" ? draw(latest, false) : latest;
  };

  const read: Views["read"] = async (principal, logId) => {
    const record = await ownRecord(principal, logId);
    return typeof record === "object" ? viewOf(record) : record;
  };

  return { isHere, viewOf, briefViewOf: (record) => draw(record, true), ownRecord, read };
}

/** The operation with the state, times and outcome of the one that answered its call. */
function answeredBy(record: OperationRecord, execution: OperationRecord): OperationRecord {
  const { logId, acceptedAt, createdBy, askedBy, cancel } = record;
  return {
    ...execution,
    logId,
    acceptedAt,
    createdBy,
    executedAs: execution.logId,
    ...(askedBy ? { askedBy } : {}),
    ...(cancel ? { cancel } : {}),
  };
}
