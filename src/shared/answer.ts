/** What a caller is told of an operation: the public form of a record. */

import { type CachedForm, cachedForm } from "./cached.js";
import { ERRORS, type ErrorCode, isErrorCode } from "./errors.js";
import { overdueBy } from "./execution-class.js";
import { type Flight, flightMessage } from "./flight.js";
import {
  type EditorMark,
  type EndMark,
  type Evidence,
  hasBegun,
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
  /** There was a partial result that was too large to keep. */
  partial_result_truncated?: true;
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
  /** Where the Editor is away. */
  editor_last_seen_at?: string;
  /** … and its process is proven to be gone. */
  editor_closed?: true;
  /** … when the operation stops waiting for it: expired where it was not sent, else interrupted. */
  waits_until?: string;
  /** As many operations of this caller run as may run at once. */
  held_back?: { limit: number; by: { log_id: string; tool: string; editor: string }[] };
  message: string;
  [detail: string]: unknown;
}

/** Everything that an answer is made of. */
export interface OperationView extends Flight {
  /** JSON text. */
  result?: string | undefined;
  /** In place of the result where that is too large for the caller. */
  large?: { bytes: number; preview: Preview | undefined } | undefined;
  progress?: Answer["progress"] | undefined;
  partialResult?: unknown;
  isPartialTruncated?: true | undefined;
  /** Where the operation's Editor stands now; undefined when it is away. */
  editorNow?: EditorMark | undefined;
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
    if (!options.brief) addPartial(answer, view);
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

function addPartial(answer: Answer, { partialResult, isPartialTruncated }: OperationView): void {
  if (partialResult !== undefined) answer.partial_result = partialResult;
  if (isPartialTruncated) answer.partial_result_truncated = true;
}

function addFlight(answer: Answer, view: OperationView): void {
  addPartial(answer, view);
  if (view.progress) answer.progress = view.progress;
  if (view.queuePosition !== undefined) answer.queue_position = view.queuePosition;
  if (view.record.executionClass) answer.execution_class = view.record.executionClass;
  if (overdueBy(view.record, view.now)) answer.overdue = true;
  if (view.trouble) answer.trouble = publicTrouble(view.trouble, view.record.principal);
  if (view.record.cancel) answer.cancel = view.record.cancel.answer ?? "requested";
  if (view.heldBack) {
    const by = view.heldBack.by.map(({ logId, tool, editor }) => ({ log_id: logId, tool, editor }));
    answer.held_back = { limit: view.heldBack.limit, by };
  }
  const { lastSeenAt, hasClosed, deadline } = view.editorAway ?? {};
  if (lastSeenAt !== undefined) answer.editor_last_seen_at = new Date(lastSeenAt).toISOString();
  if (hasClosed) answer.editor_closed = true;
  if (deadline) answer.waits_until = new Date(deadline.at).toISOString();
}

/** Answered by an execution that was not begun for this call. */
function isDuplicate({ record }: OperationView, { duplicate }: AnswerOptions): boolean {
  return duplicate !== undefined || record.executedAs !== undefined;
}

/** Invariant 7: a duplicate is told so. */
function duplicateOf({ record, now, editorNow }: OperationView): Partial<Answer> {
  // One that the Editor refused was sent, and never executed.
  const executedAt = record.startedAt ?? (hasBegun(record) ? record.dispatchedAt : undefined);
  const when = executedAt === undefined ? {} : { executed_at: new Date(executedAt).toISOString() };
  if (!isFinal(record.state)) return { deduplicated: true, ...when };
  return {
    deduplicated: true,
    ...when,
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
  // Nobody knows whether it goes on where its Editor is away.
  const goesOn = view.editorAway ? "" : "; the operation goes on";
  const waited =
    options.waitedSeconds === undefined ? "" : `The wait of ${options.waitedSeconds} s ended${goesOn}. `;
  const leave = view.editorAway ? "" : " and do not restart Unity";
  return `${joined}${waited}${flightMessage(view)} Read it with get_operation_result (log_id, wait: true). Do not send the call again${leave}.`;
}

function notRunAgain(record: OperationRecord): string {
  const executedAt = record.startedAt ?? record.dispatchedAt;
  const when = executedAt === undefined ? "before" : `at ${new Date(executedAt).toISOString()}`;
  const what = record.startedAt === undefined ? "was sent" : "ran";
  // Its error says first to look what the Editor has done.
  if (record.state === "interrupted")
    return `Not run again: this call ${what} ${when}, and its outcome is unknown.`;
  // A key, and what it supersedes, name one operation for good (▲6, ▲8).
  const isNamed = record.keyed || record.supersedes !== undefined;
  const again =
    record.effect === "repeatable" && !isNamed
      ? "The same call from now on runs it again."
      : `To run it once more, pass force_new: "${record.logId}".`;
  return `Not run again: this call ${what} ${when}, and here is its recorded outcome. ${again}`;
}

function outcomeMessage(record: OperationRecord): string {
  const next = record.error && isErrorCode(record.error.code) ? ` ${ERRORS[record.error.code].next}` : "";
  switch (record.state) {
    case "completed":
      return "Operation completed.";
    case "cancelled":
      if (record.abandonedAt !== undefined)
        return "Operation cancelled before it started: its client cancelled the call while it waited in the queue, nobody was told its log_id, and nobody else waited for it. Nothing was executed.";
      return record.startedAt === undefined
        ? "Operation cancelled before it started."
        : "Operation cancelled while it ran.";
    default:
      return `${record.error?.message ?? "The operation ended without an outcome."}${next}`;
  }
}
