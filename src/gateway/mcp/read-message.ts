/**
 * The one reading of what clients send, on every surface that carries MCP: a message as its servers may trust it, or what is wrong with
 * it and what to send instead (JSON-RPC 2.0; MCP 2025-11-25, "Messages"). Members that nobody knows are ignored, and null in a member
 * that may be left out is like leaving it out.
 */
import { ClientRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/server";
import { z } from "zod";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import { ENOUGH, eachMember, endOf, stringAt, typeAt, valueAt } from "../../shared/results/json-text.js";
import { excessOf, RPC_INVALID_PARAMS, RPC_INVALID_REQUEST, RPC_PARSE_ERROR } from "../../shared/wire/rpc.js";
import { VERSION_KEY } from "./revision-2026/protocol.js";

export type ReadMessage =
  | { message: JSONRPCMessage }
  /** `isAwaited`: false if nobody waits for it, as for a broken notification. */
  | { refusal: Refusal; isAwaited: boolean };

export type Refusal = JSONRPCMessage & { error: { code: number; message: string } };

/**
 * The most JSON values of a message, and how deep it may nest: parsing and walking it holds up everybody else. A long string costs little.
 * The arguments of a call have a lower limit of levels (findUnhashable).
 */
const [MOST_VALUES, MOST_LEVELS] = [20_000, 210];

/** Never throws. */
export function readMessage(text: string): ReadMessage {
  let value: unknown;
  try {
    value = jsonIn(text);
  } catch (error) {
    return unread(text, error as BrokerError);
  }
  if (Array.isArray(value))
    return refusal(null, RPC_INVALID_REQUEST, "Batches are not supported. Send one message at a time.");
  if (!isObject(value))
    return refusal(null, RPC_INVALID_REQUEST, "The message is no JSON object. Send one of JSON-RPC 2.0.");
  const { jsonrpc, id, method, params, result, error } = value;
  const isAnswer = isUnset(method) && ("result" in value || "error" in value);
  // An answer to an answer could be taken for one to another request. And some write null where a notification has no id.
  const isRequest = id !== undefined && !isAnswer && !(id === null && isNotification(method));
  const refuse = (said: string, code = RPC_INVALID_REQUEST): ReadMessage =>
    refusal(canComeBack(id) && isRequest ? id : null, code, said, isRequest);

  if (jsonrpc !== "2.0") return refuse('The message is not of JSON-RPC 2.0. Add "jsonrpc": "2.0".');
  if (isAnswer)
    return {
      message: { jsonrpc, id, ...(isUnset(error) ? { result: result ?? {} } : { error }) } as JSONRPCMessage,
    };
  if (typeof method !== "string") return refuse("`method` is no string. Name the method that you call.");
  if (isRequest && typeof id !== "string" && !Number.isSafeInteger(id))
    return refuse("`id` is neither a string nor an integer below 2^53. Use one of these.");
  if (!isUnset(params) && !isObject(params))
    return refuse("`params` is no object. Send the parameters by name, or none.", RPC_INVALID_PARAMS);
  const isCall = method.startsWith("tools/");
  const given = isObject(params) ? { params: withoutNulls(params, isCall) } : {};
  const faults = isRequest ? faultsOf(method, given.params ?? {}) : [];
  if (faults.length > 0)
    return refuse(
      `The request is wrong: ${faults.join("; ")}. Fix it, then send it again.`,
      RPC_INVALID_PARAMS,
    );
  return { message: { jsonrpc, method, ...(isRequest ? { id } : {}), ...given } as JSONRPCMessage };
}

/** Counts before it parses. Throws a BrokerError. A byte order mark, with which some begin, is no part of JSON. */
function jsonIn(text: string): unknown {
  const excess = excessOf(Buffer.from(text), MOST_VALUES, MOST_LEVELS);
  if (excess === "values")
    throw new BrokerError("ARGUMENTS_TOO_LARGE", `The message has more than ${MOST_VALUES} JSON values.`);
  if (excess === "levels")
    throw new BrokerError("ARGUMENTS_TOO_DEEP", `The message nests deeper than ${MOST_LEVELS} levels.`);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new BrokerError("INVALID_ARGUMENTS", "The message is not JSON.");
  }
}

/** Of a message that was not parsed: its request gets its answer nevertheless. */
function unread(text: string, { code, message }: BrokerError): ReadMessage {
  if (code === "INVALID_ARGUMENTS")
    return refusal(null, RPC_PARSE_ERROR, "The message is not JSON. Send one JSON object, in UTF-8.");
  const envelope = envelopeIn(text);
  const { id, method } = envelope ?? {};
  // What has only one of them is a notification or an answer.
  const isAwaited = !envelope || (id !== undefined && method !== undefined);
  const isAnswered = isAwaited && canComeBack(id);
  return refusal(
    isAnswered ? id : null,
    isAnswered ? ERRORS[code].rpc : RPC_INVALID_REQUEST,
    message,
    isAwaited,
  );
}

/** The longest `id` and `method` that are looked for, bytes, and among how many members. */
const [MOST_SHORT, MOST_MEMBERS] = [1_000, 20];

/** `id` and `method` of an object that is not parsed; null stands for a value that is neither. Undefined: it is no object. */
export function envelopeIn(text: string): { id?: unknown; method?: unknown } | undefined {
  const before = /^\uFEFF?\s*(?=\{)/.exec(text)?.[0];
  if (before === undefined) return undefined;
  const bytes = Buffer.from(text);
  const found: { id?: unknown; method?: unknown } = {};
  let members = 0;
  try {
    eachMember(bytes, Buffer.byteLength(before), (keyStart, start) => {
      const end = endOf(bytes, start);
      const key = stringAt(bytes, keyStart);
      if (key === "id" || key === "method") {
        const isPlain = ["string", "number"].includes(typeAt(bytes, start)) && end - start <= MOST_SHORT;
        found[key] = isPlain ? valueAt(bytes, { start, end }) : null;
      }
      members += 1;
      return members < MOST_MEMBERS ? end : ENOUGH;
    });
    return found;
  } catch {
    return undefined;
  }
}

export const bodyTooLarge = (most: number): BrokerError =>
  new BrokerError("ARGUMENTS_TOO_LARGE", `The body is larger than ${most} bytes.`);

/** A body of the REST API or a message of its WebSocket, where null says the same. Throws a BrokerError. */
export function bodyIn(text: string): unknown {
  const value = jsonIn(text);
  return isObject(value) ? withoutNulls(value, true) : value;
}

/** Without the members that are null. `keepsArguments`: but for those of its `arguments`, where null may be a value. */
function withoutNulls(value: Record<string, unknown>, keepsArguments: boolean): Record<string, unknown> {
  const used = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    used.map(([name, member]) => [
      name,
      isObject(member) && !(keepsArguments && name === "arguments") ? withoutNulls(member, false) : member,
    ]),
  );
}

// The requests of asynchronous calls, an extension of the broker's own (revision-2025/async-calls.ts).

/** For how long a client is told of a call: as long as an hour, and at most as long as results are kept by default, s. */
const FOLLOWED = 3_600;
const MOST_FOLLOWED = 86_400;

const Meta = z.record(z.string(), z.unknown()).optional();

export const CallAsyncRequest = z.object({
  method: z.literal("tools/call_async"),
  params: z.object({
    name: z.string().min(1),
    arguments: z.record(z.string(), z.unknown()).default({}),
    /** Whether the client wants notifications. */
    enable_progress: z.boolean().default(false),
    /** For how many seconds it wants them; the operation goes on after that. */
    timeout: z.number().min(0).max(MOST_FOLLOWED).default(FOLLOWED),
    _meta: Meta,
  }),
});

export const ProgressRequest = z.object({
  method: z.literal("tools/progress"),
  params: z.object({ log_id: z.string(), _meta: Meta }),
});

export const ResultRequest = z.object({
  method: z.literal("tools/result"),
  params: z.object({
    log_id: z.string(),
    /** Seconds to wait for it. */
    timeout: z.number().min(0).default(0),
    _meta: Meta,
  }),
});

const SCHEMAS = new Map<string, z.ZodType>(
  [...ClientRequestSchema.options, CallAsyncRequest, ProgressRequest, ResultRequest].map(({ shape }) => [
    shape.method.value,
    shape.params as z.ZodType,
  ]),
);

/** Methods that belong to a session; a stateless request of one is refused as unknown. */
const OF_SESSIONS =
  /^(initialize|ping|logging\/.*|resources\/(un)?subscribe|tasks\/(list|result)|tools\/(call_async|progress|result))$/;

/** What is wrong with the parameters of a method; nothing of one that is not known here. */
function faultsOf(method: string, params: Record<string, unknown>): string[] {
  const isStateless = isObject(params._meta) && VERSION_KEY in params._meta;
  if (isStateless && OF_SESSIONS.test(method)) return [];
  const read = SCHEMAS.get(method)?.safeParse(params);
  return read?.success === false ? clausesOf(read.error.issues, "params") : [];
}

/** Each issue as a clause about what it names, the first few. `within`: what contains it all. */
export function clausesOf(issues: readonly z.core.$ZodIssue[], within?: string): string[] {
  return issues.slice(0, 5).map((issue) => {
    const name = [...(within === undefined ? [] : [within]), ...issue.path].join(".");
    return `${name || "it"} ${clauseOf(issue)}`;
  });
}

const NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  object: "an object",
  record: "an object",
  array: "an array",
};

function clauseOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.endsWith("received undefined")
        ? "is missing"
        : `must be ${NAMES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "unrecognized_keys":
      return `has no ${issue.keys.join(", ")}`;
    case "invalid_union": {
      const each = issue.errors.map((errors) =>
        errors.map((error) => [...error.path, clauseOf(error)].join(" ")),
      );
      return (
        [...new Set(each.map((clauses) => clauses.join(" and ")))].join(", or ") || "is of no known type"
      );
    }
    case "too_big":
      return `must be at most ${issue.maximum}${unitOf(issue)}`;
    case "too_small":
      return `must be at least ${issue.minimum}${unitOf(issue)}`;
    case "custom":
      return issue.message;
    default:
      return `is wrong: ${issue.message}`;
  }
}

const unitOf = ({ origin }: { origin: string }): string => (origin === "string" ? " characters long" : "");

function refusal(id: string | number | null, code: number, message: string, isAwaited = true): ReadMessage {
  return { refusal: { jsonrpc: "2.0", id, error: { code, message } } as never, isAwaited };
}

/** JSON carries it back as it came. */
const canComeBack = (id: unknown): id is string | number =>
  typeof id === "string" || (typeof id === "number" && (Number.isSafeInteger(id) || !Number.isInteger(id)));

const isNotification = (method: unknown): boolean =>
  typeof method === "string" && method.startsWith("notifications/");
const isUnset = (value: unknown): value is null | undefined => value === undefined || value === null;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// Classifies MCP messages, and builds the refusals of requests that the SDK's server never sees.

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
