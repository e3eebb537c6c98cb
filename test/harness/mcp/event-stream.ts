/** One stream of server-sent events, read event by event, and cut off where a test wants it. */
import type { RpcAnswer } from "./mcp.js";

export interface ServerEvent {
  id?: string;
  retry?: number;
  /** Unless it is "message". */
  event?: string;
  message?: RpcAnswer;
}

export interface EventStream {
  status: number;
  /** So far. */
  readonly events: ServerEvent[];
  /** Resolves with the first event like this, past or to come; rejects if the stream ends without one. */
  next(is: (event: ServerEvent) => boolean): Promise<ServerEvent>;
  /** Resolves when the stream has ended; true: as it should, false: it broke off. */
  ended: Promise<boolean>;
  /** Loses the connection. */
  cut(): void;
}

/** `message`: posted; left out: asked for with GET. */
export async function openEventStream(
  url: string,
  headers: Record<string, string>,
  message?: unknown,
): Promise<EventStream> {
  const aborter = new AbortController();
  const response = await fetch(url, {
    method: message === undefined ? "GET" : "POST",
    headers: {
      accept: message === undefined ? "text/event-stream" : "application/json, text/event-stream",
      ...(message === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(message === undefined ? {} : { body: JSON.stringify(message) }),
    signal: aborter.signal,
  });
  const events: ServerEvent[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const look = (): void => {
    for (const one of waiting) one();
  };
  const read = async (): Promise<boolean> => {
    let rest = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        const parts = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n\n");
        rest = parts.pop() ?? "";
        events.push(...parts.map(eventOf));
        look();
      }
      return true;
    } catch {
      return false;
    }
  };
  const ended = read().finally(() => {
    isOver = true;
    look();
  });
  return {
    status: response.status,
    events,
    ended,
    cut: () => aborter.abort(),
    next: (is) =>
      new Promise((resolve, reject) => {
        const one = (): void => {
          const found = events.find(is);
          if (!found && !isOver) return;
          waiting.delete(one);
          if (found) resolve(found);
          else reject(new Error(`the stream ended after ${JSON.stringify(events)}`));
        };
        waiting.add(one);
        one();
      }),
  };
}

function eventOf(text: string): ServerEvent {
  const field = (name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, "m").exec(text)?.[1];
  const [id, retry, data] = [field("id"), field("retry"), field("data")];
  const event = field("event") ?? "message";
  return {
    ...(event === "message" ? {} : { event }),
    ...(id === undefined ? {} : { id }),
    ...(retry === undefined ? {} : { retry: Number(retry) }),
    ...(data === undefined || data === "" ? {} : { message: JSON.parse(data) as RpcAnswer }),
  };
}
