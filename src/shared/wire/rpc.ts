/** JSON-RPC 2.0 messages as plain values; no sockets, no pending requests (https://www.jsonrpc.org/specification). */

export type RpcId = number | string;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export type RpcMessage =
  | { kind: "request"; id: RpcId; method: string; params: unknown; guard?: unknown }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "result"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId | null; error: RpcError }
  | { kind: "invalid"; id: RpcId | null; error: RpcError };

export const RPC_PARSE_ERROR = -32700;
export const RPC_INVALID_REQUEST = -32600;
export const RPC_UNKNOWN_METHOD = -32601;
export const RPC_INVALID_PARAMS = -32602;
export const RPC_INTERNAL_ERROR = -32603;

/** Reads one message; never throws: an unreadable one is `invalid`, with the error to answer. Batches are refused. */
export function parseRpc(text: string): RpcMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(null, RPC_PARSE_ERROR, "not JSON");
  }
  if (Array.isArray(value)) return invalid(null, RPC_INVALID_REQUEST, "batches are not supported");
  if (typeof value !== "object" || value === null) {
    return invalid(null, RPC_INVALID_REQUEST, "not a JSON-RPC message");
  }
  const message = value as Record<string, unknown>;
  const id = isId(message.id) ? message.id : null;
  if (message.jsonrpc !== "2.0") return invalid(id, RPC_INVALID_REQUEST, 'jsonrpc must be "2.0"');
  if (typeof message.method === "string") {
    if (message.id === undefined) {
      return { kind: "notification", method: message.method, params: message.params };
    }
    if (id === null) return invalid(null, RPC_INVALID_REQUEST, "id must be a string or a number");
    const guard = message[GUARD] === undefined ? {} : { guard: message[GUARD] };
    return { kind: "request", id, method: message.method, params: message.params, ...guard };
  }
  if (isError(message.error)) return { kind: "error", id, error: message.error };
  if (id !== null && "result" in message) return { kind: "result", id, result: message.result };
  return invalid(id, RPC_INVALID_REQUEST, "neither a request nor a response");
}

/** `guard`: values that an Editor compares with its own before it acts (plain bridges only; others ignore it). */
export const rpcRequest = (id: RpcId, method: string, params: unknown, guard?: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params, [GUARD]: guard });

const GUARD = "x-uloop";

export const rpcNotification = (method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params });

export const rpcResult = (id: RpcId, result: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result });

export const rpcFailure = (id: RpcId | null, error: RpcError): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error });

/** A worker's answer to a request: the protocol has no requests from Editor to worker. */
export const rpcUnanswered = (id: RpcId): string =>
  rpcFailure(id, { code: RPC_UNKNOWN_METHOD, message: "a worker answers no requests" });

function invalid(id: RpcId | null, code: number, message: string): RpcMessage {
  return { kind: "invalid", id, error: { code, message } };
}

function isId(value: unknown): value is RpcId {
  return typeof value === "string" || typeof value === "number";
}

function isError(value: unknown): value is RpcError {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as RpcError).code === "number" &&
    typeof (value as RpcError).message === "string"
  );
}

// Requests and their answers on one JSON-RPC line, matched by id and in any order; no sockets, no clocks.

/** The peer answered a request with an error: the request arrived, was read and refused. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  readonly code: number;
  readonly data: unknown;

  constructor(error: RpcError) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

export type RpcAnswer =
  | { kind: "result"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId; error: RpcError };

export interface Dialogue {
  /** Opens a request under an id never used before here; `answer` settles exactly once. */
  open(): { id: number; answer: Promise<unknown> };
  /** Settles the request of this answer; false if none is open under its id. */
  accept(answer: RpcAnswer): boolean;
  isOpen(id: RpcId): boolean;
  /** Gives up one request; does nothing if it is settled. */
  reject(id: RpcId, error: Error): void;
  /** Gives up every open request, each with its own error. */
  abandon(error: () => Error): void;
}

export function createDialogue(): Dialogue {
  const open = new Map<RpcId, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;

  const take = (id: RpcId) => {
    const question = open.get(id);
    open.delete(id);
    return question;
  };

  return {
    open() {
      const id = ++lastId;
      const answer = new Promise<unknown>((resolve, reject) => open.set(id, { resolve, reject }));
      return { id, answer };
    },
    accept(answer) {
      const question = take(answer.id);
      if (!question) return false;
      if (answer.kind === "result") question.resolve(answer.result);
      else question.reject(new RpcFailure(answer.error));
      return true;
    },
    isOpen: (id) => open.has(id),
    reject(id, error) {
      take(id)?.reject(error);
    },
    abandon(error) {
      const questions = [...open.values()];
      open.clear();
      for (const question of questions) question.reject(error());
    },
  };
}
