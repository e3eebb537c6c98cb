/**
 * What an owner does while it holds an Editor's lease: keeps the link, takes jobs from the lanes, follows what was
 * sent before. Ends with the lease; the next owner, here or elsewhere, goes on from the store and the Editor's ledger.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../shared/log.js";
import { createOriginSeal } from "../shared/origin-seal.js";
import type { EditorFence, Lease } from "../shared/redis/lease.js";
import { queueName } from "../shared/redis/queue.js";
import type { Store } from "../shared/redis/store.js";
import type { ReplayOptions } from "../shared/replay.js";
import { LANES, type Lane as LaneName } from "../shared/tool.js";
import type { ToolLimits } from "../shared/tool-limits.js";
import type { HelloResult } from "../shared/wire.js";
import { createAcknowledger } from "./acknowledger.js";
import { type CancellationOptions, createCancellations } from "./cancellations.js";
import { createCatalogSync } from "./catalog-sync.js";
import { ConnectionLost } from "./disconnect.js";
import { UnreadableAnswer } from "./editor-calls.js";
import { createEditorLink, type EditorAddress, type EditorLinkOptions } from "./editor-link.js";
import { createEditorPort } from "./editor-port.js";
import { createEvidence } from "./evidence.js";
import { createFollows } from "./follows.js";
import type { WorkerIdentity } from "./hello.js";
import { createImports } from "./imports.js";
import { createLane, type LaneTimings } from "./lane.js";
import { latestOnly } from "./latest-only.js";
import { noticeLedgerLoss } from "./ledger-loss.js";
import type { LogPlaces } from "./log-places.js";
import { processOf } from "./lost-editors.js";
import { otherOperation } from "./other-operation.js";
import { createPlainEditor, type PlainIdentity } from "./plain-editor.js";
import { createPresence } from "./presence.js";
import { createProcess } from "./process.js";
import type { Processed } from "./process-deps.js";
import { createProgressReports } from "./progress-reports.js";
import { createSparseLog } from "./sparse-log.js";
import { createStartedNews } from "./started-news.js";
import { createWatch, type DescribedEditor, type WatchOptions } from "./watch.js";

export interface TenureDeps {
  store: Store;
  log: Log;
  identity: WorkerIdentity;
  originKey: Buffer;
  editorId: string;
  endpoint: EditorAddress;
  /** Set where the Editor may be a plain one: it does not say itself who it is. */
  plain: PlainIdentity | undefined;
  /** Where it is written down what was sent to plain Editors. */
  sentFolder: string;
  /** What is known of the Editor without a connection. */
  described(): DescribedEditor | undefined;
}

export interface TenureOptions extends LaneTimings, WatchOptions, CancellationOptions {
  retentionMs: number;
  replay?: ReplayOptions;
  ackDelayMs: number;
  /** Between two attempts after the store or the Editor was lost, ms. */
  retryMs: number;
  link: EditorLinkOptions;
  /** How much of the Editor's tool list is believed. */
  tools: ToolLimits;
  /** Of the JSON of one result. */
  maxResultBytes: number;
  /** Where the log may lie that the Editor names. */
  logPlaces: LogPlaces;
}

export interface Tenure {
  moveTo(endpoint: EditorAddress): void;
  close(): Promise<void>;
}

/** Invariant 6: one at a time on the main lane. */
const CONCURRENCY: Record<LaneName, number> = { main: 1, background: 4 };

/** Unity draws a frame in about this time: who looks at a record sees no difference. */
const SHOW_RUNNING_MS = 20;

/** Room comes seldom, and a large result is sent whole at every try. */
const ROOM_RETRIES = 5;

export function createTenure(
  deps: TenureDeps,
  lease: Pick<Lease, "fence" | "raise">,
  held: EditorFence,
  options: TenureOptions,
): Tenure {
  const { store, log, editorId } = deps;
  const { operations } = store;
  const { storeId } = deps.identity;
  const seal = createOriginSeal(deps.originKey, editorId);
  const ending = new AbortController();
  /** Of what the Editor can cause as often as it likes. */
  const sparse = createSparseLog(log);
  const follows = createFollows();
  const presence = createPresence(store, editorId, (pid) => processOf(pid, deps.endpoint.host));
  const underWay = new Map<string, Promise<Processed>>();
  /** The last fence is kept when the lease is lost: whatever is still said under it is refused by the Editor. */
  let fence = held;

  const plainEditor =
    deps.plain &&
    createPlainEditor({
      identity: deps.plain,
      sentFolder: deps.sentFolder,
      log,
      effectOf: async (operationId) => (await operations.find(operationId))?.effect,
      limits: options.tools,
    });

  const imports = createImports({
    ...deps,
    seal,
    storeIds: [storeId, store.storeId],
    fence: held.ownerNonce,
    link: () => link,
    onRunning: (logId) => startedNews.started(logId),
    resume: (hello) => resume(hello),
  });

  const link = createEditorLink(
    {
      endpoint: deps.endpoint,
      identity: deps.identity,
      log,
      fence: () => fence,
      clientName: `unity-job-broker ${deps.identity.version}`,
      plain: plainEditor,
      push: true,
    },
    {
      async onHello(hello, calls) {
        await noticeLedgerLoss(deps, hello, held.ownerNonce);
        await catalog.sync(calls);
        // Before anybody sees the Editor again: a retry must find what the store had lost.
        await imports.atHello(hello, calls);
        await presence.introduce(hello);
        await resume(hello);
      },
      onRunning: ({ operationId }) => void (isOwn(operationId) && startedNews.started(operationId)),
      onProgress: (progress) => reportProgress(progress),
      onFinished({ operationId, outcome }) {
        startedNews.ended(operationId);
        follows.finished(operationId, outcome);
      },
      onHeartbeat: latestOnly({ log, event: "heartbeat", restMs: 50 }, async (heartbeat) => {
        // In this order: an older copy of the store is not told that the Editor is there before it knows what it ran.
        await imports.noticeLoss();
        await presence.heard(heartbeat);
      }),
      onToolsChanged: latestOnly<void>({ log, event: "tools", restMs: 200 }, () => catalog.sync(link)),
      // The Editor is asked again for it.
      onMissed: (operationId) => follows.missed(new UnreadableAnswer("finished", "missed"), operationId),
      async onDisconnected(reason) {
        sparse.info({ editor: editorId, reason }, "connection to the Editor ended");
        follows.lost(new ConnectionLost(reason, true));
        await presence.lost();
      },
      async onFenced(highestEpoch) {
        const raised = await lease.raise(highestEpoch);
        if (raised) fence = raised;
        return raised !== undefined;
      },
      onEvent(event) {
        sparse.info({ editor: editorId, event }, "the Editor says");
        watch.told(event);
      },
      onRefused(error) {
        sparse.warn({ editor: editorId, error: error.message }, "the Editor refused hello");
        watch.refused(error);
      },
    },
    options.link,
  );
  const watch = createWatch({ ...deps, link }, options);
  const catalog = createCatalogSync(
    { ...deps, log: sparse, onLeftOut: (...left) => watch.toolsLeftOut(...left) },
    options.tools,
  );
  const acknowledger = createAcknowledger({ editorId, operations, link, log }, options);

  const pause = (signal: AbortSignal, ms = options.retryMs): Promise<void> =>
    delay(ms, undefined, { signal }).catch(() => undefined);

  const port = createEditorPort({ link, follows, presence, fence: () => fence }, options);

  const evidence = createEvidence({
    link,
    presence,
    host: deps.endpoint.host,
    projectPath: () => deps.described()?.projectPath,
    logPlaces: options.logPlaces,
  });

  const processing = createProcess(
    {
      editorId,
      storeId,
      seal,
      operations,
      editor: port,
      fence: held.ownerNonce,
      otherOperation: (record, answer, session) =>
        otherOperation({ ...deps, seal, fence: held.ownerNonce }, record, answer, session),
      alsoProcess: (logId) => process(logId),
      importedIn: imports.importedIn,
      importAgain: imports.again,
      acknowledge: acknowledger.stored,
      passOnCancel: (record) => void cancellations.passOn(record),
      evidence,
      pause: (signal) => pause(signal),
      roomAgain(signal) {
        watch.noRoom();
        return pause(signal, ROOM_RETRIES * options.retryMs);
      },
      warn: (values, message) => log.warn({ editor: editorId, ...values }, message),
    },
    options,
  );

  const markStarted = async (operationId: string): Promise<void> => {
    await processing.markStarted(operationId);
  };
  const startedNews = createStartedNews({ tell: markStarted, log }, { holdMs: SHOW_RUNNING_MS });

  /** A job and a resumption of the same operation are one piece of work. */
  const process = (logId: string, jobId?: string): Promise<Processed> => {
    const known = underWay.get(logId);
    if (known) return known;
    const work = processing.process(logId, ending.signal, jobId).finally(() => underWay.delete(logId));
    underWay.set(logId, work);
    return work;
  };

  /** After every hello: what was sent before is asked for again, without waiting for its job to come back. */
  const resume = async (hello: HelloResult): Promise<void> => {
    for (const { logId, state } of await operations.openOf(editorId)) {
      if (state === "dispatched" || state === "running") void process(logId);
    }
    await acknowledger.named(hello.unacknowledged);
  };

  /** What is told of operations that this owner does not have is not believed. */
  const isOwn = (operationId: string): boolean => underWay.has(operationId);
  const reportProgress = createProgressReports({
    isOwn,
    async report(operationId, live) {
      await startedNews.shown(operationId);
      await operations.report(operationId, live);
    },
    log,
  });

  const cancellations = createCancellations(
    { operations, news: store.news, link, underWay, fence: held.ownerNonce, log },
    options,
  );

  const storeAnswers = (): Promise<boolean> =>
    Promise.race([
      operations.now().then(
        () => true,
        () => false,
      ),
      delay(options.closeMs, false, { ref: false }),
    ]);

  const lanes = LANES.map((name) =>
    createLane(
      {
        address: store.address,
        queue: queueName(editorId, name),
        concurrency: CONCURRENCY[name],
        process,
        storeAnswers,
        log,
      },
      options,
    ),
  );

  return {
    moveTo: (endpoint) => link.moveTo(endpoint),
    async close() {
      cancellations.close();
      ending.abort();
      // Ends the waits for outcomes, so that the lanes can give their jobs back.
      await link.close();
      await watch.close();
      startedNews.close();
      follows.lost(new ConnectionLost("shutdown", true));
      acknowledger.close();
      await Promise.allSettled([...lanes.map((lane) => lane.close()), ...underWay.values()]);
      await presence.lost().catch(() => undefined);
    },
  };
}
