/** An operation as a task of MCP, whatever the protocol's revision: its id is the log_id, its states are fewer. */
import type { OperationView } from "../../shared/operation/answer.js";
import { flightMessage } from "../../shared/operation/flight.js";
import { isFinal, type OperationRecord, type State } from "../../shared/operation/operation.js";
import { shortened } from "../../shared/printable.js";

/** `input_required`: never an operation's; for servers that ask a client while its task waits. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

export interface Task {
  taskId: string;
  status: TaskStatus;
  /** One line, for people. */
  statusMessage: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601: the last change of the operation's state; its progress does not count. */
  lastUpdatedAt: string;
  /**
   * From `createdAt`, ms: how long it can be read at least. Grows while the operation has not ended, for the retention
   * begins with its end.
   */
  ttlMs: number;
  /** Absent once it has ended. */
  pollIntervalMs?: number;
}

/** Most UTF-16 units of a message. */
const MOST_MESSAGE = 300;

/** Most bytes of a result that is searched for `isError`; a larger one counts as a success wherever the task is shown. */
const MOST_EXAMINED = 64 * 1024;

/** Most clients poll a young task soon, and an old one seldom. */
const SOONEST_POLL_MS = 500;
const LATEST_POLL_MS = 5_000;

const STATUS: Readonly<Record<State, TaskStatus>> = {
  queued: "working",
  dispatched: "working",
  running: "working",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "failed",
  expired: "failed",
};

/** Pure. `retentionMs`: how long an ended operation is kept. A view without its result cannot say that the tool failed. */
export function taskOf(view: OperationView, retentionMs: number): Task {
  const { record, now } = view;
  const failure = failureIn(view);
  const age = Math.max(0, (record.endedAt ?? now) - record.acceptedAt);
  return {
    taskId: record.logId,
    status: failure === undefined ? STATUS[record.state] : "failed",
    statusMessage: shortened(failure ?? messageOf(view), MOST_MESSAGE),
    createdAt: new Date(record.acceptedAt).toISOString(),
    lastUpdatedAt: new Date(changedAt(record)).toISOString(),
    ttlMs: age + retentionMs,
    ...(isFinal(record.state) ? {} : { pollIntervalMs: pollAfter(age) }),
  };
}

/** Whether the task's status depends on the result, so that a view without it does not tell. */
export function mayHaveFailed({ state, resultBytes = 0 }: OperationRecord): boolean {
  return state === "completed" && resultBytes <= MOST_EXAMINED;
}

/** What the tool said if its result says that it failed; undefined otherwise. */
function failureIn({ record, result }: OperationView): string | undefined {
  if (!mayHaveFailed(record) || !result?.includes('"isError"')) return undefined;
  const { isError, content } = JSON.parse(result) as { isError?: unknown; content?: unknown };
  if (isError !== true || !Array.isArray(content)) return undefined;
  const texts = content.map((block: { text?: unknown } | null) => block?.text);
  const said = texts.find((text) => typeof text === "string");
  return said === undefined ? "The tool reported an error." : `The tool reported an error: ${said}`;
}

function messageOf(view: OperationView): string {
  const { record, progress } = view;
  switch (record.state) {
    case "completed":
      return "Operation completed.";
    case "cancelled":
      return record.startedAt === undefined
        ? "Operation cancelled before it started."
        : "Operation cancelled while it ran.";
    case "failed":
    case "interrupted":
    case "expired":
      return record.error?.message ?? "The operation ended without an outcome.";
    default:
      return progress?.message !== undefined && !view.editorAway
        ? `${progress.message}${amount(progress)}`
        : flightMessage(view);
  }
}

function amount({ progress, total }: NonNullable<OperationView["progress"]>): string {
  return total === undefined ? "" : ` (${progress} of ${total})`;
}

/** A cancellation that the Editor has not carried out yet is a change as well. */
function changedAt({ acceptedAt, dispatchedAt, startedAt, endedAt, cancel }: OperationRecord): number {
  return endedAt ?? Math.max(acceptedAt, dispatchedAt ?? 0, startedAt ?? 0, cancel?.requestedAt ?? 0);
}

function pollAfter(age: number): number {
  return Math.round(Math.min(LATEST_POLL_MS, Math.max(SOONEST_POLL_MS, age / 4)));
}
