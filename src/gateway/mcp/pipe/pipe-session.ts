/**
 * MCP over a client's pipe: one session on the broker's local socket. The pipe reads and writes the client's standard
 * streams, and says when it has written an answer: from then on that is delivered, as in a session over stdio.
 */
import { createHash } from "node:crypto";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Frame, PipeHello, ToBroker, ToPipe } from "../../../shared/pipe-frames.js";
import { LOCAL } from "../../../shared/principal.js";
import { wellFormedJson } from "../../../shared/printable.js";
import type { Log } from "../../../shared/telemetry.js";
import { createEditorSelection } from "../../call-reader.js";
import { openMcpSession } from "../mcp-session.js";
import { readMessage } from "../read-message.js";
import type { Line } from "../request-tracker.js";
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
  const { transport, tracked } = createPipeTransport(line, hello, log);
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
  log.debug({ pid: hello.pid, isResumed: hello.isResumed }, "a pipe's session begins");
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

type Header<Kind extends ToBroker["kind"]> = Extract<ToBroker, { kind: Kind }>;

interface PipeTransport {
  heard(header: Header<"message">, text: string): void;
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
): { transport: PipeTransport; tracked: Line } {
  /** What the pipe has not written yet, by its number. */
  const unwritten = new Map<number, (isWritten: boolean) => void>();
  let said = 0;
  /** The message that is being handed on. */
  let present: Header<"message"> & { listens: boolean } = { kind: "message", n: 0, listens: false };
  let isClosed = false;
  let isLeaving = false;
  let initialized: () => void = () => undefined;
  const isInitialized = new Promise<void>((resolve) => {
    initialized = resolve;
  });

  const write = (message: JSONRPCMessage, answers?: number): Promise<boolean> => {
    if (line.gone.aborted) return Promise.resolve(false);
    said += 1;
    const n = said;
    return new Promise((resolve) => {
      unwritten.set(n, resolve);
      line.send(
        { kind: "message", n, ...(answers === undefined ? {} : { answers }) },
        wellFormedJson(message),
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
      for (const resolve of unwritten.values()) resolve(false);
      unwritten.clear();
      sdk.onclose?.();
    },
  };

  return {
    transport: {
      heard(header, text) {
        const read = readMessage(text);
        if ("refusal" in read) {
          log.debug({ error: read.refusal.error.message }, "a message of the client is refused");
          // What the pipe took for a request it would keep open, and a broker running for it, for ever.
          if (read.isAwaited) void write(read.refusal, header.n);
          else line.send({ kind: "dropped", answers: header.n });
          return;
        }
        const { message } = read;
        const method = "method" in message ? message.method : undefined;
        present = { ...header, listens: method === LISTEN };
        sdk.onmessage?.(message as never);
        if (method === "notifications/initialized" || method === LISTEN) initialized();
      },
      written(n) {
        unwritten.get(n)?.(true);
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
        const { n, waitedMs, isResent = false, listens } = present;
        return {
          ...{ gone: line.gone, isDirect: true, waitedMs, isResent, logId: logIdOf(hello.session, n) },
          write: async (answer) => !(listens && isLeaving) && write(answer, n),
          discard: async () => line.send({ kind: "dropped", answers: n }),
        };
      },
    },
  };
}

/** The same for each broker that receives this message: the operation that it makes is found by it. */
function logIdOf(session: string, n: number): string {
  const hex = createHash("sha256").update(`${session} ${n}`).digest("hex");
  // The form of a random UUID (RFC 9562, version 8).
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
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
