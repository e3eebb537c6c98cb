/** MCP clients of the in-process system, over HTTP and over standard streams, whose ids and timing a test chooses. */
import { afterEach } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import {
  createHttpGateway,
  type HttpGateway,
  type HttpGatewayOptions,
} from "../../../src/gateway/http/http.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import {
  cancelOf,
  createHeardLog,
  createLinePeer,
  createPipes,
  type HeardLog,
  INITIALIZE,
  post,
  type RpcAnswer,
  reported,
  toolCall,
} from "./mcp.js";

export interface McpCaller {
  /** Calls a tool under the next id, or a given one, and reads its answer; waits for 30 s if the call does not say. */
  call(tool: string, args?: Record<string, unknown>, id?: number): Promise<Answer>;
  /** The names in tools/list. */
  tools(): Promise<string[]>;
  /** `notifications/cancelled`; resolves when it was handled. */
  giveUp(id: number): Promise<void>;
  /** Resolves when everything that came from earlier messages is stored. */
  settle(): Promise<void>;
  /** Ends its session as an orderly client does. */
  leave(): Promise<void>;
}

export interface Served extends HttpGateway {
  port: number;
  log: HeardLog;
  gateway: Gateway;
}

/** Each session asks once. */
const LIST = { jsonrpc: "2.0", id: "list", method: "tools/list" } as const;

const namesIn = (answer: RpcAnswer | undefined): string[] =>
  ((answer?.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);

/** What the client calls itself. */
export interface ClientInfo {
  name: string;
  version: string;
}

const initialize = (clientInfo: ClientInfo | undefined) =>
  clientInfo ? { ...INITIALIZE, params: { ...INITIALIZE.params, clientInfo } } : INITIALIZE;

/** Call it at the top of a test file; what a test opens is closed after it. */
export function useMcpCallers() {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const serve = async (gateway: Gateway, options: Partial<HttpGatewayOptions> = {}): Promise<Served> => {
    const log = createHeardLog();
    const http = await createHttpGateway(
      { gateway, log, version: "0.0.0" },
      { host: "127.0.0.1", port: 0, listDebounceMs: 10, ...options },
    );
    closers.push(http.close);
    return { ...http, port: Number(new URL(http.url).port), log, gateway };
  };

  /** A new session of a gateway that is served, or is now. */
  const http = async (at: Gateway | Served, info?: ClientInfo): Promise<McpCaller & { session: string }> => {
    const { url, gateway } = "url" in at ? at : await serve(at);
    const session = (await post(url, initialize(info))).sessionId ?? "";
    const send = (message: unknown) => post(url, message, { session });
    await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    let lastId = 0;
    return {
      session,
      async call(tool, args, id = lastId + 1) {
        lastId = Math.max(lastId, id);
        return reported((await send(toolCall(id, tool, { timeout: 30, ...args }))).messages.at(-1));
      },
      async tools() {
        return namesIn((await send(LIST)).messages.at(-1));
      },
      async giveUp(id) {
        await send(cancelOf(id));
        await send({ jsonrpc: "2.0", id: "given up", method: "ping" });
        await gateway.broker.noted();
      },
      async settle() {
        await send({ jsonrpc: "2.0", id: "settle", method: "ping" });
        await gateway.broker.noted();
      },
      async leave() {
        await fetch(url, { method: "DELETE", headers: { "mcp-session-id": session } });
      },
    };
  };

  /** A new process, as far as the broker can tell. */
  const stdio = async (
    gateway: Gateway,
    { folder, info }: { folder?: string; info?: ClientInfo } = {},
  ): Promise<McpCaller> => {
    const pipes = createPipes();
    const service = serveStdio(
      { gateway, log: createHeardLog(), version: "0.0.0" },
      { stdin: pipes.stdin, stdout: pipes.stdout },
      { listDebounceMs: 10, ...(folder === undefined ? {} : { folder }) },
    );
    closers.push(service.close);
    const { send, answer } = createLinePeer(pipes);
    send(initialize(info), { jsonrpc: "2.0", method: "notifications/initialized" });
    await answer(0);
    let lastId = 0;
    let pings = 0;
    const settle = async (): Promise<void> => {
      pings += 1;
      const id = `settle ${pings}`;
      send({ jsonrpc: "2.0", id, method: "ping" });
      await answer(id);
      await gateway.broker.noted();
    };
    return {
      async call(tool, args, id = lastId + 1) {
        lastId = Math.max(lastId, id);
        send(toolCall(id, tool, { timeout: 30, ...args }));
        return reported(await answer(id));
      },
      async tools() {
        send(LIST);
        return namesIn(await answer(LIST.id));
      },
      async giveUp(id) {
        send(cancelOf(id));
        await settle();
      },
      settle,
      async leave() {
        pipes.stdin.end();
        await service.closed;
      },
    };
  };

  return { serve, http, stdio };
}
