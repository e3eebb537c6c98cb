/** One HTTP exchange between Node's server and the SDK's transport, which speaks web-standard requests. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface Exchange {
  /** Aborted when the connection closed before the whole response was handed to the system. */
  gone: AbortSignal;
  /** True once the whole response was handed to the system, false when the connection closed before that. */
  written: Promise<boolean>;
  /** Calls back if the connection is reset before its next request, and soon after the response. */
  onReset(callback: () => void): void;
}

/** A client that gives up while it reads resets its connection within this time, ms. */
const RESET_MS = 10_000;

/** How many exchanges a connection has had. */
const exchanges = new WeakMap<NonNullable<ServerResponse["socket"]>, number>();

export function watchExchange(raw: ServerResponse): Exchange {
  const gone = new AbortController();
  // Behind its end the response knows its connection no more.
  const { socket } = raw;
  const exchange = socket ? (exchanges.get(socket) ?? 0) + 1 : 0;
  if (socket) exchanges.set(socket, exchange);
  // A write to a connection that is just closing; "close" says it.
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
    if (!socket) return;
    const done = (): void => {
      clearTimeout(timer);
      socket.off("close", closed);
    };
    const closed = (hadError: boolean): void => {
      done();
      if (hadError && exchanges.get(socket) === exchange) callback();
    };
    const timer = setTimeout(done, RESET_MS);
    timer.unref();
    socket.once("close", closed);
  };
  return { gone: gone.signal, written, onReset };
}

const FORWARDED = ["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"];

/** The request without its body, which was read and parsed already. */
export function webRequest({ method, headers }: Pick<IncomingMessage, "method" | "headers">): Request {
  const forwarded = new Headers();
  for (const name of FORWARDED) {
    const value = headers[name];
    if (typeof value === "string") forwarded.set(name, value);
  }
  // The transport looks at the path of nothing; a URL must be there.
  return new Request("http://localhost/mcp", { method: method ?? "GET", headers: forwarded });
}

/** Carries a response to the client: headers at once, then what the stream gives, as fast as the client reads. */
export async function sendResponse(response: Response, raw: ServerResponse): Promise<void> {
  raw.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    raw.end();
    return;
  }
  raw.flushHeaders();
  const reader = response.body.getReader();
  // Ends the reading below, and tells the transport to keep nothing for this stream.
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
