/**
 * Keeps one connection to one Editor alive: connect, hello, ready; after any loss again, until closed.
 *
 *   connecting ──hello handled──▶ ready
 *       ▲                           │
 *       └──── connection ended ─────┘      both ──close() or fenced for good──▶ closed
 */
import { isDeepStrictEqual } from "node:util";
import type { BackoffOptions } from "../shared/backoff.js";
import { RpcFailure } from "../shared/dialogue.js";
import type { Log } from "../shared/log.js";
import type { Heartbeat, HelloResult } from "../shared/wire.js";
import { type Connection, type ConnectionOptions, createConnection } from "./connection.js";
import { ConnectionLost, type DisconnectReason } from "./disconnect.js";
import { type EditorCalls, UnreadableAnswer } from "./editor-calls.js";
import { createEditorEvents, type EditorEvent } from "./editor-events.js";
import {
  callHandler,
  createEditorNotices,
  type EditorNoticeHandlers,
  type EditorNotices,
} from "./editor-notices.js";
import { type GreetingDeps, greetEditor } from "./greeting.js";
import { type HelloDeps, WrongEditor } from "./hello.js";
import { createPace } from "./pace.js";
import { type EditorSecret, UnprovenEditor } from "./proving.js";
import { createPushServer } from "./push-server.js";
import { createReadiness } from "./readiness.js";
import { isLeaving } from "./refusal.js";

export type EditorLinkState = "connecting" | "ready" | "closed";

export interface EditorAddress extends EditorSecret {
  host: string;
  port: number;
  editorId?: string | undefined;
}

export interface EditorLinkDeps
  extends Pick<HelloDeps, "fence" | "identity">,
    Pick<GreetingDeps, "clientName" | "plain"> {
  endpoint: EditorAddress;
  log: Log;
  /** Listens for pushes as well, and says so to the Editor. */
  push?: boolean;
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
  /** Hello was refused: RpcFailure (UNAUTHORIZED, FOREIGN_BROKER, unknown method …), UnreadableAnswer, WrongEditor, UnprovenEditor. */
  onRefused?(error: Error): void | Promise<void>;
  onState?(state: EditorLinkState): void | Promise<void>;
  /** Said on the connection, the push channel or both: once. */
  onEvent?(event: EditorEvent): void | Promise<void>;
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
  const pace = createPace(options.backoff);
  const readiness = createReadiness();

  let endpoint = deps.endpoint;
  let state: EditorLinkState = "connecting";
  let connection: Connection | undefined;
  /** The calls of the connection that is ready. */
  let calls: EditorCalls | undefined;
  let hello: HelloResult | undefined;
  let notices: EditorNotices | undefined;
  let lastDisconnect: DisconnectReason | undefined;
  /** Told on the push channel while there was nobody to ask. */
  let toolsStale = false;

  const act = (event: EditorEvent): void => {
    callHandler(log, event, () => handlers.onEvent?.(event));
    if (event === "tools_changed") {
      if (state === "ready") callHandler(log, event, () => handlers.onToolsChanged());
      else toolsStale = true;
    }
    if (event !== "reloading" && event !== "recovered") return;
    if (event === "reloading") pace.reloading();
    pace.forget();
    pace.hurry();
  };
  const events = createEditorEvents(act);
  const push = deps.push
    ? createPushServer({ log, onPush: events.pushed, isKeyless: () => hello?.plain === true })
    : undefined;
  const noticeHandlers: EditorNoticeHandlers = {
    ...handlers,
    onToolsChanged: events.toolsChanged,
    onShutdownAnnounced(reason) {
      events.stopping(reason);
      return handlers.onShutdownAnnounced?.(reason);
    },
  };

  const setState = (next: EditorLinkState): void => {
    if (state === next || state === "closed") return;
    state = next;
    callHandler(log, "state", () => handlers.onState?.(next));
    if (next === "ready") {
      pace.arrived();
      readiness.admit();
    }
    if (next === "closed") readiness.refuse(() => new ConnectionLost("shutdown", false));
  };

  const isClosed = () => state === "closed";

  /** Connects, says hello, has it handled; answers undefined where that did not lead to a ready link. */
  const greet = async (
    line: Connection,
    own: EditorNotices,
    progress: { greeted: boolean },
  ): Promise<EditorCalls | undefined> => {
    await line.opened;
    toolsStale = false;
    const onFenced = (highestEpoch: number) => handlers.onFenced(highestEpoch);
    const greeting = await greetEditor(
      line,
      { ...deps, endpoint, onFenced, pushEndpoint: push?.endpoint },
      { told: own.take, fenced: () => void line.close("fenced") },
    );
    if (!greeting) {
      setState("closed");
      await line.close("fenced");
      return undefined;
    }
    if (isClosed()) return undefined;
    hello = greeting.hello;
    const silence = options.heartbeatTimeoutMs ?? hello.heartbeatSeconds * 5_000;
    if (hello.heartbeatSeconds > 0) line.expectBytesEvery(silence);
    progress.greeted = true;
    await handlers.onHello(hello, greeting.calls);
    return greeting.calls;
  };

  /** From connect to the end of one connection; resolves ms to wait before the next, where that is certain. */
  const holdConnection = async (): Promise<number | undefined> => {
    const called = endpoint;
    const { host, port } = called;
    const own = createEditorNotices(noticeHandlers, log);
    notices = own;
    const about = { ...options.connection, isStranger: true };
    const line = createConnection({ host, port, log, onNotification: own.take }, about);
    connection = line;
    const progress = { greeted: false };
    let ended = false;
    let refused = false;
    let readyAt = Number.POSITIVE_INFINITY;
    void line.closed.then(() => {
      ended = true;
    });
    try {
      const lineCalls = await greet(line, own, progress);
      if (lineCalls) {
        // What was kept back may lead to calls, and must find the connection.
        if (!ended) calls = lineCalls;
        own.release();
        if (!ended) {
          readyAt = performance.now();
          setState("ready");
          if (toolsStale) callHandler(log, "tools_changed", () => handlers.onToolsChanged());
        }
      }
    } catch (error) {
      refused = !progress.greeted && isRefusal(error);
      // A lost connection gives its reason by itself.
      if (!(error instanceof ConnectionLost)) log.warn({ host, port, err: error }, "hello failed");
      if (refused) callHandler(log, "refused", () => handlers.onRefused?.(error as Error));
      void line.close(refused ? "hello_refused" : "hello_failed");
      // The next seconds cure it: the usual backoff is right for it.
      refused &&= !isLeaving(error);
    }
    const reason = await line.closed;
    calls = undefined;
    lastDisconnect = reason;
    setState("connecting");
    if (progress.greeted) callHandler(log, "disconnected", () => handlers.onDisconnected(reason));
    if (performance.now() - readyAt >= stableMs) pace.forget();
    return refused && endpoint === called ? refusedRetryMs : undefined;
  };

  const keepAlive = async (): Promise<void> => {
    while (!isClosed()) {
      const ms = await holdConnection();
      if (!isClosed()) await pace.pause(ms);
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
    list: async (options) => ready().list(options),
    resultPart: async (operationId, offset, length) => ready().resultPart(operationId, offset, length),
    ack: async (operationIds) => ready().ack(operationIds),
    toolDetails: async () => ready().toolDetails(),

    async whenReady(signal) {
      if (isClosed()) throw new ConnectionLost("shutdown", false);
      if (state !== "ready") await readiness.wait(signal);
    },

    helloAgain() {
      void connection?.close("fenced");
      pace.hurry();
    },

    moveTo(next) {
      if (!isDeepStrictEqual({ ...next, editorId: undefined }, { ...endpoint, editorId: undefined })) {
        endpoint = next;
        pace.forget();
        void connection?.close("moved");
      }
      pace.hurry();
    },

    async close() {
      setState("closed");
      pace.hurry();
      await connection?.close("shutdown");
      await push?.close();
    },
  };
}

/** The Editor's word, not a lost line or a failure of our own. */
function isRefusal(error: unknown): boolean {
  return [RpcFailure, UnreadableAnswer, WrongEditor, UnprovenEditor].some(
    (refusal) => error instanceof refusal,
  );
}
