/** One HTTP exchange between Node's server and the SDK's transport, which speaks web-standard requests. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TraceContext } from "../../../shared/operation/operation.js";
import { wellFormedBytes } from "../../../shared/printable.js";
import { traceIn } from "../../../shared/telemetry.js";
import type { Way } from "../../exchange.js";
import { isLoopbackAddress } from "../../http/loopback.js";

/** The way back for one HTTP request. */
export interface HttpWay extends Way {
  /** True once the whole response was passed to the system, false if the connection closed before. */
  written: Promise<boolean>;
  /** What its request belongs to, by its headers. */
  trace: TraceContext | undefined;
}

type Connection = NonNullable<ServerResponse["socket"]>;

/** By connection: what its reset calls. */
const answered = new WeakMap<Connection, (() => void)[]>();

/** Most answers of one connection that wait for it: more than one can carry while an answer and a reset cross. */
const MOST_ANSWERED = 10_000;

/** Calls back if the connection is reset. */
export function onReset(socket: Connection, callback: () => void): void {
  const waiting = answered.get(socket) ?? [];
  if (!answered.has(socket)) {
    // The system of a client that closed just before the answer came has refused it. Once that end was read, only a write shows so.
    socket.prependOnceListener("end", () => socket.write(""));
    socket.once("close", (hadError) => {
      if (hadError) for (const each of answered.get(socket) ?? []) each();
    });
  }
  waiting.push(callback);
  if (waiting.length > MOST_ANSWERED) waiting.shift();
  answered.set(socket, waiting);
}

export function watchExchange(raw: ServerResponse): HttpWay {
  const gone = new AbortController();
  // After its end the response no longer has its connection.
  const { socket } = raw;
  // Who sends another request has read the answer to the one before.
  if (socket && answered.has(socket)) answered.set(socket, []);
  // A write to a connection that is closing; "close" reports it.
  raw.on("error", () => undefined);
  // Node's server ends the connection of a client that has closed its side, and "finishes" what is written after that.
  const isWritten = (): boolean => raw.writableFinished && socket?.readableEnded !== true;
  const written = new Promise<boolean>((resolve) => {
    raw.once("finish", () => resolve(isWritten()));
    raw.once("close", () => {
      if (!isWritten()) gone.abort();
      resolve(isWritten());
    });
    if (!raw.destroyed) return;
    gone.abort();
    resolve(false);
  });
  return {
    ...{ gone: gone.signal, written },
    onReset: (callback) => socket && onReset(socket, callback),
    // A connection that ends with this response is closed here, and nobody is told of its reset.
    isDirect: isDirect(raw.req) && raw.shouldKeepAlive,
    trace: traceIn(raw.req.headers),
  };
}

/** Its client is on this machine, and no proxy says that it is between. */
export function isDirect({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): boolean {
  const names = Object.keys(headers);
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    !names.some((name) => name === "forwarded" || name === "via" || name.startsWith("x-forwarded-"))
  );
}

const FORWARDED = ["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"];

/** The request without its body, which was already read and parsed. */
export function webRequest({ method, headers }: Pick<IncomingMessage, "method" | "headers">): Request {
  const forwarded = new Headers();
  for (const name of FORWARDED) {
    const value = headers[name];
    if (typeof value === "string") forwarded.set(name, value);
  }
  // The transport ignores the path, but needs a URL.
  return new Request("http://localhost/mcp", { method: method ?? "GET", headers: forwarded });
}

/** What stands between a stream's events, and says where a client that lost its connection goes on. */
export interface EventMarks {
  /** Called before the first event, with what writes between two others. */
  begin(write: (events: string) => void): void;
  /** Nothing but the event that carries the answer is still to be read. */
  readonly isEnding: boolean;
  /** Fields of that event. */
  last(): string;
  /** Called after the last event, if the stream has not broken off. */
  end(): void;
}

/** Sends a response to the client: headers at once, then the stream, as fast as the client reads. `marks`: of a stream of events. */
export async function sendResponse(
  response: Response,
  raw: ServerResponse,
  marks?: EventMarks,
): Promise<void> {
  raw.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    raw.end();
    return;
  }
  raw.flushHeaders();
  const isMarked = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isMarked) marks?.begin((events) => raw.write(events));
  const reader = response.body.getReader();
  // Ends the reading below, and tells the transport to stop buffering for this stream.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  raw.once("close", cancel);
  if (raw.destroyed) cancel();
  // Each chunk is a whole event.
  for (let next = reader.read(); ; ) {
    const { done, value } = await next;
    if (done || raw.destroyed) break;
    next = reader.read();
    // Whether it is read below or not.
    next.catch(() => undefined);
    if (isMarked && marks?.isEnding && (await next).done) raw.write(marks.last());
    if (!raw.write(wellFormedBytes(value))) await drained(raw);
  }
  if (raw.destroyed) return;
  if (isMarked) marks?.end();
  raw.end();
}

/** Also resolves when the connection closes. */
function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off("drain", done).off("close", done);
      resolve();
    };
    raw.on("drain", done).on("close", done);
  });
}
