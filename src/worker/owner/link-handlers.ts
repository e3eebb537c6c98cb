/** The owner's reactions when its Editor answers hello, reports something, or goes away. */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import { isFinal, isSent, isWaiting, type OperationRecord } from "../../shared/operation/operation.js";
import { clientIdentity } from "../../shared/principal.js";
import { shortened } from "../../shared/printable.js";
import type { Notifier } from "../../shared/store/connect.js";
import type { ConnectedClient, ConnectedClients } from "../../shared/store/connected-clients.js";
import type { LineBatch } from "../../shared/store/operations/console-lines.js";
import type { Listings } from "../../shared/store/operations/listings.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { Store } from "../../shared/store/store.js";
import { connectionCounts, disconnectCounts, type Log, progressCounts } from "../../shared/telemetry.js";
import { readTools, type ToolLimits } from "../../shared/tools/call-rules.js";
import type { ClientsNotice } from "../../shared/wire/clients-notice.js";
import {
  type ConsoleLine,
  LINE_LENGTH,
  LINES_IN_NOTICE,
  type LogNotice,
} from "../../shared/wire/console-lines.js";
import type { Progress } from "../../shared/wire/wire.js";
import { callHandler, type EditorCalls, UnreadableAnswer } from "../editor/editor-calls.js";
import type { EditorLink, EditorLinkHandlers } from "../editor/editor-link.js";
import type { PoolTaker } from "../execution/lane.js";
import { type OutcomeListeners, started } from "../execution/outcome.js";
import { ConnectionLost } from "../transport/disconnect.js";
import { type HealthMonitor, type HeartbeatRecorder, latestOnly } from "./heartbeat.js";
import {
  type Imports,
  noticeLedgerLoss,
  type OwnedOperations,
  type OwnerFence,
  type UnderWay,
} from "./owned-operations.js";
import { createProgressReports } from "./progress-reports.js";

// The reports to the store about an operation while it runs.

// Passes the Console lines of running operations to the store: one write at a time for each operation. However many lines an
// Editor sends, no more than one notice of them waits here.

export interface LogReports {
  /** Lines of an operation that does not run here are ignored. */
  take(notice: LogNotice): void;
  /** Sends what waits to the store now, before its end is written on the same connection. Does not wait for the answer. */
  flush(operationId: string): void;
}

/** Shortest time between two writes, and the pause between a failed write and the next attempt, ms. */
const REST_MS = 50;
const RETRY_MS = 250;

interface Waiting {
  lines: ConsoleLine[];
  more: number;
}

/** A batch that cannot be stored is tried again, as long as its operation runs. */
export function createLogReports(deps: {
  isOwn(operationId: string): boolean;
  add(operationId: string, batch: LineBatch): Promise<void>;
  log: Log;
}): LogReports {
  const waiting = new Map<string, Waiting>();
  const underWay = new Set<string>();

  const taken = (operationId: string): LineBatch | undefined => {
    const next = waiting.get(operationId);
    if (!next) return undefined;
    waiting.delete(operationId);
    const { lines, more } = next;
    const left = { type: "log", message: `… and ${more} more lines; get-logs has the newest` } as const;
    return { id: randomUUID(), lines: more > 0 ? [...lines, left] : lines };
  };

  const isStored = (operationId: string, batch: LineBatch): Promise<boolean> =>
    deps.add(operationId, batch).then(
      () => true,
      (error: Error) => {
        deps.log.warn({ log_id: operationId, error: error.message }, "Console lines could not be stored");
        return false;
      },
    );

  const write = async (operationId: string): Promise<void> => {
    underWay.add(operationId);
    for (let batch = taken(operationId); batch; batch = taken(operationId)) {
      const rested = delay(REST_MS, undefined, { ref: false });
      while (!(await isStored(operationId, batch)) && deps.isOwn(operationId))
        await delay(RETRY_MS, undefined, { ref: false });
      await rested;
    }
    underWay.delete(operationId);
  };

  return {
    take({ operationId, lines, more = 0 }) {
      if (!deps.isOwn(operationId)) return;
      const held = waiting.get(operationId) ?? { lines: [], more: 0 };
      const room = Math.max(0, LINES_IN_NOTICE - held.lines.length);
      for (const { type, message } of lines.slice(0, room))
        held.lines.push({ type, message: shortened(message, LINE_LENGTH) });
      held.more += more + Math.max(0, lines.length - room);
      waiting.set(operationId, held);
      if (!underWay.has(operationId)) void write(operationId);
    },

    flush(operationId) {
      const batch = taken(operationId);
      if (batch) void isStored(operationId, batch);
    },
  };
}

/** About the time of one Unity frame: a reader of the record notices no difference. */
const SHOW_RUNNING_MS = 20;

export function createReports({
  store: { operations, counters },
  underWay,
  fence,
  log,
}: {
  store: Pick<Store, "operations" | "counters">;
  underWay: UnderWay;
  /** The fence (▲11) under which they are written. */
  fence: string;
  log: Log;
}) {
  const { isOwn } = underWay;
  /** The write that an operation runs is held for a moment: a quick tool has ended by then, and its record goes to its end in one write. */
  const held = new Map<string, NodeJS.Timeout>();
  const release = (logId: string): boolean => {
    clearTimeout(held.get(logId));
    return held.delete(logId);
  };
  const mark = async (logId: string) => release(logId) && operations.change(logId, started, fence);
  const startedNotice = {
    started(logId: string): void {
      release(logId);
      const due = () => callHandler(log, "started", () => mark(logId));
      held.set(logId, setTimeout(due, SHOW_RUNNING_MS));
    },
    ended: release,
    close: () => held.forEach((_timer, logId) => void release(logId)),
  };
  const reportProgress = createProgressReports({
    isOwn,
    async report(logId, live) {
      // What shows something of itself runs.
      await mark(logId);
      await operations.report(logId, live);
    },
    written: (received) => counters.add(progressCounts(received)),
    log,
  });
  const logReports = createLogReports({ isOwn, add: operations.addLines, log });
  return { startedNotice, reportProgress, logReports };
}

// The reactions to the Editor's hello, notices and losses.

export interface LinkHandlersDeps {
  store: Store;
  editorId: string;
  log: Log;
  /** For events that the Editor can cause without limit. */
  sparseLog: Log;
  fence: OwnerFence;
  link: Pick<EditorCalls, "toolDetails">;
  underWay: Pick<UnderWay, "isOwn">;
  operations: Pick<OwnedOperations, "resume" | "catchUp">;
  imports: Pick<Imports, "atHello">;
  heartbeat: Pick<HeartbeatRecorder, "introduce" | "heard" | "lost">;
  health: Pick<HealthMonitor, "announced" | "helloRefused">;
  catalog: CatalogSync;
  clientNotices: Pick<ClientNotices, "connected" | "heard">;
  poolTaker: Pick<PoolTaker, "look">;
  startedNotice: Pick<ReturnType<typeof createReports>["startedNotice"], "started" | "ended">;
  outcomeListeners: Pick<OutcomeListeners, "finished" | "lost" | "missed">;
  reportProgress(progress: Progress): void;
  logReports: LogReports;
}

export function createLinkHandlers(deps: LinkHandlersDeps): EditorLinkHandlers {
  return { ...connectionHandlers(deps), ...operationHandlers(deps), ...editorHandlers(deps) };
}

/** The connection begins and ends. */
function connectionHandlers(deps: LinkHandlersDeps) {
  const { store, sparseLog, fence, heartbeat, health } = deps;
  let wasConnected = false;
  return {
    async onHello(hello, calls) {
      // Ledger loss (▲10 c): before the new ledger is remembered.
      await noticeLedgerLoss(deps, hello, fence.now().ownerNonce);
      await deps.catalog.sync(calls);
      // Record recovery (▲10 d): before any caller sees the Editor again, because a retry must find what the store had lost.
      await deps.imports.atHello(hello, calls);
      await heartbeat.introduce(hello);
      await deps.operations.resume(hello);
    },
    onState(state) {
      if (state !== "ready") return;
      store.counters.add(connectionCounts(wasConnected ? "again" : "first"));
      wasConnected = true;
      deps.clientNotices.connected();
      deps.poolTaker.look();
    },
    onFenced: fence.raiseAbove,
    onRefused(error) {
      sparseLog.warn({ error: error.message }, "the Editor refused hello");
      health.helloRefused(error);
    },
    async onDisconnected(reason) {
      sparseLog.info({ reason }, "connection to the Editor ended");
      store.counters.add(disconnectCounts(reason));
      deps.outcomeListeners.lost(new ConnectionLost(reason, true));
      await heartbeat.lost();
    },
  } satisfies Partial<EditorLinkHandlers>;
}

/** The Editor reports the progress or the end of an operation. */
function operationHandlers({
  underWay,
  startedNotice,
  outcomeListeners,
  reportProgress,
  logReports,
}: LinkHandlersDeps) {
  return {
    onRunning({ operationId }) {
      if (underWay.isOwn(operationId)) startedNotice.started(operationId);
    },
    onProgress: reportProgress,
    onLog: logReports.take,
    onFinished({ operationId, outcome }) {
      logReports.flush(operationId);
      startedNotice.ended(operationId);
      outcomeListeners.finished(operationId, outcome);
    },
    // Asks the Editor again for the outcome.
    onMissed(operationId) {
      outcomeListeners.missed(new UnreadableAnswer("finished", "missed"), operationId);
    },
  } satisfies Partial<EditorLinkHandlers>;
}

/** The Editor reports its own condition. */
function editorHandlers({ editorId, log, sparseLog, ...deps }: LinkHandlersDeps) {
  const { operations, heartbeat, health, catalog, clientNotices, link } = deps;
  return {
    onHeartbeat: latestOnly({ log, event: "heartbeat", restMs: 50 }, async (beat) => {
      // Store incarnation (▲13): an older copy of the store imports what the Editor ran before it records the Editor as connected.
      let heard = await heartbeat.heard(beat);
      if (heard === "outdated") {
        await operations.catchUp();
        heard = await heartbeat.heard(beat);
      }
      if (heard === "incomplete") await Promise.all([catalog.sync(link), operations.catchUp()]);
      clientNotices.heard(beat.runningOperationId !== undefined);
    }),
    onToolsChanged: latestOnly<void>({ log, event: "tools", restMs: 200 }, () => catalog.sync(link)),
    onEvent(event) {
      sparseLog.info({ event }, "the Editor says");
      health.announced(event);
    },
  } satisfies Partial<EditorLinkHandlers>;
}

/** Passes cancellations on to the Editor, again and again until it has answered: pub/sub may lose the message. */
export interface CancellationOptions {
  /** How often to look for cancellations that the Editor has not answered, ms. */
  cancelAgainMs: number;
}

export interface Cancellations {
  /** Asks the Editor, and stores its answer. Never rejects: a failure is tried again. */
  passOn(record: OperationRecord): Promise<void>;
  /** Has a cancellation of it been announced lately? A message that was lost is made up for after `cancelAgainMs`. */
  wasAnnounced(logId: string): boolean;
  close(): void;
}

const ANNOUNCED_KEPT = 1_000;

export function createCancellations(
  deps: {
    operations: Pick<Operations, "find" | "change">;
    notifier: Pick<Notifier, "on">;
    link: Pick<EditorLink, "state" | "cancel">;
    underWay: Pick<UnderWay, "isOwn" | "logIds">;
    /** The owner's nonce: fence (▲11). */
    fence: string;
    log: Log;
  },
  options: CancellationOptions,
): Cancellations {
  const { operations, link, underWay, log } = deps;
  const asking = new Set<string>();
  const announced = createBoundedMemory<true>(ANNOUNCED_KEPT);

  const ask = async ({ logId, executedAs }: OperationRecord): Promise<void> => {
    const { state: answer } = await link.cancel(executedAs ?? logId);
    await operations.change(
      logId,
      (record) =>
        isUnanswered(record) ? { record: { ...record, cancel: { ...record.cancel, answer } } } : undefined,
      deps.fence,
    );
  };

  const passOn = async (record: OperationRecord): Promise<void> => {
    const { logId } = record;
    if (asking.has(logId)) return;
    asking.add(logId);
    await ask(record).catch((error: Error) =>
      log.warn({ log_id: logId, error: error.message }, "the cancellation could not be passed on yet"),
    );
    asking.delete(logId);
  };

  const look = async (logId: string): Promise<void> => {
    try {
      const record = await operations.find(logId);
      if (record && isSent(record.state) && isUnanswered(record)) await passOn(record);
    } catch (error) {
      log.warn({ log_id: logId, error: (error as Error).message }, "the cancellation could not be read");
    }
  };

  const stop = deps.notifier.on("cancel", (logId) => {
    announced.set(logId, true);
    if (underWay.isOwn(logId)) void look(logId);
  });
  const timer = setInterval(() => {
    if (link.state !== "ready") return;
    for (const logId of underWay.logIds()) void look(logId);
  }, options.cancelAgainMs);

  return {
    passOn,
    wasAnnounced: (logId) => announced.get(logId) === true,
    close() {
      stop();
      clearInterval(timer);
    },
  };
}

function isUnanswered(
  record: OperationRecord,
): record is OperationRecord & { cancel: NonNullable<OperationRecord["cancel"]> } {
  return record.cancel !== undefined && record.cancel.answer === undefined;
}

// Tells an Editor which MCP clients are connected to the store and what each runs there, for its window: after hello, and
// when that has changed. Nothing waits for it, and nothing is decided by it.

// What is reported to an Editor about the connected MCP clients: enough for people, no more than a line each.

/** More than fit into the Editor's window. */
const MOST_REPORTED = 32;

/**
 * The first of them, so that clients that come later push no other out, each with what it runs in this Editor. Neither
 * principals nor sessions: the Editor's machine may belong to somebody else.
 *
 * @param open the Editor's operations that have not ended
 */
export function reportedClients(
  connected: readonly ConnectedClient[],
  open: readonly OperationRecord[],
): ClientsNotice {
  const clients = connected.slice(0, MOST_REPORTED).map(({ id, transport, ...named }) => {
    const own = open.filter(({ createdBy, state }) => createdBy.caller === id && !isFinal(state));
    const runs = own.find(({ state }) => !isWaiting(state))?.tool;
    const waits = own.filter(({ state }) => isWaiting(state)).length;
    return {
      ...clientIdentity(named),
      transport,
      ...(runs === undefined ? {} : { runs }),
      ...(waits === 0 ? {} : { waits }),
    };
  });
  return { clients, total: connected.length };
}

export interface ClientNotices {
  /** Called when a connection is ready: what the previous connection carried no longer counts. */
  connected(): void;
  /** Called with each heartbeat: an Editor in which nothing runs costs the store nothing. */
  heard(isRunning: boolean): void;
  close(): void;
}

export interface ClientNoticesOptions {
  /** Between two looks at the store, and so between two notices, at least, ms. */
  clientsRestMs: number;
}

/** Of an Editor's open operations, the oldest. */
const MOST_OPEN = 100;

export function createClientNotices(
  deps: {
    editorId: string;
    clients: Pick<ConnectedClients, "all" | "lifeMs">;
    operations: Pick<Listings, "openOf">;
    notifier: Pick<Notifier, "on">;
    link: Pick<EditorLink, "state" | "tellClients">;
    log: Log;
  },
  options: ClientNoticesOptions,
): ClientNotices {
  const { editorId, clients, operations, link, log } = deps;
  /** On the present connection. */
  let reported: string | undefined;
  /** The Editor's window says of a client that it runs something, or waits. */
  let isShownBusy = false;

  const look = latestOnly<void>({ log, event: "clients", restMs: options.clientsRestMs }, async () => {
    if (link.state !== "ready") return;
    const connected = await clients.all();
    const open = connected.length === 0 ? [] : await operations.openOf(editorId, MOST_OPEN);
    const notice = reportedClients(connected, open);
    const text = JSON.stringify(notice);
    if (text === reported || link.state !== "ready") return;
    reported = text;
    isShownBusy = notice.clients.some(({ runs, waits }) => runs !== undefined || waits !== undefined);
    link.tellClients(notice);
  });
  const stop = deps.notifier.on("clients", () => look(), look);
  // Nobody publishes that the last gateway was killed.
  const timer = setInterval(look, clients.lifeMs);
  timer.unref();

  return {
    connected() {
      reported = undefined;
      look();
    },
    heard(isRunning) {
      if (isRunning || isShownBusy) look();
    },
    close() {
      stop();
      clearInterval(timer);
    },
  };
}

// Copies an Editor's tools into the store, so that tools/list never waits for Unity.

export interface CatalogSync {
  /**
   * Asks for the tools and publishes them if they changed; a failure is logged, and the last known tools stay. Tools above
   * a limit are left out and reported.
   */
  sync(calls: Pick<EditorCalls, "toolDetails">): Promise<void>;
}

export function createCatalogSync(
  deps: {
    store: Store;
    editorId: string;
    log: Log;
    onLeftOut(count: number, reasons: readonly string[]): void;
  },
  limits: ToolLimits,
): CatalogSync {
  const { store, editorId, log } = deps;
  return {
    async sync(calls) {
      try {
        const { Tools } = await calls.toolDetails();
        const { tools, leftOut, reasons } = readTools(Tools, limits);
        const changed = await store.editors.publishTools(editorId, tools);
        if (changed) log.info({ tools: tools.length }, "the Editor's tools changed");
        if (leftOut > 0) log.warn({ leftOut, reasons }, "tools of the Editor are left out");
        deps.onLeftOut(leftOut, reasons);
      } catch (error) {
        log.warn({ error: (error as Error).message }, "the Editor's tools could not be read");
      }
    },
  };
}
