/**
 * Assembles the work of an owner while it holds an Editor's lease: it keeps the link (link-handlers.ts), takes jobs from the
 * lanes, and carries operations to their end (owned-operations.ts). It ends with the lease; the next owner, here or
 * elsewhere, continues from the store and the Editor's ledger.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ReplayOptions } from "../../shared/operation/again.js";
import { createRecoverySeal } from "../../shared/operation/recover.js";
import type { EditorFence, Lease } from "../../shared/store/editors/lease.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import type { ToolLimits } from "../../shared/tools/call-rules.js";
import { LANES } from "../../shared/tools/tool.js";
import { adapterFor, type BridgeOptions } from "../bridges/adapters.js";
import type { PlainIdentity } from "../bridges/bridge.js";
import { processOf } from "../discovery/lost-editors.js";
import {
  createEditorLink,
  type EditorAddress,
  type EditorLink,
  type EditorLinkOptions,
} from "../editor/editor-link.js";
import type { WorkerIdentity } from "../editor/handshake.js";
import { createSparseLog } from "../editor/sparse-log.js";
import { createEditorPort } from "../execution/executor.js";
import { createEditorLane, createPoolTaker, type LaneTimings } from "../execution/lane.js";
import { type Acknowledger, createAcknowledger, createOutcomeListeners } from "../execution/outcome.js";
import { otherOperation } from "../recovery/other-operation.js";
import { ConnectionLost } from "../transport/disconnect.js";
import { createEvidence } from "./evidence.js";
import {
  createHealthMonitor,
  createHeartbeatRecorder,
  type DescribedEditor,
  type HealthMonitorOptions,
} from "./heartbeat.js";
import {
  type CancellationOptions,
  type Cancellations,
  type ClientNoticesOptions,
  createCancellations,
  createCatalogSync,
  createClientNotices,
  createLinkHandlers,
  createReports,
} from "./link-handlers.js";
import type { LogPlaces } from "./log-places.js";
import {
  createImports,
  createOwnedOperations,
  createOwnerFence,
  createUnderWay,
  type Imports,
  type OwnedOperations,
  type OwnerFence,
} from "./owned-operations.js";

export interface OwnedEditorDeps {
  store: Store;
  log: Log;
  identity: WorkerIdentity;
  originKey: Buffer;
  editorId: string;
  endpoint: EditorAddress;
  /** Set if the Editor's bridge may be one without a ledger, which does not report its identity. */
  plain: PlainIdentity | undefined;
  /** Where the worker records what it sends to such bridges. */
  sentFolder: string;
  /** The data known of the Editor without a connection. */
  described(): DescribedEditor | undefined;
}

export interface OwnedEditorOptions
  extends LaneTimings,
    HealthMonitorOptions,
    CancellationOptions,
    ClientNoticesOptions {
  replay?: ReplayOptions;
  ackDelayMs: number;
  /** The pause between two attempts after the store or the Editor was lost, ms. */
  retryMs: number;
  link: EditorLinkOptions;
  bridges?: BridgeOptions;
  /** Limits on the Editor's tool list. */
  tools: ToolLimits;
  /** The limit on one result's JSON. */
  maxResultBytes: number;
  /** Where the log that the Editor names may be. */
  logPlaces: LogPlaces;
}

export interface OwnedEditor {
  moveTo(endpoint: EditorAddress): void;
  close(): Promise<void>;
}

/** Quota is freed seldom, and each attempt sends a large result as a whole. */
const QUOTA_RETRIES = 5;

export function createOwnedEditor(
  deps: OwnedEditorDeps,
  lease: Pick<Lease, "raise">,
  held: EditorFence,
  options: OwnedEditorOptions,
): OwnedEditor {
  const { store } = deps;
  const fence = createOwnerFence(lease, held);
  const ending = new AbortController();
  // Every operation under way adds a listener.
  setMaxListeners(0, ending.signal);
  const shared = sharedParts(deps, fence, options);
  const { link, underWay, outcomeListeners } = shared;
  const reports = createReports(shared);
  const acknowledger = createAcknowledger(shared, options);
  const cancellations = createCancellations({ ...shared, notifier: store.notifier }, options);
  const imports = createImports({
    ...shared,
    epoch: fence,
    storeIds: store.storeIds,
    onRunning: reports.startedNotice.started,
  });
  const state = editorParts(shared, imports, options);
  const parts = { ...shared, ...state, ...reports, acknowledger, cancellations, imports };
  const operations = operationsOf(parts, fence, ending.signal, options);
  const poolTaker = createPoolTaker({ ...parts, signal: ending.signal });
  link.start(createLinkHandlers({ ...parts, operations, fence, poolTaker }));
  const onFree = poolTaker.look;
  const lanes = LANES.map((name) => createEditorLane(name, { ...parts, onFree, owned: operations }, options));

  return {
    moveTo: (endpoint) => link.moveTo(endpoint),
    async close() {
      cancellations.close();
      ending.abort();
      await poolTaker.close();
      // Ends the waits for outcomes, so that the lanes can give their jobs back.
      await link.close();
      await state.health.close();
      state.clientNotices.close();
      reports.startedNotice.close();
      outcomeListeners.lost(new ConnectionLost("shutdown", true));
      acknowledger.close();
      await Promise.allSettled([...lanes.map((lane) => lane.close()), underWay.ended()]);
      await state.heartbeat.lost().catch(() => undefined);
      state.heartbeat.close();
    },
  };
}

/** The dependencies of all parts. */
function sharedParts(deps: OwnedEditorDeps, fence: OwnerFence, options: OwnedEditorOptions) {
  return {
    ...deps,
    operations: deps.store.operations,
    seal: createRecoverySeal(deps.originKey, deps.editorId),
    /** The fence (▲11) under which this owner writes to the store. */
    fence: fence.now().ownerNonce,
    sparseLog: createSparseLog(deps.log),
    link: linkOf(deps, fence, options),
    underWay: createUnderWay(),
    outcomeListeners: createOutcomeListeners(),
  };
}

type SharedParts = ReturnType<typeof sharedParts>;

/** The link, not started yet; it uses the adapter of its bridge if that may keep no ledger. */
function linkOf(deps: OwnedEditorDeps, fence: OwnerFence, options: OwnedEditorOptions): EditorLink {
  const { store, endpoint, identity, log, sentFolder } = deps;
  const effectOf = async (logId: string) => (await store.operations.find(logId))?.effect;
  const about = { sentFolder, log, effectOf, limits: options.tools };
  const adapter = deps.plain && adapterFor({ identity: deps.plain, ...about }, options.bridges ?? {});
  const clientName = `unity-job-broker ${identity.version}`;
  return createEditorLink(
    {
      endpoint,
      identity,
      log,
      storeId: store.claim,
      fence: fence.forHello,
      clientName,
      ...adapter,
      push: true,
    },
    options.link,
  );
}

/**
 * The reports to the store about the Editor itself (that it is connected, what is wrong with it, its tools), and the
 * reports to the Editor about the store's clients.
 */
function editorParts(shared: SharedParts, imports: Imports, options: OwnedEditorOptions) {
  const { store, editorId, endpoint, sparseLog, link } = shared;
  const isHere = (pid: number) => processOf(pid, endpoint.host);
  const heartbeat = createHeartbeatRecorder(store, shared, isHere, imports);
  const health = createHealthMonitor(shared, options);
  const catalog = createCatalogSync(
    { store, editorId, log: sparseLog, onLeftOut: health.toolsLeftOut },
    options.tools,
  );
  const clientNotices = createClientNotices({ ...store, editorId, link, log: sparseLog }, options);
  return { heartbeat, health, catalog, clientNotices };
}

type Parts = SharedParts &
  ReturnType<typeof editorParts> & {
    acknowledger: Acknowledger;
    cancellations: Cancellations;
    imports: Imports;
  };

function operationsOf(
  parts: Parts,
  { now }: OwnerFence,
  signal: AbortSignal,
  options: OwnedEditorOptions,
): OwnedOperations {
  const { editorId, heartbeat, health, acknowledger, cancellations } = parts;
  const pause = (ms: number, ended: AbortSignal): Promise<void> =>
    delay(ms, undefined, { signal: ended }).catch(() => undefined);
  const evidence = createEvidence({
    ...parts,
    host: parts.endpoint.host,
    projectPath: () => parts.described()?.projectPath,
    logPlaces: options.logPlaces,
  });
  return createOwnedOperations(
    {
      ...parts,
      storeId: parts.store.storeId,
      signal,
      editor: createEditorPort({ ...parts, heartbeat, fence: now }, options),
      evidence,
      otherOperation: (record, answer, session) => otherOperation(parts, record, answer, session),
      isPaused: (lane) => parts.store.queues.isPaused(editorId, lane),
      acknowledge: acknowledger.stored,
      acknowledgeNamed: acknowledger.named,
      wasCancelAnnounced: cancellations.wasAnnounced,
      passOnCancel: (record) => void cancellations.passOn(record),
      pause: (ended) => pause(options.retryMs, ended),
      awaitResultQuota(ended) {
        health.resultQuotaReached();
        return pause(QUOTA_RETRIES * options.retryMs, ended);
      },
    },
    options,
  );
}
