/**
 * MCP over a client's pipe: one session on the broker's local socket. The pipe reads and writes the client's standard
 * streams, numbers what it reads, and acknowledges what it has written before it hands on what it read after that; so
 * delivery and order are those of a session over stdio (▲7).
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../../../shared/log.js";
import type { Frame, Instant, PipeHello, ToBroker, ToPipe } from "../../../shared/pipe/frames.js";
import { LOCAL } from "../../../shared/principal.js";
import { createEditorSelection } from "../editor-selection.js";
import type { Line } from "../line.js";
import { openMcpSession } from "../mcp-session.js";
import { readMessage } from "../read-message.js";
import type { McpServerDeps } from "../server-deps.js";
import type { ServedGateway } from "./late-gateway.js";

/** The broker's end of a connection with a pipe. */
export interface PipeLine {
  send(header: ToPipe, text?: string): void;
  /** Sends what was said, then ends the connection. */
  end(): void;
  /** Aborted once the connection is gone. */
  readonly gone: AbortSignal;
}

export interface PipeSession {
  heard(frame: Frame<ToBroker>): void;
  /** Answers open waits as if their time was over, tells the pipe that this was all, and ends the connection. */
  close(): Promise<void>;
  /** Resolves once the connection has ended and everything that the session wrote to the store is there. */
  readonly closed: Promise<void>;
}

const LISTEN = "subscriptions/listen";

/** How long open requests may take to be answered when closing, ms. */
const CLOSE_DEADLINE_MS = 3_000;

export function openPipeSession(
  deps: ServedGateway & Omit<McpServerDeps, keyof ServedGateway>,
  line: PipeLine,
  hello: PipeHello,
): PipeSession {
  const { log } = deps;
  const { since, transport, tracked } = createPipeTransport(line, hello, log);
  const session = openMcpSession(
    {
      ...deps,
      toolList: hello.isResumed ? changedMeanwhile(deps.toolList, transport.initialized) : deps.toolList,
    },
    {
      principal: LOCAL.id,
      caller: { id: `stdio:${hello.session}`, transport: "stdio" },
      selection: createEditorSelection(
        {
          read: async () => undefined,
          // The pipe outlives this broker, and hands it to the next one.
          write: async (editor) => line.send({ kind: "selected", editor }),
        },
        hello.selected,
      ),
      folder: hello.folder,
    },
    tracked,
  );
  log.debug({ pid: hello.pid, since, isResumed: hello.isResumed }, "a pipe's session begins");
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= session.close(CLOSE_DEADLINE_MS);
    return closing;
  };
  return {
    heard({ header, text }) {
      switch (header.kind) {
        case "message":
          return transport.heard(header, text);
        case "written":
          return transport.written(header.n);
        case "end":
          session.inputEnded();
          return void close();
        case "close":
          return void close();
      }
    },
    close() {
      transport.leave();
      return close();
    },
    closed: session.closed,
  };
}

interface PipeTransport {
  heard(header: { n: number; sentAt: Instant }, text: string): void;
  written(n: number): void;
  /** Resolves when the client can be told of changes: it has said that it is initialised, or listens for them. */
  initialized: Promise<void>;
  /** The broker ends, and not the client: its subscriptions stay open, for the pipe hands them to the next broker. */
  leave(): void;
}

function createPipeTransport(
  line: PipeLine,
  hello: PipeHello,
  log: Log,
): { since: number | undefined; transport: PipeTransport; tracked: Line } {
  const since = hello.isResumed ? hello.count : undefined;
  /** What the pipe has not written yet, by its number. */
  const unwritten = new Map<number, (readUpTo: number | undefined) => void>();
  let said = 0;
  /** The message that is being handed on. */
  let present = { number: 0, sentAt: { monotonic: 0, wall: 0 }, listens: false };
  /** The highest number that the pipe has read, as far as it has reported. */
  let readUpTo = hello.count;
  let isClosed = false;
  let isLeaving = false;
  let initialized: () => void = () => undefined;
  const isInitialized = new Promise<void>((resolve) => {
    initialized = resolve;
  });

  /** Resolves with the number of the last message that was read before it was written; undefined if it was not. */
  const write = (message: JSONRPCMessage, answers?: number): Promise<number | undefined> => {
    if (line.gone.aborted) return Promise.resolve(undefined);
    said += 1;
    const n = said;
    return new Promise((resolve) => {
      unwritten.set(n, resolve);
      line.send(
        { kind: "message", n, ...(answers === undefined ? {} : { answers }) },
        JSON.stringify(message),
      );
    });
  };

  const sdk: Transport = {
    async start() {
      line.gone.addEventListener("abort", () => void sdk.close(), { once: true });
      if (line.gone.aborted) await sdk.close();
    },
    // Answers and notifications are written by the tracker, which sees them on their way.
    async send(message) {
      await write(message);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      line.send({ kind: "ended" });
      line.end();
      for (const resolve of unwritten.values()) resolve(undefined);
      unwritten.clear();
      sdk.onclose?.();
    },
  };

  return {
    since,
    transport: {
      heard({ n, sentAt }, text) {
        readUpTo = Math.max(readUpTo, n);
        const read = readMessage(text);
        if ("refusal" in read) {
          log.debug({ error: read.refusal.error.message }, "a message of the client is refused");
          // What the pipe took for a request it would keep open, and a broker running for it, for ever.
          if (read.isAwaited) void write(read.refusal, n);
          else line.send({ kind: "dropped", answers: n });
          return;
        }
        const { message } = read;
        const method = "method" in message ? message.method : undefined;
        present = { number: n, sentAt, listens: method === LISTEN };
        sdk.onmessage?.(message as never);
        if (method === "notifications/initialized" || method === LISTEN) initialized();
      },
      written(n) {
        unwritten.get(n)?.(readUpTo);
        unwritten.delete(n);
      },
      initialized: isInitialized,
      leave() {
        isLeaving = true;
      },
    },
    tracked: {
      transport: sdk,
      notify: async (message) => {
        await write(message);
      },
      channelOf() {
        const { number, listens } = present;
        let writtenAt: number | undefined;
        return {
          gone: line.gone,
          get readUpTo() {
            return writtenAt;
          },
          async write(answer) {
            if (listens && isLeaving) return false;
            writtenAt = await write(answer, number);
            return writtenAt !== undefined;
          },
          discard: async () => line.send({ kind: "dropped", answers: number }),
        };
      },
      arrivals: { next: () => present, since, close: () => undefined },
    },
  };
}

/** The tools may have changed while the client had no broker: it is notified once, as soon as possible. */
function changedMeanwhile(
  toolList: ServedGateway["toolList"],
  initialized: Promise<void>,
): ServedGateway["toolList"] {
  return {
    ...toolList,
    onChange(listener) {
      void initialized.then(() => setImmediate(listener));
      return toolList.onChange(listener);
    },
  };
}
