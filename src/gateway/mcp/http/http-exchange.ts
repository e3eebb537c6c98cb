/** One HTTP exchange between Node's server and the SDK's transport, which speaks web-standard requests. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface Exchange {
  /** Aborted when the connection closed before the whole response was passed to the system. */
  gone: AbortSignal;
  /** True once the whole response was passed to the system, false if the connection closed before. */
  written: Promise<boolean>;
  /** Calls back if the connection is reset soon after the response, before its next request. */
  onReset(callback: () => void): void;
}

/** A client that gives up while it reads resets its connection within this time, ms. */
const RESET_MS = 10_000;

/** Of a connection's newest exchange: what a reset that follows soon calls; undefined while none is to be called. */
interface Newest {
  onReset: { callback: () => void; until: number } | undefined;
}

type Connection = NonNullable<ServerResponse["socket"]>;

const newest = new WeakMap<Connection, Newest>();

/** Makes this exchange the connection's newest: a later reset says nothing about those before. */
function begin(socket: Connection): Newest {
  const known = newest.has(socket);
  const exchange: Newest = { onReset: undefined };
  newest.set(socket, exchange);
  if (known) return exchange;
  socket.once("close", (hadError) => {
    const last = newest.get(socket)?.onReset;
    if (hadError && last && performance.now() < last.until) last.callback();
  });
  return exchange;
}

export function watchExchange(raw: ServerResponse): Exchange {
  const gone = new AbortController();
  // After its end the response no longer has its connection.
  const { socket } = raw;
  const exchange = socket && begin(socket);
  // A write to a connection that is closing; "close" reports it.
  raw.on("error", () => undefined);
  const written = new Promise<boolean>((resolve) => {
    raw.once("finish", () => resolve(true));
    raw.once("close", () => {
      if (!raw.writableFinished) gone.abort();
      resolve(raw.writableFinished);
    });
    if (!raw.destroyed) return;
    gone.abort();
    resolve(false);
  });
  const onReset = (callback: () => void): void => {
    if (exchange) exchange.onReset = { callback, until: performance.now() + RESET_MS };
  };
  return { gone: gone.signal, written, onReset };
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

/** Sends a response to the client: headers at once, then the stream, as fast as the client reads. */
export async function sendResponse(response: Response, raw: ServerResponse): Promise<void> {
  raw.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    raw.end();
    return;
  }
  raw.flushHeaders();
  const reader = response.body.getReader();
  // Ends the reading below, and tells the transport to stop buffering for this stream.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  raw.once("close", cancel);
  if (raw.destroyed) cancel();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || raw.destroyed) break;
    if (!raw.write(value)) await drained(raw);
  }
  if (!raw.destroyed) raw.end();
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
