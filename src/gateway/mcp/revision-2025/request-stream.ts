/**
 * The stream of one request's answer, which its client may take up again on any gateway (Last-Event-ID): which message an
 * HTTP request stands for, and which events without data say where it stands.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { WAITS } from "../../../shared/wait-time.js";
import { RPC_INVALID_REQUEST } from "../../../shared/wire/rpc.js";
import { type EventMarks, webRequest } from "../http/http-exchange.js";
import type { WaitedFor } from "../request-tracker.js";
import { BROKER_TOOLS } from "../tools/broker-tools.js";
import {
  type BegunCursor,
  type Cursor,
  type OperationCursor,
  readCursor,
  writeCursor,
} from "./stream-cursor.js";

/** The first revision whose clients take events without data (SEP-1699). */
const FIRST_RESUMABLE = "2025-11-25";

/** When a client comes again, ms: few try more than twice, and a gateway takes a moment to start. */
const RETRY_MS = 2_000;

/** What only reads, and may be asked again. */
const READS = /\/(list|get|read|result)$/;

/** How a call goes on, for its handler; it is not run again. */
export type Resumed = BegunCursor | OperationCursor;

export interface RequestStream extends EventMarks {
  /** The log_id that the request's operation gets, if it makes one; the stream says it from its first event on. */
  readonly logId: string | undefined;
  /** The request waits for this operation from now on. */
  underWay(waited: WaitedFor): void;
  /** The next event is the last one, and carries the answer. */
  answering(): void;
  /** Nothing more comes: its client gave the request up. */
  givenUp(): void;
}

export interface StreamRequest {
  /** The message to handle. */
  body: unknown;
  /** It arrived before. */
  isResumed?: true;
  /** How it goes on, if it is a call that arrived before. */
  resumed?: Resumed;
  /** Undefined where the client could not take up its stream. */
  stream?: RequestStream;
}

/** What a client's HTTP request asks for; "ended": the stream that it wants has ended, "unknown": it is none of this session. */
export function streamRequest(
  sessionId: string,
  { method, headers }: Pick<IncomingMessage, "method" | "headers">,
  body: unknown,
): StreamRequest | "ended" | "unknown" {
  const lastId = method === "GET" ? headers["last-event-id"] : undefined;
  if (typeof lastId === "string") {
    const cursor = readCursor(sessionId, lastId);
    if (cursor === undefined) return "unknown";
    if (cursor.at === "end") return "ended";
    const again = { ...cursor, stream: randomUUID() };
    const stream = createRequestStream(sessionId, again);
    if (cursor.at === "begun" && cursor.read)
      return {
        body: { jsonrpc: "2.0", id: cursor.id, ...cursor.read },
        isResumed: true,
        ...given("stream", stream),
      };
    return { body: standIn(cursor), isResumed: true, resumed: cursor, ...given("stream", stream) };
  }
  const isResumable = String(headers["mcp-protocol-version"] ?? "") >= FIRST_RESUMABLE;
  const begun = isResumable ? begunBy(body) : undefined;
  return { body, ...given("stream", begun && createRequestStream(sessionId, begun)) };
}

const given = <K extends string, T>(name: K, value: T | undefined): Partial<Record<K, T>> =>
  value === undefined ? {} : ({ [name]: value } as Record<K, T>);

/** A stream that is taken up again is answered as the message that opened it. */
export function asWebRequest(request: IncomingMessage, body: unknown): Request {
  if (request.method !== "GET" || body === undefined) return webRequest(request);
  const { headers } = request;
  return webRequest({
    method: "POST",
    headers: {
      ...headers,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
  });
}

/** 204 tells a client that takes up streams to come no more. */
export function refuseStream(raw: ServerResponse, why: "ended" | "unknown"): void {
  if (why === "ended") return void raw.writeHead(204).end();
  const message = "The Last-Event-ID is none of this session. Send the request again.";
  const refusal = { jsonrpc: "2.0", id: null, error: { code: RPC_INVALID_REQUEST, message } };
  raw.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(refusal));
}

/** Stands for the call that arrived before: its name and arguments are not known here, and not needed. */
function standIn({ id, progressToken, ...cursor }: Resumed): unknown {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: {
      name: "",
      ...(cursor.at === "begun" && cursor.isTask ? { task: {} } : {}),
      ...(progressToken === undefined ? {} : { _meta: { progressToken } }),
    },
  };
}

interface Asked {
  id: string | number;
  method: string;
  params: unknown;
}

function begunBy(body: unknown): BegunCursor | undefined {
  const request = requestIn(body);
  if (!request || request.method === "initialize") return undefined;
  const { id, method, params } = request;
  const begun = { at: "begun" as const, id, stream: randomUUID() };
  const { name, arguments: args, task, _meta: meta } = objectIn(params);
  const own = typeof name === "string" ? BROKER_TOOLS.get(name) : undefined;
  const isReader = own?.described(WAITS).annotations?.readOnlyHint === true;
  if (READS.test(method) || (method === "tools/call" && isReader))
    return { ...begun, read: { method, ...(isObject(params) ? { params } : {}) } };
  if (method !== "tools/call") return begun;
  return {
    ...begun,
    logId: randomUUID(),
    ...(task === undefined ? {} : { isTask: true as const }),
    ...given("timeout", scalarIn(objectIn(args).timeout)),
    ...given("progressToken", scalarIn(objectIn(meta).progressToken)),
  };
}

/** Nothing of it has been checked yet but this. */
function requestIn(body: unknown): Asked | undefined {
  const { id, method, params } = objectIn(body);
  const known = scalarIn(id);
  return typeof method !== "string" || known === undefined ? undefined : { id: known, method, params };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const objectIn = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Most characters of a value that an event's id repeats. */
const MOST_VALUE = 200;

function scalarIn(value: unknown): string | number | undefined {
  return typeof value === "number" || (typeof value === "string" && value.length <= MOST_VALUE)
    ? value
    : undefined;
}

function createRequestStream(sessionId: string, from: Resumed): RequestStream | undefined {
  const { id, stream, progressToken } = from;
  const logId = from.at === "begun" ? from.logId : undefined;
  const shortest: Cursor = { at: "begun", id, stream, ...given("logId", logId) };
  const opened = writeCursor(sessionId, from) ?? writeCursor(sessionId, shortest);
  const end: Cursor = { at: "end", id, stream };
  let write: ((event: string) => void) | undefined;
  let unwritten = "";
  let ending: "open" | "answer" | "nothing" = "open";
  const mark = (event: string): void => {
    if (write) write(event);
    else unwritten += event;
  };
  if (opened === undefined) return undefined;
  return {
    logId,
    begin(writer) {
      writer(`retry: ${RETRY_MS}\n${emptyEvent(opened)}${unwritten}`);
      write = writer;
    },
    underWay({ logId, relation, isConfirmed, ms }) {
      const cursor = writeCursor(sessionId, {
        ...{ at: "operation", id, stream, logId, relation },
        ...(isConfirmed ? { isConfirmed } : {}),
        ...{ seconds: ms / 1000, until: Date.now() + ms },
        ...given("progressToken", progressToken),
      } as OperationCursor);
      if (cursor !== undefined) mark(emptyEvent(cursor));
    },
    answering() {
      ending = "answer";
    },
    givenUp() {
      ending = "nothing";
    },
    get isEnding() {
      return ending === "answer";
    },
    last: () => `id: ${writeCursor(sessionId, end)}\n`,
    end() {
      if (ending === "nothing") mark(emptyEvent(String(writeCursor(sessionId, end))));
    },
  };
}

const emptyEvent = (id: string): string => `id: ${id}\ndata: \n\n`;
