/** The response of one exchange: JSON, or a stream of events from the first message on that is not the answer. */
import type { ServerResponse } from "node:http";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { wellFormedJson } from "../../../shared/well-formed-json.js";

export interface ResponseStream {
  /** A message before the answer. */
  send(message: JSONRPCMessage): void;
  /** `status`: unless a stream has begun. */
  end(answer: JSONRPCMessage, status: number): void;
}

/** Most bytes that a client may leave unread; its stream ends then. */
const MOST_UNREAD = 1024 * 1024;

/** `streams`: from the first moment on. `keepAliveMs`: how often a comment shows that the stream is alive. */
export function createResponseStream(
  raw: ServerResponse,
  { keepAliveMs, streams }: { keepAliveMs: number; streams: boolean },
): ResponseStream {
  let timer: NodeJS.Timeout | undefined;
  let isStream = false;

  const write = (text: string): void => {
    if (raw.destroyed) return;
    raw.write(text);
    if (raw.writableLength > MOST_UNREAD) raw.destroy();
  };
  const begin = (): void => {
    if (isStream || raw.destroyed) return;
    isStream = true;
    raw.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      // Else a reverse proxy keeps events until it has many.
      "x-accel-buffering": "no",
    });
    raw.flushHeaders();
    timer = setInterval(() => write(": alive\n\n"), keepAliveMs);
    raw.once("close", () => clearInterval(timer));
  };
  const event = (message: JSONRPCMessage): string => `event: message\ndata: ${wellFormedJson(message)}\n\n`;
  if (streams) begin();

  return {
    send(message) {
      begin();
      write(event(message));
    },
    end(answer, status) {
      clearInterval(timer);
      if (raw.destroyed) return;
      if (isStream) {
        raw.end(event(answer));
        return;
      }
      raw.writeHead(status, { "content-type": "application/json" });
      raw.end(wellFormedJson(answer));
    },
  };
}
