/**
 * MCP clients in a test's hands: every JSON-RPC id, every header and every connection is the test's own choice, so
 * that a late, a lost and a doubled message can be sent, which a client library would not do.
 */

import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { answerIn } from "../mcp/answer-in.js";
import { checkMessageSize } from "../mcp/message-size.js";
import type { RunningProcess } from "./processes.js";

/** A tool's answer, as far as tests look at it. */
export interface CallAnswer {
  status: string;
  log_id?: string;
  state?: string;
  result?: unknown;
  error_code?: string;
  deduplicated?: boolean;
  [field: string]: unknown;
}

interface RpcResponse {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** One request under way. */
export interface Asked {
  readonly id: number;
  /** Rejects when the connection ends first. */
  readonly answer: Promise<CallAnswer>;
  /** Ends the connection that waits for it; the gateway hears of it by the connection only. */
  hangUp(): void;
  /** Resolves when the request has left this process. */
  readonly sent: Promise<void>;
}

export interface TestClient {
  readonly transport: "http" | "stdio";
  /** Sends a tool call; `id` where an older one is to be used again or overtaken. */
  ask(tool: string, args: Record<string, unknown>, options?: { id?: number }): Asked;
  /** The same and waits for the answer. */
  call(tool: string, args: Record<string, unknown>, options?: { id?: number }): Promise<CallAnswer>;
  /** Any other request. */
  request(method: string, params?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** `notifications/cancelled` for a request, answered or not; unless it says another reason, because its time is over. */
  giveUp(id: number, reason?: string): Promise<void>;
  /** An id that no request had yet. */
  nextId(): number;
  close(): Promise<void>;
}

/** What clients say whose time is over. */
export const TIMED_OUT = "Request timed out";

/** What a proxy says of whom it speaks for: it may keep an answer for itself. */
export const BEHIND_A_PROXY = { "x-forwarded-for": "203.0.113.7" };

const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test-client", version: "1" },
};

export interface HttpClient extends TestClient {
  readonly sessionId: string;
}

/** A new session. `url` is asked for each request: a gateway that was started again may listen elsewhere. */
export async function openHttpClient(
  url: () => string,
  ownHeaders: Record<string, string> = {},
): Promise<HttpClient> {
  const agent = new Agent({ keepAlive: true });
  let sessionId = "";
  let lastId = 0;

  const post = (message: object, wanted: number | undefined): Asked & { response: Promise<RpcResponse> } => {
    const body = JSON.stringify(message);
    const outgoing = httpRequest(url(), {
      method: "POST",
      agent,
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(sessionId === "" ? {} : { "mcp-session-id": sessionId, "mcp-protocol-version": "2025-06-18" }),
        ...ownHeaders,
      },
    });
    const sent = new Promise<void>((resolve) => {
      outgoing.once("finish", resolve);
      outgoing.once("close", resolve);
    });
    const response = new Promise<RpcResponse>((resolve, reject) => {
      outgoing.once("error", reject);
      outgoing.once("response", (incoming) => {
        const given = incoming.headers["mcp-session-id"];
        if (typeof given === "string") sessionId = given;
        readAnswer(incoming, wanted).then(resolve, reject);
      });
    });
    response.catch(() => undefined);
    outgoing.end(body);
    const answer = response.then(callAnswerOf);
    answer.catch(() => undefined);
    return { id: wanted ?? 0, response, answer, sent, hangUp: () => void outgoing.destroy() };
  };

  const request = async (method: string, params: Record<string, unknown> = {}) => {
    lastId += 1;
    const { response } = post({ jsonrpc: "2.0", id: lastId, method, params }, lastId);
    return resultOf(await response);
  };
  const ask: TestClient["ask"] = (tool, args, options = {}) => {
    const id = options.id ?? lastId + 1;
    lastId = Math.max(lastId, id);
    return post({ jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: args } }, id);
  };

  await request("initialize", INITIALIZE);
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, undefined).response;

  return {
    transport: "http",
    get sessionId() {
      return sessionId;
    },
    ask,
    call: (tool, args, options) => ask(tool, args, options).answer,
    request,
    async giveUp(id, reason = TIMED_OUT) {
      const params = { requestId: id, reason };
      await post({ jsonrpc: "2.0", method: "notifications/cancelled", params }, undefined).response;
    },
    nextId() {
      lastId += 1;
      return lastId;
    },
    async close() {
      agent.destroy();
    },
  };
}

/** The message with this id out of a JSON body or an event stream, as soon as it is there. */
function readAnswer(incoming: IncomingMessage, wanted: number | undefined): Promise<RpcResponse> {
  const isStream = incoming.headers["content-type"]?.startsWith("text/event-stream") === true;
  incoming.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let text = "";
    // Reads on after the answer: ending the connection there would say that it was not read.
    incoming.on("data", (chunk: string) => {
      text += chunk;
      if (!isStream) return;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        checkMessageSize(Buffer.byteLength(text.slice(0, end)));
        const message = messageOf(text.slice(0, end));
        text = text.slice(end + 2);
        if (message && !message.method && message.id === wanted) resolve(message);
      }
    });
    incoming.on("error", reject);
    incoming.on("close", () => {
      if (wanted === undefined) resolve({});
      else if (!isStream && text.startsWith("{")) {
        checkMessageSize(Buffer.byteLength(text));
        resolve(JSON.parse(text) as RpcResponse);
      } else reject(new Error(`the connection ended without an answer (HTTP ${incoming.statusCode})`));
    });
  });
}

function messageOf(event: string): RpcResponse | undefined {
  const data = event
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trim())
    .join("\n");
  return data === "" ? undefined : (JSON.parse(data) as RpcResponse);
}

export interface StdioClient extends TestClient {
  readonly process: RunningProcess;
}

/** Speaks to a process that serves MCP on its standard input and output. */
export async function openStdioClient(served: RunningProcess): Promise<StdioClient> {
  const open = new Map<number, { resolve(response: RpcResponse): void; reject(error: Error): void }>();
  let lastId = 0;

  served.onLine((line) => {
    if (line.trim() === "") return;
    checkMessageSize(Buffer.byteLength(line));
    // Only protocol may be written there: anything else fails here.
    const message = JSON.parse(line) as RpcResponse;
    if (message.method || typeof message.id !== "number") return;
    open.get(message.id)?.resolve(message);
    open.delete(message.id);
  });
  void served.ended.then(() => {
    for (const { reject } of open.values()) reject(new Error(`${served.name} ended`));
    open.clear();
  });

  const send = (id: number, method: string, params: Record<string, unknown>): Promise<RpcResponse> => {
    if (!served.isRunning) return Promise.reject(new Error(`${served.name} ended`));
    lastId = Math.max(lastId, id);
    const response = new Promise<RpcResponse>((resolve, reject) => open.set(id, { resolve, reject }));
    response.catch(() => undefined);
    served.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return response;
  };
  const notify = (method: string, params: Record<string, unknown> = {}): void =>
    served.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  const ask: TestClient["ask"] = (tool, args, options = {}) => {
    const id = options.id ?? lastId + 1;
    const answer = send(id, "tools/call", { name: tool, arguments: args }).then(callAnswerOf);
    answer.catch(() => undefined);
    return { id, answer, sent: Promise.resolve(), hangUp: () => open.delete(id) };
  };
  const request = async (method: string, params: Record<string, unknown> = {}) =>
    resultOf(await send(lastId + 1, method, params));

  await request("initialize", INITIALIZE);
  notify("notifications/initialized");

  return {
    transport: "stdio",
    process: served,
    ask,
    call: (tool, args, options) => ask(tool, args, options).answer,
    request,
    async giveUp(id, reason = TIMED_OUT) {
      notify("notifications/cancelled", { requestId: id, reason });
    },
    nextId() {
      lastId += 1;
      return lastId;
    },
    async close() {
      served.endInput();
      await served.ended;
    },
  };
}

function resultOf(response: RpcResponse): Record<string, unknown> {
  if (response.error) throw new Error(`JSON-RPC error ${response.error.code}: ${response.error.message}`);
  return response.result ?? {};
}

const callAnswerOf = (response: RpcResponse): CallAnswer => answerIn(resultOf(response));
