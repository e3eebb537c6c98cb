/** MCP clients of tests: raw ones that send exactly what a test says, and what real ones need to speak in-process. */

import { PassThrough } from "node:stream";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import type { Log } from "../../../src/shared/telemetry.js";
import { answerIn } from "./answer-in.js";
import { checkMessageSize } from "./message-size.js";

/** A log that tests can wait for: the gateway says there what it tells no client. */
export interface HeardLog extends Log {
  /** Resolves when the sentence is said the next time, or was said before and not yet waited for. */
  said(message: string): Promise<Record<string, unknown>>;
  readonly lines: { message: string; values: Record<string, unknown> }[];
}

export function createHeardLog(): HeardLog {
  const lines: HeardLog["lines"] = [];
  const unheard = new Map<string, Record<string, unknown>[]>();
  const waiting = new Map<string, ((values: Record<string, unknown>) => void)[]>();
  const line = (values: Record<string, unknown>, message: string): void => {
    lines.push({ message, values });
    const waiter = waiting.get(message)?.shift();
    if (waiter) waiter(values);
    else unheard.set(message, [...(unheard.get(message) ?? []), values]);
  };
  return {
    lines,
    debug: line,
    info: line,
    warn: line,
    error: line,
    said(message) {
      const before = unheard.get(message)?.shift();
      if (before) return Promise.resolve(before);
      return new Promise((resolve) => waiting.set(message, [...(waiting.get(message) ?? []), resolve]));
    },
  };
}

export interface RpcAnswer {
  id?: number | string | null;
  result?: {
    content?: { text: string }[];
    structuredContent?: Answer;
    isError?: boolean;
    [key: string]: unknown;
  };
  error?: { code: number; message: string; data?: Record<string, unknown> };
  method?: string;
  params?: Record<string, unknown>;
}

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
} as const;

export const toolCall = (
  id: number | string,
  name: string,
  args: Record<string, unknown> = {},
  meta?: Record<string, unknown>,
) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(meta ? { _meta: meta } : {}) },
});

/** As a user's Esc, if no reason is given; "AbortError" is what most clients give. */
export const cancelOf = (requestId: number | string, reason?: string) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId, ...(reason === undefined ? {} : { reason }) },
});

/** Both ends of a process's standard streams. */
export interface Pipes {
  stdin: PassThrough;
  stdout: PassThrough;
}

export const createPipes = (): Pipes => ({ stdin: new PassThrough(), stdout: new PassThrough() });

/** Speaks lines to a stdio server, in the order and with the ids that a test chooses. */
export interface LinePeer {
  send(...messages: unknown[]): void;
  /** The answer to a request, whenever it comes. */
  answer(id: number | string): Promise<RpcAnswer>;
  /** What was answered or notified so far, in order. */
  readonly received: RpcAnswer[];
  /** Resolves when a message like this has come. */
  next(is: (message: RpcAnswer) => boolean): Promise<RpcAnswer>;
}

export function createLinePeer({ stdin, stdout }: Pipes): LinePeer {
  const received: RpcAnswer[] = [];
  const waiting = new Set<() => void>();
  let rest = "";
  stdout.setEncoding("utf8");
  stdout.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      checkMessageSize(Buffer.byteLength(line));
      received.push(JSON.parse(line) as RpcAnswer);
    }
    for (const look of waiting) look();
  });
  const next: LinePeer["next"] = (is) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = received.find(is);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    received,
    next,
    send(...messages) {
      stdin.write(messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""));
    },
    answer: (id) => next((message) => message.id === id && message.method === undefined),
  };
}

/** For the SDK's client: the other end of a server's standard streams. */
export function createPipeTransport({ stdin, stdout }: Pipes): Transport {
  const buffer = new ReadBuffer();
  let unread = 0;
  const transport: Transport = {
    async start() {
      stdout.on("data", (chunk: Buffer) => {
        unread += chunk.lastIndexOf("\n") === -1 ? chunk.length : chunk.indexOf("\n");
        checkMessageSize(unread);
        if (chunk.includes("\n")) unread = chunk.length - chunk.lastIndexOf("\n") - 1;
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message; message = buffer.readMessage()) {
          transport.onmessage?.(message);
        }
      });
    },
    async send(message: JSONRPCMessage) {
      stdin.write(serializeMessage(message));
    },
    async close() {
      stdin.end();
      transport.onclose?.();
    },
  };
  return transport;
}

/** One message posted to an MCP endpoint. */
export interface Posted {
  status: number;
  sessionId: string | null;
  /** The JSON-RPC messages of the response. */
  messages: RpcAnswer[];
}

export async function post(
  url: string,
  message: unknown,
  options: { session?: string; signal?: AbortSignal; headers?: Record<string, string> } = {},
): Promise<Posted> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(options.session === undefined ? {} : { "mcp-session-id": options.session }),
      ...options.headers,
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const text = await response.text();
  checkMessageSize(Buffer.byteLength(text));
  const messages = response.headers.get("content-type")?.startsWith("text/event-stream")
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? "") as RpcAnswer)
    : text === ""
      ? []
      : [JSON.parse(text) as RpcAnswer];
  return { status: response.status, sessionId: response.headers.get("mcp-session-id"), messages };
}

/** The answer of a tool call. */
export function reported(answer: RpcAnswer | undefined): Answer {
  return answerIn(answer?.result ?? {});
}
