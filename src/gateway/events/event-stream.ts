/** Writes live events as a stream of server-sent events, as the HTML standard describes it. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { wellFormedJson } from "../../shared/printable.js";
import type { LiveEvent } from "./live-event.js";

export interface EventStreamOptions {
  /** How often the stream shows that it is alive, and where a client goes on, ms. */
  keepAliveMs: number;
}

/** A client that reads nothing for so long, though there is something to read, has its stream ended, ms. */
export const UNREAD_MS = 60_000;
/** How long a client waits before it connects again, ms. */
const RETRY_MS = 1_000;

export interface EventStream {
  /** Aborted once nobody reads it any more. */
  signal: AbortSignal;
  /** The next sign of life names this place. */
  passed(id: string): void;
  /** Writes the events; resolves when they end, or nobody reads. */
  write(events: AsyncIterable<LiveEvent>): Promise<void>;
}

/** `closing`: the gateway closes; a client goes on at another one. */
export function openEventStream(
  raw: ServerResponse,
  closing: AbortSignal,
  { keepAliveMs }: EventStreamOptions,
): EventStream {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  let place: string | undefined;
  raw.once("close", end);
  closing.addEventListener("abort", end, { once: true });
  // Its client may have left while the first event was looked for: no further event says so.
  if (raw.destroyed || closing.aborted) end();
  const write = (text: string): void => {
    if (!raw.destroyed && !ended.signal.aborted) raw.write(text);
  };
  /** A slow client delays its own next event: what it has not been sent yet stays in the store, and only one event here. */
  const wasRead = async (): Promise<void> => {
    if (raw.writableNeedDrain && !ended.signal.aborted)
      await once(raw, "drain", { signal: ended.signal }).catch(() => undefined);
  };
  raw.setTimeout(UNREAD_MS, () => raw.writableNeedDrain && raw.destroy());
  raw.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    // Else a reverse proxy keeps events until it has many.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  write(`retry: ${RETRY_MS}\n\n`);
  const timer = setInterval(() => {
    if (raw.writableNeedDrain) return;
    write(place === undefined ? ": alive\n\n" : `id: ${place}\n\n`);
    place = undefined;
  }, keepAliveMs);

  return {
    signal: ended.signal,
    passed(id) {
      place = id;
    },
    async write(events) {
      try {
        for await (const { event, id, data } of events) {
          if (id !== undefined) place = undefined;
          write(`event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${wellFormedJson(data)}\n\n`);
          await wasRead();
        }
      } finally {
        clearInterval(timer);
        closing.removeEventListener("abort", end);
        raw.end();
      }
    },
  };
}
