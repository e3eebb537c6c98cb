/** `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` of revision 2025-11-25: a principal's operations, read as tasks. */
import type { CallToolResult, ListTasksResult, Task as McpTask } from "@modelcontextprotocol/sdk/types.js";
import { answerOf, type OperationView } from "../../../shared/operation/answer.js";
import { isFinal } from "../../../shared/operation/operation.js";
import { waitTime } from "../../../shared/wait-time.js";
import { RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import { ProtocolError, REQUEST_TIMED_OUT } from "../protocol-error.js";
import { answersTo, type CallToolDeps, foundBy, type OpenCall } from "../requests/call-tool.js";
import { mayHaveFailed, taskOf } from "../task.js";
import { UUID } from "../tools/broker-tool.js";
import { refusalError } from "../tools/tool-answer.js";
import { asMcpTask, RELATED_TASK } from "./task-call.js";

/** A request about a task, and the client that waits for its answer. */
export type TaskRequest = Pick<OpenCall, "principal" | "client" | "request" | "progress">;

export interface TaskRequests {
  get(taskId: string, asked: TaskRequest): Promise<McpTask>;
  /** Waits for its end, as long as any request may wait. */
  result(taskId: string, asked: TaskRequest): Promise<CallToolResult>;
  list(cursor: string | undefined, asked: TaskRequest): Promise<ListTasksResult>;
  /** Answers when the operation is cancelled; rejects where it is not, for it is not said of one that goes on. */
  cancel(taskId: string, asked: TaskRequest): Promise<McpTask>;
}

const PAGE = 50;

/** Each throws a ProtocolError. */
export function createTaskRequests(deps: CallToolDeps): TaskRequests {
  const { broker, log } = deps;

  const shown = async (view: OperationView): Promise<McpTask> =>
    asMcpTask(taskOf(view, await broker.retentionMs()));

  /** Read (▲7): a caller that names a log_id has read what was delivered to it before; noted before anything else. */
  const named = async <T>(taskId: string, asked: TaskRequest, read: () => Promise<T>): Promise<T> => {
    try {
      if (!UUID.test(taskId)) throw notFound();
      await asked.request.names(taskId);
      return await read();
    } catch (error) {
      throw error instanceof ProtocolError ? error : refusalError(error, log);
    } finally {
      asked.progress?.close();
      asked.request.accepted();
    }
  };

  return {
    get: (taskId, asked) =>
      named(taskId, asked, async () => shown(found(await broker.read(asked.principal, taskId)))),

    result: (taskId, asked) =>
      named(taskId, asked, async () => {
        const { principal, request, progress } = asked;
        request.accepted();
        const { fits, limits } = answersTo(deps, asked);
        const { ms } = waitTime(Number.POSITIVE_INFINITY, 0, limits.waits);
        const { signal } = request;
        const wait = { ms, signal, onChange: progress?.update, askedBy: request.caller };
        const seen = found(await broker.wait(principal, taskId, wait));
        if (!isFinal(seen.record.state)) {
          const how = "Ask for its result again (tasks/result), or for its state (tasks/get).";
          throw new ProtocolError(REQUEST_TIMED_OUT, `The task has not ended, and goes on. ${how}`, {
            taskId,
          });
        }
        // A caller that was given the task of an earlier call is told so with the outcome, as by the call itself.
        const duplicate = await foundBy(broker, asked, taskId);
        request.delivers(seen.record);
        const result = (await fits(answerOf(seen, { duplicate }))) as CallToolResult;
        return { ...result, _meta: { ...result._meta, [RELATED_TASK]: { taskId } } };
      }),

    async list(cursor, { principal, request }) {
      request.accepted();
      try {
        const isKnown =
          cursor === undefined || (UUID.test(cursor) && (await broker.read(principal, cursor)) !== undefined);
        if (!isKnown)
          throw new ProtocolError(RPC_INVALID_PARAMS, "The cursor is unknown: list from the beginning.");
        const views = await broker.list(principal, PAGE + 1, { before: cursor });
        const page = views.slice(0, PAGE);
        const whole = page.map(async (view) => {
          const { record } = view;
          const read = mayHaveFailed(record) ? await broker.read(principal, record.logId) : view;
          return shown(typeof read === "object" ? read : view);
        });
        const last = page.at(-1)?.record.logId;
        const hasMore = views.length > PAGE && last !== undefined;
        return { tasks: await Promise.all(whole), ...(hasMore ? { nextCursor: last } : {}) };
      } catch (error) {
        throw error instanceof ProtocolError ? error : refusalError(error, log);
      }
    },

    cancel: (taskId, asked) =>
      named(taskId, asked, async () => {
        const { principal, request } = asked;
        const before = found(await broker.read(principal, taskId));
        if (isFinal(before.record.state)) throw ended(before);
        const seen = found(await broker.cancel(principal, taskId, request.caller));
        request.accepted();
        if (seen.record.state === "cancelled") return shown(seen);
        if (isFinal(seen.record.state)) throw ended(seen);
        throw notCancelled(seen);
      }),
  };
}

/** The same for one that is unknown, of another principal, or no longer kept. */
function notFound(): ProtocolError {
  return new ProtocolError(RPC_INVALID_PARAMS, "There is no such task of yours: list them with tasks/list.");
}

function found(seen: OperationView | "retention_ended" | undefined): OperationView {
  if (typeof seen !== "object") throw notFound();
  return seen;
}

function ended({ record }: OperationView): ProtocolError {
  const why = record.error === undefined ? "" : ` ${record.error.message}`;
  return new ProtocolError(
    RPC_INVALID_PARAMS,
    `The task cannot be cancelled: its operation has ended (${record.state}).${why}`,
  );
}

function notCancelled({ record, editorAway }: OperationView): ProtocolError {
  if (record.cancel?.answer === "not_cancellable")
    return new ProtocolError(
      RPC_INVALID_PARAMS,
      "This tool cannot be cancelled while it runs. The task goes on.",
    );
  const when = editorAway
    ? "Its Editor is away, and is asked when it is back."
    : "The Editor was asked to cancel it.";
  return new ProtocolError(
    REQUEST_TIMED_OUT,
    `The task is not cancelled yet. ${when} tasks/get says when it is.`,
  );
}
