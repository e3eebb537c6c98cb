/**
 * Keeps one connection to one Editor alive: connect, hello, ready; after any loss again, until closed.
 *
 *   connecting ──hello handled──▶ ready
 *       ▲                           │
 *       └──── connection ended ─────┘      both ──close() or fenced for good──▶ closed
 */
import { type BackoffOptions, createBackoff } from "../shared/backoff.js";
import { RpcFailure } from "../shared/dialogue.js";
import type { Log } from "../shared/log.js";
import { EDITOR_CODES, type Heartbeat, type HelloResult } from "../shared/wire.js";
import { type Connection, type ConnectionOptions, createConnection } from "./connection.js";
import { ConnectionLost, type DisconnectReason } from "./disconnect.js";
import { createEditorCalls, type EditorCalls, UnreadableAnswer } from "./editor-calls.js";
import {
  callHandler,
  createEditorNotices,
  type EditorNoticeHandlers,
  type EditorNotices,
} from "./editor-notices.js";
import { type HelloDeps, sayHello, WrongEditor } from "./hello.js";
import { createReadiness } from "./readiness.js";

export type EditorLinkState = "connecting" | "ready" | "closed";

export interface EditorAddress {
  host: string;
  port: number;
  token: string;
  editorId?: string | undefined;
}

export interface EditorLinkDeps extends Pick<HelloDeps, "fence" | "identity" | "memory"> {
  endpoint: EditorAddress;
  log: Log;
}

/** Times in ms. */
export interface EditorLinkOptions {
  connection?: ConnectionOptions;
  backoff?: BackoffOptions;
  /** Silence after which the Editor's process counts as dead; default: five of the heartbeats that hello promises. */
  heartbeatTimeoutMs?: number;
  /** Pause after a hello that was refused for a reason which time alone does not cure. */
  refusedRetryMs?: number;
  /** A connection that held this long forgets the failures before it. */
  stableMs?: number;
}

export interface EditorLinkHandlers extends EditorNoticeHandlers {
  /**
   * Awaited before the link is ready; notifications that come meanwhile are handed on afterwards. `calls` reaches
   * this connection already now. A rejection ends the connection (`hello_failed`) and hello is said again later.
   * Never called again before the former call has settled.
   */
  onHello(hello: HelloResult, calls: EditorCalls): void | Promise<void>;
  /** Exactly once for each `onHello`, after it. Attempts that never came to a hello are only in `lastDisconnect`. */
  onDisconnected(reason: DisconnectReason): void | Promise<void>;
  /** True: the fence was raised above `highestEpoch`, say hello again. False: the lease is lost, the link closes. */
  onFenced(highestEpoch: number): boolean | Promise<boolean>;
  /** Hello was refused: RpcFailure (UNAUTHORIZED, FOREIGN_BROKER, unknown method …), UnreadableAnswer, WrongEditor. */
  onRefused?(error: Error): void | Promise<void>;
  onState?(state: EditorLinkState): void | Promise<void>;
}

/** Its calls reject ConnectionLost with `sent: false` while it is not ready; it never repeats a request by itself. */
export interface EditorLink extends EditorCalls {
  readonly state: EditorLinkState;
  /** The last answer to hello, kept after a loss; undefined before the first. */
  readonly hello: HelloResult | undefined;
  /** Of the present connection; undefined before its first. */
  readonly lastHeartbeat: Heartbeat | undefined;
  /** Why the last connection or attempt ended; undefined before the first end. */
  readonly lastDisconnect: DisconnectReason | undefined;
  /** Resolves when ready, at once if it is; rejects ConnectionLost once closed, and the signal's reason on abort. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Ends the connection (`fenced`) and says hello with the fence as it is then. */
  helloAgain(): void;
  /** Calls at another address from now on, at once; a live connection ends as `moved`. */
  moveTo(endpoint: EditorAddress): void;
  /** Resolves when no socket and no timer is left; open requests reject ConnectionLost. May be called twice. */
  close(): Promise<void>;
}

export function createEditorLink(
  deps: EditorLinkDeps,
  handlers: EditorLinkHandlers,
  options: EditorLinkOptions = {},
): EditorLink {
  const { log } = deps;
  const { refusedRetryMs = 5_000, stableMs = 1_000 } = options;
  const backoff = createBackoff(options.backoff);
  const readiness = createReadiness();

  let endpoint = deps.endpoint;
  let state: EditorLinkState = "connecting";
  let connection: Connection | undefined;
  /** The calls of the connection that is ready. */
  let calls: EditorCalls | undefined;
  let hello: HelloResult | undefined;
  let notices: EditorNotices | undefined;
  let lastDisconnect: DisconnectReason | undefined;
  let endPause: (() => void) | undefined;

  const setState = (next: EditorLinkState): void => {
    if (state === next || state === "closed") return;
    state = next;
    callHandler(log, "state", () => handlers.onState?.(next));
    if (next === "ready") readiness.admit();
    if (next === "closed") readiness.refuse(() => new ConnectionLost("shutdown", false));
  };

  const isClosed = () => state === "closed";

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const clock = setTimeout(() => endPause?.(), ms);
      endPause = () => {
        clearTimeout(clock);
        endPause = undefined;
        resolve();
      };
    });

  /** Connects, says hello, has it handled; answers undefined where that did not lead to a ready link. */
  const greet = async (
    line: Connection,
    progress: { greeted: boolean },
  ): Promise<EditorCalls | undefined> => {
    await line.opened;
    const onFenced = (highestEpoch: number) => handlers.onFenced(highestEpoch);
    const answer = await sayHello(line, { ...deps, endpoint, onFenced });
    if (!answer) {
      setState("closed");
      await line.close("fenced");
      return undefined;
    }
    if (isClosed()) return undefined;
    hello = answer;
    line.expectBytesEvery(options.heartbeatTimeoutMs ?? answer.heartbeatSeconds * 5_000);
    const lineCalls = createEditorCalls(line, () => void line.close("fenced"));
    progress.greeted = true;
    await handlers.onHello(answer, lineCalls);
    return lineCalls;
  };

  /** From connect to the end of one connection; resolves ms to wait before the next. */
  const holdConnection = async (): Promise<number> => {
    const called = endpoint;
    const { host, port } = called;
    const own = createEditorNotices(handlers, log);
    notices = own;
    const line = createConnection({ host, port, log, onNotification: own.take }, options.connection);
    connection = line;
    const progress = { greeted: false };
    let ended = false;
    let refused = false;
    let readyAt = Number.POSITIVE_INFINITY;
    void line.closed.then(() => {
      ended = true;
    });
    try {
      const lineCalls = await greet(line, progress);
      if (lineCalls) {
        // What was kept back may lead to calls, and must find the connection.
        if (!ended) calls = lineCalls;
        own.release();
        if (!ended) {
          readyAt = performance.now();
          setState("ready");
        }
      }
    } catch (error) {
      refused = !progress.greeted && isRefusal(error);
      // A lost connection gives its reason by itself.
      if (!(error instanceof ConnectionLost)) log.warn({ host, port, err: error }, "hello failed");
      if (refused) callHandler(log, "refused", () => handlers.onRefused?.(error as Error));
      void line.close(refused ? "hello_refused" : "hello_failed");
      refused &&= !isPassing(error);
    }
    const reason = await line.closed;
    calls = undefined;
    lastDisconnect = reason;
    setState("connecting");
    if (progress.greeted) callHandler(log, "disconnected", () => handlers.onDisconnected(reason));
    if (performance.now() - readyAt >= stableMs) backoff.reset();
    return refused && endpoint === called ? refusedRetryMs : backoff.next();
  };

  const keepAlive = async (): Promise<void> => {
    while (!isClosed()) {
      const ms = await holdConnection();
      if (!isClosed()) await pause(ms);
    }
  };

  /** The calls of the ready connection. */
  const ready = (): EditorCalls => {
    if (!calls) throw new ConnectionLost(isClosed() ? "shutdown" : "not_ready", false);
    return calls;
  };

  void keepAlive();

  return {
    get state() {
      return state;
    },
    get hello() {
      return hello;
    },
    get lastHeartbeat() {
      return notices?.lastHeartbeat();
    },
    get lastDisconnect() {
      return lastDisconnect;
    },

    submit: async (params) => ready().submit(params),
    get: async (operationId) => ready().get(operationId),
    cancel: async (operationId) => ready().cancel(operationId),
    revoke: async (operationId) => ready().revoke(operationId),
    list: async () => ready().list(),
    resultPart: async (operationId, offset, length) => ready().resultPart(operationId, offset, length),
    ack: async (operationIds) => ready().ack(operationIds),
    toolDetails: async () => ready().toolDetails(),

    async whenReady(signal) {
      if (isClosed()) throw new ConnectionLost("shutdown", false);
      if (state !== "ready") await readiness.wait(signal);
    },

    helloAgain() {
      void connection?.close("fenced");
      endPause?.();
    },

    moveTo(next) {
      const same =
        next.host === endpoint.host && next.port === endpoint.port && next.token === endpoint.token;
      if (!same) {
        endpoint = next;
        backoff.reset();
        void connection?.close("moved");
      }
      endPause?.();
    },

    async close() {
      setState("closed");
      endPause?.();
      await connection?.close("shutdown");
    },
  };
}

/** The Editor's word, not a lost line or a failure of our own. */
function isRefusal(error: unknown): boolean {
  return error instanceof RpcFailure || error instanceof UnreadableAnswer || error instanceof WrongEditor;
}

/** A refusal that the next seconds will cure: the usual backoff is right for it. */
function isPassing(error: unknown): boolean {
  return error instanceof RpcFailure && error.code === EDITOR_CODES.EDITOR_SHUTTING_DOWN;
}
