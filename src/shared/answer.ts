/** What a caller is told of an operation: the public form of a record. */
import { type CachedForm, cachedForm } from "./cached.js";
import { ERRORS, type ErrorCode, isErrorCode } from "./errors.js";
import { CLASS_MS, overdueBy } from "./execution-class.js";
import {
  type EditorMark,
  type EndMark,
  type Evidence,
  isFinal,
  type OperationRecord,
  type State,
} from "./operation.js";
import type { Preview } from "./preview.js";
import type { ExecutionClass } from "./tool.js";
import { publicTrouble, type Trouble } from "./trouble.js";

export type Status = "completed" | "running" | "timeout" | "cancelled" | "error" | "not_found";

export interface Answer extends Partial<CachedForm> {
  status: Status;
  log_id?: string;
  tool?: string;
  editor?: string;
  state?: State;
  result?: unknown;
  partial_result?: unknown;
  progress?: { progress: number; total?: number | undefined; message?: string | undefined };
  queue_position?: number;
  error?: string;
  error_code?: ErrorCode;
  error_type?: string;
  /** Of an unknown outcome: how the Editor was when it was last heard. */
  evidence?: {
    last_heartbeat_at?: string;
    editor_phase?: string;
    main_thread_stall_ms?: number;
    was_running?: boolean;
    editor_log?: string[];
  };
  execution_ms?: number;
  accepted_at?: string;
  deduplicated?: true;
  executed_at?: string;
  age_seconds?: number;
  /** Told only where it is known: nobody sees files on disk. */
  editor_changed_since?: true;
  /** Pass it as `force_new` to run the same call once more; with every outcome of a mutating tool. */
  force_new?: string;
  cancel?: string;
  /** How long such a call usually takes: 30 s, 5 min, 1 h. */
  execution_class?: ExecutionClass;
  /** It runs longer than its class; it goes on. */
  overdue?: true;
  /** What keeps the Editor from working. */
  trouble?: Trouble;
  message: string;
  [detail: string]: unknown;
}

/** Everything that an answer is made of. */
export interface OperationView {
  record: OperationRecord;
  /** JSON text. */
  result?: string | undefined;
  /** In place of the result where that is too large for the caller. */
  large?: { bytes: number; preview: Preview | undefined } | undefined;
  progress?: Answer["progress"] | undefined;
  partialResult?: unknown;
  queuePosition?: number | undefined;
  /** Where the operation's Editor stands now; undefined when it is away. */
  editorNow?: EditorMark | undefined;
  /** What keeps its Editor from working. */
  trouble?: Trouble | undefined;
  /** ms since the epoch, store clock. */
  now: number;
}

export interface AnswerOptions {
  /** The wait of the call itself ended (status `timeout`); else an operation in flight is `running`. */
  waitedSeconds?: number;
  /** Said first in the message. */
  note?: string | undefined;
  duplicate?: "joined" | "replayed" | undefined;
  /** Leave the result out (get_operation_status, list_operations). */
  brief?: boolean;
}

/** Pure: one view, one answer. */
export function answerOf(view: OperationView, options: AnswerOptions = {}): Answer {
  const { record } = view;
  const answer: Answer = {
    status: statusOf(record, options),
    // Said first: what is not new must not be read as new.
    ...(isDuplicate(view, options) ? duplicateOf(view) : {}),
    log_id: record.logId,
    tool: record.tool,
    editor: record.editor,
    state: record.state,
    accepted_at: new Date(record.acceptedAt).toISOString(),
    message: "",
  };
  if (isFinal(record.state)) addOutcome(answer, view, options);
  else addFlight(answer, view);
  answer.message = [options.note, messageOf(view, options)].filter(Boolean).join(" ");
  return answer;
}

/** Unknown, another's, or its retention ended. */
export function notFound(logId: string, retentionEnded: boolean): Answer {
  const message = retentionEnded
    ? "This operation ended more than the retention time ago (24 hours by default); its result is no longer stored."
    : `No operation of yours has this log_id. ${ERRORS.NOT_FOUND.next}`;
  return { status: "not_found", log_id: logId, error_code: "NOT_FOUND", message };
}

function statusOf(record: OperationRecord, options: AnswerOptions): Status {
  if (!isFinal(record.state)) return options.waitedSeconds === undefined ? "running" : "timeout";
  if (record.state === "completed" || record.state === "cancelled") return record.state;
  return "error";
}

function addOutcome(answer: Answer, view: OperationView, options: AnswerOptions): void {
  const { record } = view;
  if (record.executionMs !== undefined) answer.execution_ms = record.executionMs;
  if (record.error) {
    answer.error = record.error.message;
    answer.error_type = record.error.type;
    if (isErrorCode(record.error.code)) answer.error_code = record.error.code;
  }
  if (!options.brief && view.result !== undefined) answer.result = JSON.parse(view.result) as unknown;
  if (!options.brief && view.large) {
    const { bytes, preview } = view.large;
    Object.assign(answer, cachedForm(record.logId, bytes, preview));
  }
  if (record.effect === "mutating" || record.state === "interrupted") answer.force_new = record.logId;
  if (record.state === "interrupted") {
    if (record.evidence) answer.evidence = evidenceOf(record.evidence);
    if (view.progress) answer.progress = view.progress;
    if (!options.brief && view.partialResult !== undefined) answer.partial_result = view.partialResult;
  }
}

function evidenceOf(evidence: Evidence): NonNullable<Answer["evidence"]> {
  const { lastHeartbeatAt, phase, mainThreadStallMs, wasRunning, editorLog } = evidence;
  return {
    ...(lastHeartbeatAt === undefined ? {} : { last_heartbeat_at: new Date(lastHeartbeatAt).toISOString() }),
    ...(phase === undefined ? {} : { editor_phase: phase }),
    ...(mainThreadStallMs === undefined ? {} : { main_thread_stall_ms: mainThreadStallMs }),
    ...(wasRunning === undefined ? {} : { was_running: wasRunning }),
    ...(editorLog === undefined ? {} : { editor_log: editorLog }),
  };
}

function addFlight(answer: Answer, view: OperationView): void {
  if (view.partialResult !== undefined) answer.partial_result = view.partialResult;
  if (view.progress) answer.progress = view.progress;
  if (view.queuePosition !== undefined) answer.queue_position = view.queuePosition;
  if (view.record.executionClass) answer.execution_class = view.record.executionClass;
  if (overdueBy(view.record, view.now)) answer.overdue = true;
  if (view.trouble) answer.trouble = publicTrouble(view.trouble);
  if (view.record.cancel) answer.cancel = view.record.cancel.answer ?? "requested";
}

/** Answered by an execution that was not begun for this call. */
function isDuplicate({ record }: OperationView, { duplicate }: AnswerOptions): boolean {
  return duplicate !== undefined || record.executedAs !== undefined;
}

/** Invariant 7: a duplicate is told so. */
function duplicateOf({ record, now, editorNow }: OperationView): Partial<Answer> {
  const executedAt = record.startedAt ?? record.dispatchedAt;
  return {
    deduplicated: true,
    ...(executedAt === undefined ? {} : { executed_at: new Date(executedAt).toISOString() }),
    age_seconds: Math.max(0, Math.round((now - (record.endedAt ?? record.acceptedAt)) / 1000)),
    force_new: record.logId,
    ...(hasChanged(record.editorMark, editorNow) ? { editor_changed_since: true } : {}),
  };
}

/** False where it is not known: nobody sees files on disk. Counters grow; a heartbeat may be older than the end. */
function hasChanged(then: EndMark | undefined, now: EditorMark | undefined): boolean {
  if (!then || !now) return false;
  return (
    then.editorSessionId !== now.editorSessionId ||
    then.generation < now.generation ||
    then.assetCounter < now.assetCounter
  );
}

function messageOf(view: OperationView, options: AnswerOptions): string {
  const { record } = view;
  if (isFinal(record.state)) {
    const kept = view.large ? " Its result is large and kept: usage_hint says how to read it." : "";
    const before = isDuplicate(view, options) ? `${notRunAgain(record)} ` : "";
    return `${before}${outcomeMessage(record)}${kept}`;
  }
  const joined =
    options.duplicate === "joined" ? "Not run again: this call is in flight already, and was joined. " : "";
  const waited =
    options.waitedSeconds === undefined
      ? ""
      : `The wait of ${options.waitedSeconds} s ended; the operation goes on. `;
  return `${joined}${waited}${flightMessage(view)} Read it with get_operation_result (log_id, wait: true). Do not send the call again and do not restart Unity.`;
}

function notRunAgain(record: OperationRecord): string {
  const executedAt = record.startedAt ?? record.dispatchedAt;
  const when = executedAt === undefined ? "before" : `at ${new Date(executedAt).toISOString()}`;
  const what = record.startedAt === undefined ? "was sent" : "ran";
  return `Not run again: this call ${what} ${when}, and here is its recorded outcome. To run it once more, pass force_new: "${record.logId}".`;
}

function outcomeMessage(record: OperationRecord): string {
  const next = record.error && isErrorCode(record.error.code) ? ` ${ERRORS[record.error.code].next}` : "";
  switch (record.state) {
    case "completed":
      return "Operation completed.";
    case "cancelled":
      return record.startedAt === undefined
        ? "Operation cancelled before it started."
        : "Operation cancelled while it ran.";
    default:
      return `${record.error?.message ?? "The operation ended without an outcome."}${next}`;
  }
}

function flightMessage(view: OperationView): string {
  const { trouble } = view;
  return trouble ? `${placeMessage(view)} ${trouble.message} ${trouble.next}` : placeMessage(view);
}

function placeMessage({ record, editorNow, queuePosition, trouble, now }: OperationView): string {
  if (record.state === "running") {
    return `It is running in the Editor.${overdueMessage(record, now)}`;
  }
  if (!editorNow) {
    if (trouble)
      return "The operation waits for its Editor, and expires without having started if that stays away.";
    return "The Editor is not connected: the operation waits for it, and expires without having started if it stays away.";
  }
  if (record.state === "dispatched") return "It was sent to the Editor and waits for its main thread.";
  return queuePosition
    ? `It waits in the Editor's queue behind ${queuePosition} other(s).`
    : "It waits in the Editor's queue.";
}

function overdueMessage(record: OperationRecord, now: number): string {
  if (overdueBy(record, now) === undefined) return "";
  const time = (ms: number): string =>
    ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
  const ran = time(now - (record.startedAt ?? now));
  return ` It has run for ${ran}; calls of its class (${record.executionClass ?? "long"}) usually end within ${time(CLASS_MS[record.executionClass ?? "long"])}. That alone ends nothing; cancel_operation asks the Editor to stop it.`;
}
