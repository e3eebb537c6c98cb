/** Declares the tasks of revision 2025-11-25, and puts their requests behind the SDK's server. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CancelTaskRequestSchema,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import type { CallToolDeps } from "../requests/call-tool.js";
import { BROKER_TOOLS } from "../tools/broker-tools.js";
import { createTaskRequests, type TaskRequest } from "./task-requests.js";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** The server's capability. */
export const TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const OPTIONAL = { execution: { taskSupport: "optional" } };

/** For clients that know tasks: others would only read a longer list. The broker's own tools answer at once. */
export function withTaskSupport<T extends { name: string }>(tools: readonly T[]): T[] {
  return tools.map((tool) => (BROKER_TOOLS.has(tool.name) ? tool : { ...tool, ...OPTIONAL }));
}

export function serveTasks(server: Server, deps: CallToolDeps, asked: (extra: Extra) => TaskRequest): void {
  const tasks = createTaskRequests(deps);
  server.setRequestHandler(GetTaskRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.get(params.taskId, asked(extra))),
  }));
  server.setRequestHandler(GetTaskPayloadRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.result(params.taskId, asked(extra))),
  }));
  server.setRequestHandler(ListTasksRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.list(params?.cursor, asked(extra))),
  }));
  server.setRequestHandler(CancelTaskRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.cancel(params.taskId, asked(extra))),
  }));
}
