/** `tools/call` with `params.task`: answered as soon as the operation is there, by the task that it is. */
import type { CallToolRequest, CreateTaskResult, Task as McpTask } from "@modelcontextprotocol/sdk/types.js";
import { answerOf, type OperationView } from "../../../shared/operation/answer.js";
import { RPC_UNKNOWN_METHOD } from "../../../shared/wire/rpc.js";
import type { Broker } from "../../broker.js";
import type { Submission } from "../../submit.js";
import { ProtocolError } from "../protocol-error.js";
import { type CallToolDeps, type OpenCall, toolCallOf } from "../requests/call-tool.js";
import { type Task, taskOf } from "../task.js";
import { BROKER_TOOLS } from "../tools/broker-tools.js";
import { refusalError } from "../tools/tool-answer.js";

export const RELATED_TASK = "io.modelcontextprotocol/related-task";
const IMMEDIATE_RESPONSE = "io.modelcontextprotocol/model-immediate-response";

/** In the words of this revision. */
export function asMcpTask({ ttlMs, pollIntervalMs, ...task }: Task): McpTask {
  return {
    ...task,
    ttl: ttlMs,
    ...(pollIntervalMs === undefined ? {} : { pollInterval: pollIntervalMs }),
  };
}

/**
 * A duplicate is answered by the task of the operation that it joined, or that answers it, and is told so. The `ttl` that the
 * client wishes is replaced by the store's: other callers may read the same operation. Throws a ProtocolError where a call
 * without a task would be refused.
 */
export async function callAsTask(
  deps: CallToolDeps,
  params: CallToolRequest["params"],
  call: OpenCall,
): Promise<{ created: CreateTaskResult; logId: string }> {
  const { broker, log } = deps;
  const { request, principal } = call;
  const { task: _task, ...called } = params;
  if (BROKER_TOOLS.has(called.name)) {
    const message = `${called.name} answers at once: call it without a task.`;
    throw new ProtocolError(RPC_UNKNOWN_METHOD, message);
  }
  try {
    const submission = await broker.submit(toolCallOf(called, call));
    const { record, relation } = submission;
    request.waitsFor(record.logId, relation === "created");
    request.accepted();
    await broker.count("log_id");
    const view = relation === "created" ? undefined : await broker.read(principal, record.logId);
    const known = typeof view === "object" ? view : { record, now: record.acceptedAt };
    return { created: await createdTask(broker, known, relation), logId: record.logId };
  } catch (error) {
    throw refusalError(error, log);
  } finally {
    request.accepted();
  }
}

/** The answer to the call. */
export async function createdTask(
  broker: Pick<Broker, "retentionMs">,
  view: OperationView,
  relation: Submission["relation"],
): Promise<CreateTaskResult> {
  const { record } = view;
  const task = asMcpTask(taskOf(view, await broker.retentionMs()));
  const same = `this task is the operation of an identical call, accepted at ${task.createdAt}.`;
  const before = { created: "", joined: `Joined: ${same} `, replayed: `Not run again: ${same} ` }[relation];
  const statusMessage = `${before}${task.statusMessage}`;
  const { message } = answerOf(view, relation === "created" ? {} : { duplicate: relation });
  return {
    task: { ...task, statusMessage },
    _meta: {
      [RELATED_TASK]: { taskId: record.logId },
      [IMMEDIATE_RESPONSE]: `log_id ${record.logId}: ${message}`,
    },
  };
}
