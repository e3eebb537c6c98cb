/** Classifies MCP messages, and builds the refusals of requests that the SDK's server never sees. */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import { ERRORS } from "../../shared/errors.js";
import { RPC_INVALID_REQUEST } from "../../shared/wire/rpc.js";

/** Most UTF-16 units of a request's id: the gateway remembers it, and stores it with the operation. */
const MOST_ID = 200;

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

/** May create an operation, in its place in the order of the client's messages. */
export function isToolCall({ method }: JSONRPCRequest): boolean {
  return method === "tools/call" || method === "tools/call_async";
}

export function isResponse(message: JSONRPCMessage): message is JSONRPCMessage & { id: RequestId } {
  return !("method" in message) && message.id !== undefined;
}

/** The request that a message cancels, and why; undefined for any other message. */
export function cancellationOf(
  message: JSONRPCMessage,
): { id: RequestId; reason: string | undefined } | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const { requestId: id, reason } = message.params ?? {};
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  return { id, reason: typeof reason === "string" ? reason : undefined };
}

export function isTooLong(id: RequestId | undefined): boolean {
  return typeof id === "string" && id.length > MOST_ID;
}

export function storeAway(id: RequestId): JSONRPCMessage {
  const { rpc, next } = ERRORS.STORE_UNAVAILABLE;
  return {
    jsonrpc: "2.0",
    id,
    error: { code: rpc, message: next, data: { error_code: "STORE_UNAVAILABLE" } },
  };
}

export function idTooLong(id: RequestId): JSONRPCMessage {
  const message = `Use request ids of at most ${MOST_ID} characters.`;
  return { jsonrpc: "2.0", id, error: { code: RPC_INVALID_REQUEST, message } };
}

/** Stands for the answer that a request does not get. */
export function nothing(id: RequestId): JSONRPCMessage {
  return { jsonrpc: "2.0", id, result: {} };
}
