/** Real clients that know the tasks of revision 2025-11-25, over HTTP and over standard streams. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  CreateTaskResultSchema,
  type McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { createHeardLog, createPipes, createPipeTransport } from "./mcp.js";
import { useMcpCallers } from "./mcp-callers.js";

const PROGRESS = { everyMs: 20, minMs: 1 };

export const TASK_WAYS = ["HTTP", "stdio"] as const;
/** Behind a proxy what was delivered is not known to have been read. */
export type TaskWay = (typeof TASK_WAYS)[number] | "proxy";

/** Call it at the top of a test file; what a test opens is closed after it. */
export function useTaskClients() {
  const { serve } = useMcpCallers();
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const overHttp =
    (headers: Record<string, string>) =>
    async (gateway: Gateway, client: Client): Promise<() => Promise<void>> => {
      const { url, close } = await serve(gateway, { progress: PROGRESS });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      return close;
    };
  const ways: Record<TaskWay, (gateway: Gateway, client: Client) => Promise<() => Promise<void>>> = {
    HTTP: overHttp({}),
    proxy: overHttp({ "x-forwarded-for": "203.0.113.7" }),
    async stdio(gateway, client) {
      const pipes = createPipes();
      const deps = { gateway, log: createHeardLog(), version: "0" };
      const service = serveStdio(deps, pipes, { progress: PROGRESS });
      closers.push(service.close);
      await client.connect(createPipeTransport(pipes));
      return service.close;
    },
  };

  return async (gateway: Gateway, way: TaskWay = "stdio") => {
    const client = new Client({ name: "tasks", version: "1" }, { capabilities: { tasks: {} } });
    /** Ends what serves it. */
    const end = await ways[way](gateway, client);
    closers.push(() => client.close());
    const { tasks } = client.experimental;
    return {
      client,
      tasks,
      end,
      create: async (args: Record<string, unknown>, name = "work", options: RequestOptions = {}) =>
        client.request({ method: "tools/call", params: { name, arguments: args } }, CreateTaskResultSchema, {
          task: { ttl: 60_000 },
          ...options,
        }),
      result: async (taskId: string): Promise<CallToolResult> =>
        (await tasks.getTaskResult(taskId, CallToolResultSchema)) as CallToolResult,
    };
  };
}

/** How a request was refused. */
export async function refusalOf(asked: Promise<unknown>): Promise<{ code: number; message: string }> {
  const error = await asked.then(
    () => Object.assign(new Error("it was answered"), { code: 0 }),
    (one: McpError) => one,
  );
  return { code: error.code, message: error.message };
}
