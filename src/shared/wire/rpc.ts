/** JSON-RPC 2.0 messages in Content-Length frames, as plain values; no sockets (https://www.jsonrpc.org/specification). */
import { StringDecoder } from "node:string_decoder";
import { head } from "../printable.js";

// Content-Length framing without I/O: bytes in, frames out (docs/reference/protocol.md, "Transport").
//
// A header line that is not `Name: value`, and any `Host` or `Origin` header, is malformed: a web page's POST
// to the Editor's port must never be taken for a frame.

/** What the parser found next. After `malformed` the connection has no frame boundaries any more: close it. */
export type Frame =
  | { kind: "message"; text: string }
  /** `maxValues` is set if its length is within the limit, but it has more JSON values than this. */
  | { kind: "too_long"; length: number; maxValues?: number }
  | { kind: "malformed"; reason: string };

export interface FrameParser {
  /** Hands over the next bytes, split anywhere. */
  push(chunk: Buffer): void;
  /** The next whole frame; undefined means "not yet". */
  next(): Frame | undefined;
  /** Whether the rest of a frame (even of a skipped one) is still to come: input of the frame timeout. */
  midFrame(): boolean;
  /** Sets another limit, effective from the next header. */
  allow(maxBytes: number): void;
}

const HEADER_END = Buffer.from("\r\n\r\n");
const MAX_HEADER_BYTES = 4096;
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*)$/;

/** Bytes; a shorter body cannot have too many values. */
const FEW_BYTES = 256 * 1024;

/**
 * Makes a parser that refuses bodies above `maxBytes`, skipping their bytes without keeping them, and long ones of more
 * than about `maxValues` JSON values, because a body is parsed in one step.
 */
export function createFrameParser(maxBytes: number, maxValues?: number): FrameParser {
  let limit = maxBytes;
  let chunks: Buffer[] = [];
  let buffered = 0;
  let bodyLength: number | undefined;
  let skip = 0;
  let malformed: Frame | undefined;

  const joined = (): Buffer => {
    if (chunks.length > 1) chunks = [Buffer.concat(chunks, buffered)];
    return chunks[0] ?? Buffer.alloc(0);
  };
  const consume = (buffer: Buffer, count: number): void => {
    chunks = count < buffer.length ? [buffer.subarray(count)] : [];
    buffered -= count;
  };
  const fail = (reason: string): Frame => {
    chunks = [];
    buffered = 0;
    malformed = { kind: "malformed", reason };
    return malformed;
  };

  return {
    push(chunk) {
      if (malformed) return;
      const rest = skip > 0 ? chunk.subarray(Math.min(skip, chunk.length)) : chunk;
      skip -= chunk.length - rest.length;
      if (rest.length === 0) return;
      chunks.push(rest);
      buffered += rest.length;
    },

    next() {
      if (malformed) return malformed;
      if (bodyLength === undefined) {
        const buffer = joined();
        const end = buffer.indexOf(HEADER_END);
        if (end < 0) {
          // The first line identifies a foreign protocol; waiting for a blank line could take for ever.
          const firstLine = buffer.indexOf("\r\n");
          const line = firstLine < 0 ? undefined : buffer.toString("latin1", 0, firstLine);
          if (line !== undefined && !HEADER_LINE.test(line)) return fail(`not a header line: ${quote(line)}`);
          return buffered > MAX_HEADER_BYTES + 3 ? fail("header longer than 4096 bytes") : undefined;
        }
        if (end > MAX_HEADER_BYTES) return fail("header longer than 4096 bytes");
        const length = readContentLength(buffer.toString("latin1", 0, end));
        if (typeof length === "string") return fail(length);
        consume(buffer, end + HEADER_END.length);
        if (length > limit) {
          skip = Math.max(0, length - buffered);
          consume(joined(), Math.min(length, buffered));
          return { kind: "too_long", length };
        }
        bodyLength = length;
      }
      if (buffered < bodyLength) return undefined;
      const buffer = joined();
      const body = buffer.subarray(0, bodyLength);
      consume(buffer, bodyLength);
      bodyLength = undefined;
      if (maxValues !== undefined && body.length > FEW_BYTES && excessOf(body, maxValues)) {
        return { kind: "too_long", length: body.length, maxValues };
      }
      return { kind: "message", text: body.toString("utf8") };
    },

    midFrame: () => buffered > 0 || bodyLength !== undefined || skip > 0,
    allow(bytes) {
      limit = bytes;
    },
  };
}

/** One frame around the JSON text of a message. */
export function encodeFrame(text: string): Buffer {
  return Buffer.from(`Content-Length: ${Buffer.byteLength(text, "utf8")}\r\n\r\n${text}`, "utf8");
}

function readContentLength(header: string): number | string {
  let length: number | undefined;
  for (const line of header.split("\r\n")) {
    const match = HEADER_LINE.exec(line);
    if (!match) return `not a header line: ${quote(line)}`;
    const name = (match[1] ?? "").toLowerCase();
    const value = (match[2] ?? "").trim();
    if (name === "host" || name === "origin") return `HTTP is not spoken here (${name} header)`;
    if (name !== "content-length") continue;
    if (!/^\d{1,15}$/.test(value)) return `Content-Length is not a number: ${quote(value)}`;
    if (length !== undefined && length !== Number(value)) return "two different Content-Length headers";
    length = Number(value);
  }
  return length ?? "no Content-Length header";
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${head(text, 60)}…` : text);
}

/** Lines out of chunks, bounded; no sockets. */
export interface LineAssembler {
  /** The lines that this chunk completes, without line ends and empty lines; undefined stands for one that is too long. */
  push(chunk: Buffer): (string | undefined)[];
}

/** How a line begins and ends that is too long to be read. */
export interface LongLine {
  head: string;
  tail: string;
}

/** Characters that are kept of each end. */
const ENDS = 1_000;

/**
 * Keeps at most `maxChars` of an unfinished line and skips the rest of a longer one, whose ends `onLong` is told once it is
 * complete.
 */
export function createLineAssembler(maxChars: number, onLong?: (line: LongLine) => void): LineAssembler {
  // A chunk may end inside a character as well as inside a line.
  const decoder = new StringDecoder("utf8");
  let kept = "";
  let long: LongLine | undefined;
  return {
    push(chunk) {
      const lines: (string | undefined)[] = [];
      for (const [at, piece] of decoder.write(chunk).split("\n").entries()) {
        if (at > 0) {
          const line = kept.replace(/\r$/, "");
          if (long) onLong?.(long);
          else if (line !== "") lines.push(line);
          kept = "";
          long = undefined;
        }
        if (long) long.tail = (long.tail + piece).slice(-ENDS);
        else kept += piece;
        if (kept.length <= maxChars) continue;
        lines.push(undefined);
        long = { head: kept.slice(0, ENDS), tail: kept.slice(-ENDS) };
        kept = "";
      }
      return lines;
    },
  };
}

// The messages.

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

// Bounds a JSON text in its UTF-8 bytes before it is parsed. A parsed value takes many times the space and time of the two
// bytes it can be written in, so the text's length alone bounds neither.

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, OPEN_OBJECT, COMMA, COLON] = [0x5b, 0x7b, 0x2c, 0x3a];
const [CLOSE_LIST, CLOSE_OBJECT] = [0x5d, 0x7d];

/** Most strings end within this many bytes; a native search for their end pays off only for longer ones. */
const SHORT = 64;

/**
 * What the text has too much of; undefined: neither. `values`: more than `mostValues` opening brackets, commas and colons outside of
 * strings; each value but the first has one of them before it. `levels`: it nests deeper than `mostLevels`. Stops reading there.
 * Also accepts text that is not JSON.
 */
export function excessOf(
  text: Uint8Array,
  mostValues: number,
  mostLevels = Number.POSITIVE_INFINITY,
): "values" | "levels" | undefined {
  let values = 0;
  let levels = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        levels += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        levels -= 1;
        break;
      case COMMA:
      case COLON:
        values += 1;
    }
    if (values > mostValues) return "values";
    if (levels > mostLevels) return "levels";
  }
  return undefined;
}

/** The end of the string that begins here, or of the text. */
function closingQuote(text: Uint8Array, start: number): number {
  let at = start + 1;
  for (;;) {
    for (const near = Math.min(at + SHORT, text.length); at < near; at += 1) {
      if (text[at] === QUOTE) return at;
      if (text[at] === BACKSLASH) at += 1;
    }
    const quote = text.indexOf(QUOTE, at);
    if (quote === -1) return text.length;
    let first = quote;
    while (first > at && text[first - 1] === BACKSLASH) first -= 1;
    // Backslashes in pairs escape each other; an odd one escapes the quote.
    if ((quote - first) % 2 === 0) return quote;
    at = quote + 1;
  }
}
