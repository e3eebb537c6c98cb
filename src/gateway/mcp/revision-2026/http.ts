/** Stateless requests over HTTP: one exchange each, whose answer is one JSON object or a stream of its own. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import {
  classifyInboundRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from "@modelcontextprotocol/server";
import { RPC_UNKNOWN_METHOD } from "../../../shared/wire/rpc.js";
import { singleRequest } from "../../exchange.js";
import { watchExchange } from "../http/http-exchange.js";
import { idTooLong, isTooLong, nothing, storeAway } from "../message-kinds.js";
import { type Channel, loneRequest } from "../open-request.js";
import type { McpServerDeps } from "../server-deps.js";
import { headerMismatch } from "./headers.js";
import { MISSING_CAPABILITY, REVISION, unsupported } from "./protocol.js";
import { createResponseStream } from "./response-stream.js";
import { createStatelessServer } from "./server.js";

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
