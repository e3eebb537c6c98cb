/** The owner's reactions when its Editor answers hello, reports something, or goes away. */
import { connectionCounts, disconnectCounts } from "../../shared/counters.js";
import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";
import type { Progress } from "../../shared/wire/wire.js";
import { type EditorCalls, UnreadableAnswer } from "../editor/editor-calls.js";
import type { EditorLinkHandlers } from "../editor/editor-link-handlers.js";
import type { OutcomeListeners } from "../execution/outcome-listeners.js";
import type { PoolTaker } from "../execution/pool-taker.js";
import type { Imports } from "../recovery/imports.js";
import { noticeLedgerLoss } from "../recovery/ledger-loss.js";
import { ConnectionLost } from "../transport/disconnect.js";
import type { CatalogSync } from "./catalog-sync.js";
import type { ClientNotices } from "./clients/client-notices.js";
import type { HealthMonitor } from "./health-monitor.js";
import type { HeartbeatRecorder } from "./heartbeat.js";
import { latestOnly } from "./latest-only.js";
import type { OwnedOperations } from "./owned-operations.js";
import type { OwnerFence } from "./owner-fence.js";
import type { LogReports } from "./reports/log-reports.js";
import type { StartedNotice } from "./reports/started-notice.js";
import type { UnderWay } from "./under-way.js";

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
