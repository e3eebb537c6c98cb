/** The public form of a record: how an operation is reported to its caller. */
import { type Diagnosis, publicDiagnosis } from "../editors/diagnosis.js";
import { ERRORS, type ErrorCode, isErrorCode } from "../errors.js";
import {
  type CachedForm,
  cachedForm,
  type PartialForm,
  type Preview,
  partialForm,
} from "../results/preview.js";
import { overdueBy } from "../tools/call-rules.js";
import type { ExecutionClass } from "../tools/tool.js";
import { WAITS } from "../wait-time.js";
import { type Flight, flightMessage } from "./flight.js";
import {
  type EditorMark,
  type EndMark,
  type Evidence,
  isFinal,
  mayHaveBegun,
  type OperationRecord,
  type State,
} from "./operation.js";

export type Status = "completed" | "running" | "timeout" | "cancelled" | "error" | "not_found";

export interface Answer extends Partial<CachedForm>, PartialForm {
  status: Status;
  log_id?: string;
  tool?: string;
  editor?: string;
  /** The pool that the call named. */
  pool?: string;
  state?: State;
  result?: unknown;
  /** A partial result existed but was too large to keep. */
  partial_result_truncated?: true;
  progress?: { progress: number; total?: number | undefined; message?: string | undefined };
  queue_position?: number;
  /** By how long identical calls took before: until it starts, and until it ends. */
  estimated_start_seconds?: number;
  estimated_end_seconds?: number;
  error?: string;
  error_code?: ErrorCode;
  error_type?: string;
  /** Only with an unknown outcome: the Editor's last known condition. */
  evidence?: {
    last_heartbeat_at?: string;
    editor_phase?: string;
    main_thread_stall_ms?: number;
    was_running?: boolean;
    editor_log?: string[];
  };
  execution_ms?: number;
  accepted_at?: string;
  /** What the client that made the call calls itself; only in brief answers. */
  client?: string;
  deduplicated?: true;
  executed_at?: string;
  age_seconds?: number;
  /** With a recorded outcome: this caller had read it before. */
  delivery_confirmed?: true;
  /** Absent does not mean unchanged: changes to files on disk are not observed. */
  editor_changed_since?: true;
  /** Pass it as `force_new` to run the same call again; present with every outcome of a mutating tool. */
  force_new?: string;
  cancel?: string;
  /** How long such a call usually takes at most: 30 s, 5 min, 1 h, if nothing else is configured. */
  execution_class?: ExecutionClass;
  /** It has run longer than its class usually takes; it is still running. */
  overdue?: true;
  /** What keeps the Editor from working. */
  diagnosis?: Diagnosis;
  /** Only while the Editor is not connected. */
  editor_last_seen_at?: string;
  /** … and its process is proven to have ended. */
  editor_closed?: true;
  /** … when the operation stops waiting for it: it expires if it was not sent, else it is interrupted. */
  waits_until?: string;
  /** The caller's limit on running operations, or that of a resource, is reached; `by` lists the running ones. */
  held_back?: { limit: number; resource?: string; by: { log_id: string; tool: string; editor: string }[] };
  message: string;
  [detail: string]: unknown;
}

/** The inputs of an answer. */
export interface OperationView extends Flight {
  /** JSON text. */
  result?: string | undefined;
  /** Replaces the result when that is too large for the caller. */
  large?: { bytes: number; preview: Preview | undefined } | undefined;
  progress?: Answer["progress"] | undefined;
  partialResult?: unknown;
  isPartialTruncated?: true | undefined;
  /** How often a waiting client is told of it, ms, as far as that is configured. */
  intervals?: { minMs?: number; everyMs?: number } | undefined;
  /** Where the operation's Editor stands now; undefined when it is not connected. */
  editorNow?: EditorMark | undefined;
}

export interface AnswerOptions {
  /** How long a tool call waited: an operation that is still in flight is `timeout` then; without it, `running`. */
  waitedSeconds?: number;
  /** Placed first in the message. */
  note?: string | undefined;
  duplicate?: "joined" | "replayed" | undefined;
  /** A replayed outcome, which its caller had read before. */
  isConfirmed?: boolean | undefined;
  /** Leave the result out (get_operation_status, list_operations). */
  brief?: boolean;
  /** How long a wait may last, s: the message says what to wait with. */
  mostSeconds?: number;
}

/** Builds the answer for one view. Pure. */
export function answerOf(view: OperationView, options: AnswerOptions = {}): Answer {
  const { record } = view;
  const answer: Answer = {
    status: statusOf(record, options),
    // First, so that a reader does not take an old outcome for a new one.
    ...(isDuplicate(view, options) ? duplicateOf(view, options) : {}),
    log_id: record.logId,
    tool: record.tool,
    editor: record.editor,
    ...(record.pool === undefined ? {} : { pool: record.pool }),
    state: record.state,
    accepted_at: new Date(record.acceptedAt).toISOString(),
    // A tool's caller knows its own client: only readers of operations need the name.
    ...(options.brief && record.createdBy.client !== undefined ? { client: record.createdBy.client } : {}),
    message: "",
  };
  if (isFinal(record.state)) addOutcome(answer, view, options);
  else addFlight(answer, view, options);
  answer.message = [options.note, messageOf(view, options)].filter(Boolean).join(" ");
  return answer;
}

/** For a log_id that is unknown, belongs to another principal, or has passed its retention. */
export function notFound(logId: string, retentionEnded: boolean): Answer {
  const message = retentionEnded
    ? "This operation ended more than the retention time ago (24 hours by default); its result is no longer stored. Nothing was executed now; send the call again if it should run."
    : `No operation of yours has this log_id. ${ERRORS.NOT_FOUND.next}`;
  return { status: "not_found", log_id: logId, error_code: "NOT_FOUND", message };
}

/** What the `status` of an answer says of the operation. */
export function statusOf(record: OperationRecord, options: AnswerOptions = {}): Status {
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
  }
  // What it had reported by then: a result it has none.
  if (record.state !== "completed") addPartial(answer, view, options);
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

function addPartial(
  answer: Answer,
  { partialResult, isPartialTruncated }: OperationView,
  { brief }: AnswerOptions,
): void {
  if (partialResult !== undefined)
    Object.assign(answer, brief ? partialForm(partialResult) : { partial_result: partialResult });
  if (isPartialTruncated) answer.partial_result_truncated = true;
}

function addFlight(answer: Answer, view: OperationView, options: AnswerOptions): void {
  addPartial(answer, view, options);
  if (view.progress) answer.progress = view.progress;
  if (view.queuePosition !== undefined) answer.queue_position = view.queuePosition;
  const { startMs, endMs } = view.estimate ?? {};
  if (startMs !== undefined) answer.estimated_start_seconds = Math.ceil(startMs / 1000);
  if (endMs !== undefined) answer.estimated_end_seconds = Math.ceil(endMs / 1000);
  if (view.record.executionClass) answer.execution_class = view.record.executionClass;
  if (overdueBy(view.record, view.now)) answer.overdue = true;
  if (view.diagnosis) answer.diagnosis = publicDiagnosis(view.diagnosis, view.record.principal);
  if (view.record.cancel) answer.cancel = view.record.cancel.answer ?? "requested";
  if (view.heldBack) {
    const { resource } = view.heldBack;
    const by = view.heldBack.by.map(({ logId, tool, editor }) => ({ log_id: logId, tool, editor }));
    answer.held_back = { limit: view.heldBack.limit, ...(resource === undefined ? {} : { resource }), by };
  }
  const { lastSeenAt, hasClosed, deadline } = view.editorAway ?? {};
  if (lastSeenAt !== undefined) answer.editor_last_seen_at = new Date(lastSeenAt).toISOString();
  if (hasClosed) answer.editor_closed = true;
  if (deadline) answer.waits_until = new Date(deadline.at).toISOString();
}

/** Is the call answered by an execution that was not begun for it? */
function isDuplicate({ record }: OperationView, { duplicate }: AnswerOptions): boolean {
  return duplicate !== undefined || record.executedAs !== undefined;
}

/** One execution for both. What was put back after a loss of the store may have ended before this call came: that is told as a replay. */
function isJoined({ rebuilt }: OperationRecord, { duplicate }: AnswerOptions): boolean {
  return duplicate === "joined" && rebuilt !== true;
}

/** Invariant 7: a duplicate is reported as one; only of a replay an age is told. */
function duplicateOf({ record, now, editorNow }: OperationView, options: AnswerOptions): Partial<Answer> {
  // An operation that the Editor refused was sent but never executed.
  const executedAt = record.startedAt ?? (mayHaveBegun(record) ? record.dispatchedAt : undefined);
  const when = executedAt === undefined ? {} : { executed_at: new Date(executedAt).toISOString() };
  if (!isFinal(record.state) || isJoined(record, options)) return { deduplicated: true, ...when };
  return {
    deduplicated: true,
    ...when,
    age_seconds: Math.max(0, Math.round((now - (record.endedAt ?? record.acceptedAt)) / 1000)),
    force_new: record.logId,
    ...(options.isConfirmed ? { delivery_confirmed: true } : {}),
    ...(hasChanged(record.editorMark, editorNow) ? { editor_changed_since: true } : {}),
  };
}

/** False if unknown: files on disk are not observed. Counters only grow; a heartbeat may be older than the end. */
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
    const isLost =
      !options.brief && record.resultBytes !== undefined && view.result === undefined && !view.large;
    const kept = view.large
      ? " Its result is large and kept: usage_hint says how to read it."
      : isLost
        ? " The broker's store has lost its result."
        : "";
    const before = isJoined(record, options)
      ? `${joined(record)} `
      : isDuplicate(view, options)
        ? `${notRunAgain(record)} `
        : "";
    return `${before}${outcomeMessage(record)}${kept}`;
  }
  const together = options.duplicate === "joined" ? `${joined(record)} ` : "";
  // While the Editor is not connected, nobody knows whether the operation goes on.
  const goesOn = view.editorAway ? "" : "; the operation goes on";
  const waited =
    options.waitedSeconds === undefined ? "" : `The wait of ${options.waitedSeconds} s ended${goesOn}. `;
  const leave = view.editorAway ? "" : " and do not restart Unity";
  return `${together}${waited}${flightMessage(view)} Read it with get_operation_result (log_id, wait: true, timeout: ${options.mostSeconds ?? WAITS.mostSeconds}). Do not send the call again${leave}.`;
}

/** This call is no repetition of an earlier one, as far as that is known. */
function joined({ state, startedAt, rebuilt }: OperationRecord): string {
  if (!isFinal(state) && rebuilt)
    return "The same call was sent before the broker's store lost data, and this one joined it.";
  if (!isFinal(state)) return "The same call is already in flight, and this one joined it.";
  const when = startedAt === undefined ? "" : `, which began at ${new Date(startedAt).toISOString()}`;
  return `This call joined the same call in flight${when}: one run answers both.`;
}

function notRunAgain(record: OperationRecord): string {
  const executedAt = record.startedAt ?? record.dispatchedAt;
  const when = executedAt === undefined ? "before" : `at ${new Date(executedAt).toISOString()}`;
  const what = record.startedAt === undefined ? "was sent" : "ran";
  // The recorded error already says to check what the Editor has done.
  if (record.state === "interrupted")
    return `Not run again: this call ${what} ${when}, and its outcome is unknown.`;
  // A key, or the operation it supersedes, identifies one operation permanently (▲6, ▲8).
  const isNamed = record.keyed || record.supersedes !== undefined;
  const again =
    record.effect === "repeatable" && !isNamed
      ? "Sending the same call again runs it again."
      : `To run it again, pass force_new: "${record.logId}".`;
  return `Not run again: this call ${what} ${when}, and this is its recorded outcome. ${again}`;
}

function outcomeMessage(record: OperationRecord): string {
  const next = record.error && isErrorCode(record.error.code) ? ` ${ERRORS[record.error.code].next}` : "";
  switch (record.state) {
    case "completed":
      return "Operation completed.";
    case "cancelled":
      if (record.abandonedAt !== undefined)
        return "Operation cancelled before it started: its client cancelled the call while it waited in the queue, nobody received its log_id, and nobody else waited for it. Nothing was executed.";
      return record.startedAt === undefined
        ? "Operation cancelled before it started."
        : "Operation cancelled while it ran.";
    default:
      return `${record.error?.message ?? "The operation ended without an outcome."}${next}`;
  }
}
