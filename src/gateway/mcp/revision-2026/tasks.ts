/**
 * The extension io.modelcontextprotocol/tasks: for a client that knows it, a call whose wait ended without an outcome is
 * answered with a task, which is its operation under the operation's log_id, or under that and JOINED.
 */
import type { OperationView } from "../../../shared/operation/answer.js";
import { isFinal } from "../../../shared/operation/operation.js";
import { RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import type { Broker } from "../../broker.js";
import { ProtocolError } from "../protocol-error.js";
import { callTool } from "../requests/call-tool.js";
import type { McpServerDeps } from "../server-deps.js";
import { type Task, taskOf } from "../task.js";
import { UUID } from "../tools/broker-tool.js";
import { refusalError } from "../tools/tool-answer.js";
import { MISSING_CAPABILITY, TASKS } from "./protocol.js";
import type { ReadRequest } from "./request.js";

type Fields = Record<string, unknown>;

/** Ends the id of a task whose call joined an operation: nothing else tells later requests, which belong to no session. */
const JOINED = ":joined";

type Found = { view: OperationView; isJoined: boolean };

/** The answer to a call that goes on. */
export async function createdTask(broker: Pick<Broker, "retentionMs">, found: Found): Promise<Fields> {
  const task = shown(found, await broker.retentionMs());
  const said = found.isJoined
    ? `Joined the operation of an earlier identical call (log_id ${found.view.record.logId}). ${task.statusMessage}`
    : task.statusMessage;
  return { resultType: "task", ...task, statusMessage: said };
}

/** With the result that the call would have had, once there is one: that counts as its delivery. */
export async function getTask(deps: McpServerDeps, asked: ReadRequest): Promise<Fields> {
  const { principal, request, client, folders } = asked;
  const { view, isJoined } = await found(deps, asked);
  const task = shown({ view, isJoined }, await deps.broker.retentionMs());
  if (task.status !== "completed") return { ...task };
  const read = { name: "get_operation_result", arguments: { log_id: view.record.logId } };
  const reader = { principal, client, request, folders, selection: undefined };
  const silent = { progress: undefined, followConsole: undefined, askUser: undefined };
  const how = async () => (isJoined ? "joined" : undefined);
  return { ...task, result: await callTool(deps, read, { ...reader, ...silent, found: how }) };
}

/** No task ever asks for anything, so there is nothing that an answer could belong to. */
export async function updateTask(deps: McpServerDeps, asked: ReadRequest): Promise<Fields> {
  await found(deps, asked);
  return {};
}

/** Only asks for it; a task that has ended stays as it is. */
export async function cancelTask(deps: McpServerDeps, asked: ReadRequest): Promise<Fields> {
  const { record } = (await found(deps, asked)).view;
  const { principal, request } = asked;
  if (!isFinal(record.state))
    await refusing(deps, () => deps.broker.cancel(principal, record.logId, request.caller));
  return {};
}

/** Throws the protocol's error for a client that does not say it knows tasks. */
export function requireTasks(offersTasks: boolean): void {
  if (offersTasks) return;
  const requiredCapabilities = { extensions: { [TASKS]: {} } };
  throw new ProtocolError(MISSING_CAPABILITY, `This needs the client capability ${TASKS}.`, {
    requiredCapabilities,
  });
}

/** Another principal's task does not exist. */
async function found(deps: McpServerDeps, asked: ReadRequest): Promise<Found> {
  const { principal, request, params, offersTasks } = asked;
  requireTasks(offersTasks);
  const taskId = typeof params.taskId === "string" ? params.taskId : "";
  const isJoined = taskId.endsWith(JOINED);
  const logId = isJoined ? taskId.slice(0, -JOINED.length) : taskId;
  const view = UUID.test(logId)
    ? await refusing(deps, async () => {
        // Read (▲7): a caller that names a log_id has read what was delivered to it before.
        await request.names(logId);
        return deps.broker.read(principal, logId);
      })
    : undefined;
  if (typeof view === "object") return { view, isJoined };
  const why = view === "retention_ended" ? "The task has expired." : "There is no such task of yours.";
  throw new ProtocolError(RPC_INVALID_PARAMS, why);
}

/** Here "failed" is for errors of the protocol only: a call that failed has a result that says so. */
function shown({ view, isJoined }: Found, retentionMs: number): Task {
  const task = taskOf(view, retentionMs);
  const taskId = isJoined ? `${task.taskId}${JOINED}` : task.taskId;
  return { ...task, taskId, status: task.status === "failed" ? "completed" : task.status };
}

async function refusing<T>({ log }: McpServerDeps, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw refusalError(error, log);
  }
}
