/** Stateless requests over HTTP: one exchange each, whose answer is one JSON object or a stream of its own. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import {
  classifyInboundRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from "@modelcontextprotocol/server";
import { wellFormedJson } from "../../../shared/printable.js";
import { RPC_UNKNOWN_METHOD } from "../../../shared/wire/rpc.js";
import { singleRequest } from "../../exchange.js";
import { watchExchange } from "../http/http-exchange.js";
import { idTooLong, isTooLong, nothing, storeAway } from "../read-message.js";
import { type Channel, loneRequest } from "../request-tracker.js";
import type { McpServerDeps } from "../server-deps.js";
import { HEADER_MISMATCH, MISSING_CAPABILITY, REVISION, unsupported } from "./protocol.js";
import { createStatelessServer } from "./server.js";

// The headers of a stateless request that repeat its body, for what stands between client and server. A request whose headers
// say something else than its body is refused: what decided by the headers would have decided wrongly.

/** The parameter that `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

export interface HeaderMismatch {
  code: number;
  message: string;
}

/** What is wrong with the headers; that those of version and method agree with the body is checked where the revision is found. */
export function headerMismatch(
  headers: IncomingHttpHeaders,
  { method, params }: JSONRPCRequest,
): HeaderMismatch | undefined {
  if (headers["mcp-protocol-version"] === undefined) return mismatch("MCP-Protocol-Version is missing.");
  if (headers["mcp-method"] === undefined) return mismatch("Mcp-Method is missing.");
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const named = field === undefined ? undefined : params?.[field];
  if (typeof named !== "string") return undefined;
  const header = headers["mcp-name"];
  if (typeof header !== "string") return mismatch("Mcp-Name is missing.");
  const value = decoded(header);
  if (value === undefined) return mismatch("Mcp-Name is not valid Base64.");
  if (value !== named) return mismatch(`Mcp-Name does not say what params.${field} says.`);
  return undefined;
}

const mismatch = (what: string): HeaderMismatch => ({
  code: HEADER_MISMATCH,
  message: `The headers do not agree with the body: ${what}`,
});

const BASE64 = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Values that no header can carry are written in Base64. Undefined if that is damaged. */
function decoded(header: string): string | undefined {
  if (!header.startsWith("=?base64?")) return header;
  const encoded = BASE64.exec(header)?.[1];
  return encoded === undefined || encoded.length % 4 !== 0
    ? undefined
    : Buffer.from(encoded, "base64").toString("utf8");
}

/** The response of one exchange: JSON, or a stream of events from the first message on that is not the answer. */
export interface ResponseStream {
  /** A message before the answer. */
  send(message: JSONRPCMessage): void;
  /** `status`: unless a stream has begun. */
  end(answer: JSONRPCMessage, status: number): void;
}

/** Most bytes that a client may leave unread; its stream ends then. */
const MOST_UNREAD = 1024 * 1024;

/** `streams`: from the first moment on. `keepAliveMs`: how often a comment shows that the stream is alive. */
function createResponseStream(
  raw: ServerResponse,
  { keepAliveMs, streams }: { keepAliveMs: number; streams: boolean },
): ResponseStream {
  let timer: NodeJS.Timeout | undefined;
  let isStream = false;

  const write = (text: string): void => {
    if (raw.destroyed) return;
    raw.write(text);
    if (raw.writableLength > MOST_UNREAD) raw.destroy();
  };
  const begin = (): void => {
    if (isStream || raw.destroyed) return;
    isStream = true;
    raw.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      // Else a reverse proxy keeps events until it has many.
      "x-accel-buffering": "no",
    });
    raw.flushHeaders();
    timer = setInterval(() => write(": alive\n\n"), keepAliveMs);
    raw.once("close", () => clearInterval(timer));
  };
  const event = (message: JSONRPCMessage): string => `event: message\ndata: ${wellFormedJson(message)}\n\n`;
  if (streams) begin();

  return {
    send(message) {
      begin();
      write(event(message));
    },
    end(answer, status) {
      clearInterval(timer);
      if (raw.destroyed) return;
      if (isStream) {
        raw.end(event(answer));
        return;
      }
      raw.writeHead(status, { "content-type": "application/json" });
      raw.end(wellFormedJson(answer));
    },
  };
}

/** What becomes of a POST: an answer at once, or an exchange. */
export type Taken =
  | { kind: "refused"; status: number; body: JSONRPCMessage | undefined }
  | { kind: "request"; message: JSONRPCRequest };

export interface StatelessHttp {
  /** Undefined if the message is of an earlier revision. */
  take(headers: IncomingHttpHeaders, body: unknown): Taken | undefined;
  /** Resolves when the exchange is over. Each request is a caller of its own: nobody can come back as the same. */
  serve(principal: string, message: JSONRPCRequest, raw: ServerResponse<IncomingMessage>): Promise<void>;
}

export function createStatelessHttp(deps: McpServerDeps, options: { keepAliveMs: number }): StatelessHttp {
  const server = createStatelessServer(deps);

  const take: StatelessHttp["take"] = (headers, body) => {
    const outcome = classifyInboundRequest({
      httpMethod: "POST",
      ...named("protocolVersionHeader", headers["mcp-protocol-version"]),
      ...named("mcpMethodHeader", headers["mcp-method"]),
      ...named("mcpNameHeader", headers["mcp-name"]),
      body,
    });
    // What is no message at all is refused as it always was.
    if (outcome.kind === "legacy" || (outcome.kind === "reject" && outcome.rung === "jsonrpc-shape"))
      return undefined;
    if (outcome.kind === "reject") {
      const { code, message, data } = outcome;
      return refused(outcome.httpStatus, idOf(body), { code, message, data });
    }
    // No notification of a client has a meaning here: its request ends with its stream.
    if (outcome.messageKind === "notification") return { kind: "refused", status: 202, body: undefined };
    const { message, classification } = outcome;
    if (classification.revision !== REVISION)
      return refused(400, message.id, unsupported(classification.revision));
    const mismatch = headerMismatch(headers, message);
    if (mismatch) return refused(400, message.id, mismatch);
    if (isTooLong(message.id)) return { kind: "refused", status: 400, body: idTooLong(message.id) };
    if (!server.has(message.method))
      return refused(404, message.id, { code: RPC_UNKNOWN_METHOD, message: "Method not found." });
    return { kind: "request", message };
  };

  return {
    take,

    async serve(principal, message, raw) {
      const { written, ...way } = watchExchange(raw);
      // A call may take as long as it likes: its stream shows that it is alive.
      const streams = message.method === "tools/call";
      const response = createResponseStream(raw, { keepAliveMs: options.keepAliveMs, streams });
      const channel: Channel = {
        ...way,
        async write(answer) {
          response.end(answer, statusOf(answer));
          return written;
        },
        discard: async () => void raw.destroy(),
      };
      const exchange = deps.exchanges.open({ principal, caller: singleRequest("http"), way });
      const notify = (method: string, params: Record<string, unknown>): void =>
        response.send({ jsonrpc: "2.0", method, params });
      const request = loneRequest(exchange, channel, message.id);
      const isAwaited = !streams || (await exchange.isAwaited());
      const answer = isAwaited
        ? await server.answer({ principal, message, request, folders: [], notify })
        : nothing(message.id);
      await exchange.answer((mayTell) => channel.write(mayTell ? answer : storeAway(message.id)));
      if (exchange.isDropped) await channel.discard(answer);
    },
  };
}

/** The two errors whose status the protocol prescribes and that are found out only by the method. */
function statusOf(answer: JSONRPCMessage): number {
  return "error" in answer && answer.error.code === MISSING_CAPABILITY ? 400 : 200;
}

function refused(
  status: number,
  id: RequestId | undefined,
  error: { code: number; message: string; data?: unknown },
): Taken {
  return { kind: "refused", status, body: { jsonrpc: "2.0", id, error } as JSONRPCMessage };
}

function named<K extends string>(key: K, value: unknown): Partial<Record<K, string>> {
  return typeof value === "string" ? ({ [key]: value } as Record<K, string>) : {};
}

function idOf(body: unknown): RequestId | undefined {
  const id = typeof body === "object" && body !== null && "id" in body ? body.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
