/** The owner's reactions when its Editor answers hello, reports something, or goes away. */

import { createBoundedMemory } from "../../shared/bounded-memory.js";
import { connectionCounts, disconnectCounts } from "../../shared/counters.js";
import type { Log } from "../../shared/log.js";
import { isSent, type OperationRecord } from "../../shared/operation/operation.js";
import type { Notifier } from "../../shared/store/connect.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { Store } from "../../shared/store/store.js";
import type { Progress } from "../../shared/wire/wire.js";
import { type EditorCalls, UnreadableAnswer } from "../editor/editor-calls.js";
import type { EditorLink } from "../editor/editor-link.js";
import type { EditorLinkHandlers } from "../editor/editor-link-handlers.js";
import type { OutcomeListeners } from "../execution/outcome-listeners.js";
import type { PoolTaker } from "../execution/pool-taker.js";
import { type Imports, noticeLedgerLoss } from "../recovery/imports.js";
import { ConnectionLost } from "../transport/disconnect.js";
import type { CatalogSync } from "./catalog-sync.js";
import type { ClientNotices } from "./clients/client-notices.js";
import { type HealthMonitor, type HeartbeatRecorder, latestOnly } from "./heartbeat.js";
import type { OwnedOperations, OwnerFence, UnderWay } from "./owned-operations.js";
import type { LogReports, StartedNotice } from "./reports/reports.js";

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
  startedNotice: Pick<StartedNotice, "started" | "ended">;
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
