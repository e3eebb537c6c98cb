/**
 * Keeps one connection to one Editor alive: connect, hello, ready; again after each loss, until closed.
 *
 *   connecting ──hello handled──▶ ready
 *       ▲                           │
 *       └──── connection ended ─────┘      both ──close() or fenced for good──▶ closed
 */

import { isDeepStrictEqual } from "node:util";
import type { Log } from "../../shared/telemetry.js";
import type { Heartbeat, HelloResult } from "../../shared/wire/wire.js";
import type { OwnWireEditor } from "../bridges/bridge.js";
import { type ConnectionOptions, createUnaskedTime } from "../transport/connection.js";
import { ConnectionLost, type DisconnectReason } from "../transport/disconnect.js";
import { createPushServer } from "../transport/push-server.js";
import { type BridgeKindDeps, type EditorLine, openLine } from "./bridge-kind.js";
import {
  callHandler,
  createEditorNotices,
  type EditorCalls,
  type EditorNoticeHandlers,
  type EditorNotices,
} from "./editor-calls.js";
import { createEditorEvents, type EditorEvent } from "./editor-events.js";
import type { HelloDeps } from "./handshake.js";
import type { EditorSecret } from "./proving.js";
import { isRefusedHello, passesByItself } from "./refusal.js";
import { createSparseLog } from "./sparse-log.js";

/** Holds the callers that wait for a link to be ready, but no state of the link. */
function createReadyGate() {
  const waiting = new Set<{ resolve: () => void; reject: (reason: unknown) => void }>();

  return {
    /** Waits for the next `admit`; rejects with the error of `refuse`, or with the signal's reason. */
    wait: (signal?: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const leave = (): void => {
          waiting.delete(waiter);
          signal?.removeEventListener("abort", abort);
        };
        const waiter = {
          resolve() {
            leave();
            resolve();
          },
          reject(reason: unknown) {
            leave();
            reject(reason);
          },
        };
        const abort = (): void => waiter.reject(signal?.reason);
        waiting.add(waiter);
        signal?.addEventListener("abort", abort);
      }),
    /** Releases the present waiters. */
    admit(): void {
      for (const waiter of [...waiting]) waiter.resolve();
    },
    refuse(error: () => Error): void {
      for (const waiter of [...waiting]) waiter.reject(error());
    },
  };
}

/** After an announced reload, try this often, ms … */
const RELOAD_LOOK_MS = 100;
/** … for this long; large projects need it. */
const RELOAD_MS = 120_000;

/** How long a link waits before it connects to its Editor again, and what ends the wait early. */
function createReconnectBackoff(options?: BackoffOptions) {
  const backoff = createBackoff(options);
  /** Monotonic, ms. */
  let reloadingUntil = 0;
  let endPause: (() => void) | undefined;

  const wait = (): number => (performance.now() < reloadingUntil ? RELOAD_LOOK_MS : backoff.next());

  return {
    /** Waits before the next attempt: `ms`, or a time that depends on failures and announcements. */
    pause: (ms = wait()): Promise<void> =>
      new Promise((resolve) => {
        const clock = setTimeout(() => endPause?.(), ms);
        endPause = () => {
          clearTimeout(clock);
          endPause = undefined;
          resolve();
        };
      }),
    /** Ends a wait that is under way. */
    hurry: (): void => endPause?.(),
    /** Forgets the failures. */
    forget: backoff.reset,
    /** The Editor announced a short absence: try often, without backing off. */
    reloading(): void {
      reloadingUntil = performance.now() + RELOAD_MS;
    },
    /** The Editor is back. */
    arrived(): void {
      reloadingUntil = 0;
    },
  };
}

export interface EditorAddress extends EditorSecret {
  host: string;
  port: number;
  editorId?: string | undefined;
}

export interface EditorLinkDeps
  extends Pick<HelloDeps, "fence" | "identity" | "storeId">,
    Pick<BridgeKindDeps, "clientName" | "uloop"> {
  endpoint: EditorAddress;
  /** Set if its bridge has a wire of its own: hello is not said there. */
  ownWire?: OwnWireEditor | undefined;
  log: Log;
  /** Also listens for pushes, and announces that to the Editor. */
  push?: boolean;
}

/** Times in ms. */
export interface EditorLinkOptions {
  connection?: ConnectionOptions;
  backoff?: BackoffOptions;
  /** Silence after which the Editor's process counts as dead; default: five of the heartbeat intervals in hello's answer. */
  heartbeatTimeoutMs?: number;
  /** Pause after a hello that was refused for a reason that waiting does not remove. */
  refusedRetryMs?: number;
  /** A connection that lasted this long resets the backoff. */
  stableMs?: number;
}

/** Its calls reject ConnectionLost with `sent: false` while it is not ready. It never repeats a request. */
export interface EditorLink extends EditorCalls {
  /** Starts to connect; call it once. */
  start(handlers: EditorLinkHandlers): void;
  readonly state: EditorLinkState;
  /** The last answer to hello, kept after a loss; undefined before the first. */
  readonly hello: HelloResult | undefined;
  /** The present connection's; undefined before the first. */
  readonly lastHeartbeat: Heartbeat | undefined;
  /** Why the last connection or attempt ended; undefined before the first end. */
  readonly lastDisconnect: DisconnectReason | undefined;
  /** Resolves when ready, at once if it is; rejects ConnectionLost once closed, and the signal's reason on abort. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Ends the connection (`fenced`), then sends hello with the present fence. */
  helloAgain(): void;
  /** Connects to another address from now on; a live connection ends at once as `moved`. */
  moveTo(endpoint: EditorAddress): void;
  /** Resolves once no socket and no timer is left; open requests reject ConnectionLost. May be called twice. */
  close(): Promise<void>;
}

export function createEditorLink(deps: EditorLinkDeps, options: EditorLinkOptions = {}): EditorLink {
  const log = createSparseLog(deps.log);
  const { refusedRetryMs = 5_000, stableMs = 1_000 } = options;
  const backoff = createReconnectBackoff(options.backoff);
  const gate = createReadyGate();
  // Belongs to the Editor: a new connection inherits what the last one owed.
  const unasked = createUnaskedTime(log);

  let handlers: EditorLinkHandlers = NO_HANDLERS;
  let endpoint = deps.endpoint;
  let state: EditorLinkState = "connecting";
  let connection: EditorLine | undefined;
  /** The calls of the connection that is ready. */
  let calls: EditorCalls | undefined;
  let hello: HelloResult | undefined;
  let notices: EditorNotices | undefined;
  let lastDisconnect: DisconnectReason | undefined;
  /** The push channel reported a change of tools while there was no connection to ask on. */
  let toolsStale = false;

  const act = (event: EditorEvent): void => {
    callHandler(log, event, () => handlers.onEvent?.(event));
    if (event === "tools_changed") {
      if (state === "ready") callHandler(log, event, () => handlers.onToolsChanged());
      else toolsStale = true;
    }
    if (event !== "reloading" && event !== "recovered") return;
    if (event === "reloading") backoff.reloading();
    backoff.forget();
    backoff.hurry();
  };
  const events = createEditorEvents(act);
  const push = deps.push
    ? createPushServer({ log, onPush: events.pushed, isKeyless: () => hello?.plain === true })
    : undefined;
  const noticeHandlers = (): EditorNoticeHandlers => ({
    ...handlers,
    onToolsChanged: events.toolsChanged,
    onShutdownAnnounced(reason) {
      events.stopping(reason);
      return handlers.onShutdownAnnounced?.(reason);
    },
  });

  const setState = (next: EditorLinkState): void => {
    if (state === next || state === "closed") return;
    state = next;
    callHandler(log, "state", () => handlers.onState?.(next));
    if (next === "ready") {
      backoff.arrived();
      gate.admit();
    }
    if (next === "closed") gate.refuse(() => new ConnectionLost("shutdown", false));
  };

  const isClosed = () => state === "closed";

  /** Connects, sends hello and has it handled; undefined if the link did not become ready. */
  const shakeHands = async (
    line: EditorLine,
    own: EditorNotices,
    progress: { identified: boolean },
  ): Promise<EditorCalls | undefined> => {
    await line.opened;
    toolsStale = false;
    const onFenced = (highestEpoch: number) => handlers.onFenced(highestEpoch);
    const identified = await line.identify(
      { ...deps, endpoint, onFenced, pushEndpoint: push?.endpoint },
      { notice: own.take, fenced: () => void line.close("fenced") },
    );
    if (!identified) {
      setState("closed");
      await line.close("fenced");
      return undefined;
    }
    if (isClosed()) return undefined;
    hello = identified.hello;
    const silence = options.heartbeatTimeoutMs ?? hello.heartbeatSeconds * 5_000;
    if (hello.heartbeatSeconds > 0) line.expectBytesEvery(silence);
    progress.identified = true;
    await handlers.onHello(hello, identified.calls);
    return identified.calls;
  };

  /** Runs one connection from connect to end; resolves the ms to wait before the next, if that is known. */
  const holdConnection = async (): Promise<number | undefined> => {
    const called = endpoint;
    const { host, port } = called;
    const own = createEditorNotices(noticeHandlers(), log);
    notices = own;
    const about = { ...options.connection, isStranger: true };
    const line = openLine({ host, port, log, unasked, onNotification: own.take }, about, deps.ownWire);
    connection = line;
    const progress = { identified: false };
    let ended = false;
    let refused = false;
    let readyAt = Number.POSITIVE_INFINITY;
    void line.closed.then(() => {
      ended = true;
    });
    try {
      const lineCalls = await shakeHands(line, own, progress);
      if (lineCalls) {
        // The held-back notifications may lead to calls, which need the connection.
        if (!ended) calls = lineCalls;
        own.release();
        if (!ended) {
          readyAt = performance.now();
          setState("ready");
          if (toolsStale) callHandler(log, "tools_changed", () => handlers.onToolsChanged());
        }
      }
    } catch (error) {
      refused = !progress.identified && isRefusedHello(error);
      // A lost connection has its own reason.
      if (!(error instanceof ConnectionLost)) log.warn({ host, port, err: error }, "hello failed");
      if (refused) callHandler(log, "refused", () => handlers.onRefused?.(error as Error));
      void line.close(refused ? "hello_refused" : "hello_failed");
      // Then the usual backoff applies.
      refused &&= !passesByItself(error);
    }
    const reason = await line.closed;
    calls = undefined;
    lastDisconnect = reason;
    setState("connecting");
    if (progress.identified) callHandler(log, "disconnected", () => handlers.onDisconnected(reason));
    if (performance.now() - readyAt >= stableMs) backoff.forget();
    return refused && endpoint === called ? refusedRetryMs : undefined;
  };

  const keepAlive = async (): Promise<void> => {
    while (!isClosed()) {
      const ms = await holdConnection();
      if (!isClosed()) await backoff.pause(ms);
    }
  };

  /** The calls of the ready connection. */
  const ready = (): EditorCalls => {
    if (!calls) throw new ConnectionLost(isClosed() ? "shutdown" : "not_ready", false);
    return calls;
  };

  return {
    start(given) {
      handlers = given;
      void keepAlive();
    },

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
    tellClients: (notice) => ready().tellClients(notice),

    async whenReady(signal) {
      if (isClosed()) throw new ConnectionLost("shutdown", false);
      if (state !== "ready") await gate.wait(signal);
    },

    helloAgain() {
      void connection?.close("fenced");
      backoff.hurry();
    },

    moveTo(next) {
      if (!isDeepStrictEqual({ ...next, editorId: undefined }, { ...endpoint, editorId: undefined })) {
        endpoint = next;
        backoff.forget();
        void connection?.close("moved");
      }
      backoff.hurry();
    },

    async close() {
      setState("closed");
      backoff.hurry();
      await connection?.close("shutdown");
      await push?.close();
    },
  };
}

// What a link reports to its owner.

export type EditorLinkState = "connecting" | "ready" | "closed";

export interface EditorLinkHandlers extends EditorNoticeHandlers {
  /**
   * Awaited before the link is ready; notifications that arrive meanwhile are handed on afterwards. `calls` already
   * uses this connection. A rejection ends the connection (`hello_failed`), and hello is sent again later.
   * Never called again before the previous call has settled.
   */
  onHello(hello: HelloResult, calls: EditorCalls): void | Promise<void>;
  /** Called exactly once after each `onHello`. Attempts without a hello appear only in `lastDisconnect`. */
  onDisconnected(reason: DisconnectReason): void | Promise<void>;
  /** True: the fence was raised above `highestEpoch`, so send hello again. False: the lease is lost, so the link closes. */
  onFenced(highestEpoch: number): boolean | Promise<boolean>;
  /** Hello was refused: RpcFailure (UNAUTHORIZED, FOREIGN_BROKER, unknown method …), UnreadableAnswer, WrongEditor, UnprovenEditor. */
  onRefused?(error: Error): void | Promise<void>;
  onState?(state: EditorLinkState): void | Promise<void>;
  /** Called once, whether it came on the connection, the push channel or both. */
  onEvent?(event: EditorEvent): void | Promise<void>;
}

/** The events of a link that has not been started. */
const NO_HANDLERS: EditorLinkHandlers = {
  onHello: () => undefined,
  onRunning: () => undefined,
  onProgress: () => undefined,
  onFinished: () => undefined,
  onHeartbeat: () => undefined,
  onToolsChanged: () => undefined,
  onDisconnected: () => undefined,
  onFenced: () => false,
};

/** Pauses between attempts: none before the first retry, then one step more each time up to a cap. */

interface BackoffOptions {
  /** ms by which each pause is longer than the one before. */
  stepMs?: number;
  /** ms that no pause exceeds. */
  maxMs?: number;
}

interface Backoff {
  /** ms to wait before the next attempt; each call counts as one attempt. */
  next(): number;
  /** Forgets the failures: the next pause is 0 again. */
  reset(): void;
}

/**
 * Makes a backoff that starts at 0. The default cap is below 1 s, because an Editor that listens again after a domain
 * reload must have its worker back within one second. No jitter: one lease holder calls one Editor.
 */
function createBackoff({ stepMs = 250, maxMs = 750 }: BackoffOptions = {}): Backoff {
  let attempts = 0;
  return {
    next: () => Math.min(attempts++ * stepMs, maxMs),
    reset() {
      attempts = 0;
    },
  };
}
