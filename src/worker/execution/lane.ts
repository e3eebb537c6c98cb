/** How an Editor's owner gets its work: one BullMQ worker takes the jobs of a lane; an idle Editor takes operations from its pools. */
import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "bullmq";
import { isMember, labelsOf } from "../../shared/editors/target.js";
import { isWaiting, jobIdOf, type OperationRecord } from "../../shared/operation/operation.js";
import { isDemoted, type RedisAddress, reconnectPause } from "../../shared/store/connect.js";
import type { PoolJob } from "../../shared/store/editors/pools.js";
import { BULL_PREFIX, queueName } from "../../shared/store/keys.js";
import { bullmq } from "../../shared/store/libraries.js";
import type { JobData } from "../../shared/store/queue.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import { LANE_PLACES, type Lane as LaneName, type Tool } from "../../shared/tools/tool.js";
import type { HelloResult } from "../../shared/wire/wire.js";
import type { ExecutorResult } from "./executor-deps.js";

// Pool queues only match (▲13): while an owner's Editor is idle, it takes one operation from the pools that the Editor is in. From
// then on the operation is the Editor's like any other: the lane claims and sends it. Nothing is sent from here.

// An operation that names a build target waits in its pool for an Editor that has this target active: any other would have to
// import the project's assets again. It goes to any Editor if no connected one of the pool fits.

/** Whether this Editor leaves the operation, which is in its pool, to others. `labels`: its own. */
async function isForOthers(
  { operations, editors, queues }: Pick<Store, "operations" | "editors" | "queues">,
  { logId, editor: pool, lane }: OperationRecord,
  tool: Tool,
  labels: readonly string[],
): Promise<boolean> {
  const parameter = targetParameterOf(tool);
  if (parameter === undefined) return false;
  const target = (await operations.argumentsOf(logId))?.[parameter];
  if (typeof target !== "string") return false;
  const label = `platform=${target.toLowerCase()}`;
  if (labels.includes(label)) return false;
  const fitting = (await editors.all()).filter(({ profile, connected }) => {
    const theirs = labelsOf(profile);
    return connected && theirs.includes(label) && isMember(pool, theirs);
  });
  for (const { profile } of fitting) {
    const theirs = (await editors.tools(profile.editorId)).find(({ name }) => name === tool.name);
    const has = theirs?.effect === tool.effect && theirs.lane === tool.lane;
    if (has && !(await queues.isPaused(profile.editorId, lane))) return true;
  }
  return false;
}

/** The parameter of a tool that names Unity's build target, as build-player has it; undefined: it has none. */
function targetParameterOf({ inputSchema }: Tool): string | undefined {
  return Object.keys(inputSchema.properties ?? {}).find(
    (name) => name.replaceAll("_", "").toLowerCase() === "buildtarget",
  );
}

export interface PoolTaker {
  /** The Editor is idle, or has just connected: something may be there for it. */
  look(): void;
  close(): Promise<void>;
}

/** The pools are listed and looked into again after this time, in case a message was lost, ms. */
const LISTED_MS = 5_000;

/** How many operations of each pool are looked at together, and at most: the first may be for tools that this Editor does not have. */
const LOOKED_AT = 20;
const MOST_LOOKED_AT = 2_000;

export function createPoolTaker(deps: {
  store: Pick<Store, "operations" | "editors" | "pools" | "queues" | "notifier">;
  log: Log;
  editorId: string;
  /** The fence (▲11) of its owner. */
  fence: string;
  imports: { importedIn(): string };
  link: { readonly state: string; readonly hello: HelloResult | undefined };
  /** Aborts when the owner ends. */
  signal: AbortSignal;
}): PoolTaker {
  const { store, log, editorId, fence, link, signal } = deps;
  const { operations } = store;
  let isClosed = false;
  let isDue = false;
  let looking: Promise<void> = Promise.resolve();
  const listed = new Set<string>();
  let listedAt = Number.NEGATIVE_INFINITY;

  /** The pools that it is in. Nothing is asked of the store for most calls. */
  const pools = async (labels: readonly string[]): Promise<string[]> => {
    if (performance.now() - listedAt > LISTED_MS) {
      listedAt = performance.now();
      for (const pool of await store.pools.ids()) listed.add(pool);
    }
    return [...listed].filter((pool) => isMember(pool, labels));
  };

  /**
   * The operations that are next in a pool: of the first jobs among which this Editor may run any. A job without such an
   * operation (it has left the pool, or the job was added manually) is removed: nobody else takes jobs from this queue.
   */
  const nextIn = async (
    pool: string,
    labels: readonly string[],
    tools: ReadonlyMap<string, Tool>,
  ): Promise<OperationRecord[]> => {
    for (let from = 0; from < MOST_LOOKED_AT; from += LOOKED_AT) {
      const jobs = await store.pools.next(pool, from, LOOKED_AT);
      if (jobs.length === 0) break;
      const records = await recordsOf(pool, jobs);
      const areFit = await Promise.all(
        records.map((record) => isFit(record, tools.get(record.tool), labels)),
      );
      const found = records.filter((_, at) => areFit[at]);
      if (found.length > 0) return found;
    }
    return [];
  };

  const isFit = async (
    record: OperationRecord,
    tool: Tool | undefined,
    labels: readonly string[],
  ): Promise<boolean> =>
    tool !== undefined && isSameTool(record, tool) && !(await isForOthers(store, record, tool, labels));

  const recordsOf = async (pool: string, jobs: readonly PoolJob[]): Promise<OperationRecord[]> => {
    const found = await Promise.all(
      jobs.map(async ({ id, lane, logId }) => {
        const record = await operations.find(logId);
        if (record?.editor === pool && jobIdOf(record) === id && isWaiting(record.state)) return record;
        await store.queues.drop(pool, lane, id);
        return undefined;
      }),
    );
    return found.filter((record) => record !== undefined);
  };

  /** The next ones of these pools; of those that stand equally far in their queues, the one that was accepted first. */
  const next = async (ids: readonly string[], labels: readonly string[]): Promise<OperationRecord[]> => {
    const known = await store.editors.tools(editorId);
    const tools = new Map(known.map((tool) => [tool.name, tool]));
    const queues = await Promise.all(ids.map((pool) => nextIn(pool, labels, tools)));
    return queues
      .flatMap((records) => records.map((record, rank) => ({ record, rank })))
      .toSorted((a, b) => a.rank - b.rank || a.record.acceptedAt - b.record.acceptedAt)
      .map(({ record }) => record);
  };

  const take = async (): Promise<void> => {
    const hello = link.state === "ready" && !signal.aborted ? link.hello : undefined;
    const labels = hello ? labelsOf(hello) : [];
    const ids = hello ? await pools(labels) : [];
    if (ids.length === 0) return;
    // While it is paused it takes nothing, and while a pool is, nothing from there.
    const paused = await Promise.all([editorId, ...ids].map((each) => store.queues.isPaused(each)));
    const open = paused[0] ? [] : ids.filter((_, at) => !paused[at + 1]);
    const incarnation = deps.imports.importedIn();
    /** Whose next operation waits for a place; and whether one waits for a resource. */
    const held = new Set<string>();
    let isShort = false;
    for (const { logId, principal } of await next(open, labels)) {
      const standsInLine = !isShort && !held.has(principal);
      const taken = await operations.move(
        logId,
        (record) => (mayBeTaken(record, open, incarnation) ? editorId : undefined),
        { fence, incarnation, whenIdle: true, standsInLine },
      );
      if (taken === "held") held.add(principal);
      else if (taken === "short") isShort = true;
      // One at a time: the next one when this one has ended.
      else if (taken !== "stays") return;
    }
  };

  const look = (): void => {
    // The look that is to begin sees this as well.
    if (isDue || isClosed) return;
    isDue = true;
    looking = looking
      .then(() => {
        isDue = false;
        return isClosed ? undefined : take();
      })
      .catch((error: unknown) =>
        log.warn({ error: (error as Error).message }, "could not look into the pools"),
      );
  };

  const stop = store.notifier.on(
    "pools",
    (pool) => {
      listed.add(pool);
      look();
    },
    () => {
      listedAt = Number.NEGATIVE_INFINITY;
      look();
    },
  );

  const looks = setInterval(look, LISTED_MS);

  return {
    look,
    async close() {
      isClosed = true;
      clearInterval(looks);
      stop();
      await looking;
    },
  };
}

/** What the gateway assumed of the tool: who may call it, and when its outcome answers again, was decided by that. */
function isSameTool({ effect, lane }: OperationRecord, tool: Tool): boolean {
  return tool.effect === effect && tool.lane === lane;
}

/** Store incarnation (▲13): one that was accepted before a loss waits until the pool is opened again (gateway/editors/pool-keeper.ts). */
export function mayBeTaken(record: OperationRecord, pools: readonly string[], incarnation: string): boolean {
  return isWaiting(record.state) && pools.includes(record.editor) && record.incarnation === incarnation;
}

// The jobs of a lane.

export interface LaneTimings {
  /** A job whose worker was silent for this long is given to the next one, ms. */
  jobLockMs: number;
  /** How often to look for such jobs, ms. */
  stalledCheckMs: number;
  /** How long one look into an empty lane lasts, ms. */
  idleLookMs: number;
  /** When a job that its principal's limit holds back is looked at again, ms. */
  heldRetryMs: number;
  /** How long closing may take, ms. */
  closeMs: number;
}

export interface LaneDeps {
  address: RedisAddress;
  queue: string;
  concurrency: number;
  process(logId: string, jobId: string): Promise<ExecutorResult>;
  /** Why the operation of a job has failed, for the dashboard. */
  failureOf(logId: string): Promise<string>;
  /** Its job is put aside, because a limit holds the operation back. */
  heldBack(logId: string): Promise<unknown>;
  /** Its job has left the queue although nothing was run for it. */
  refused(logId: string, jobId: string): Promise<unknown>;
  /** A job has ended. */
  onFree(): void;
  /** Whether Redis answers now. */
  storeAnswers(): Promise<boolean>;
  log: Log;
}

export interface Lane {
  /** Gives running jobs back; operations that were sent go on in the Editor. */
  close(): Promise<void>;
}

/**
 * A job that comes a second time is safe: the executor asks the record and the Editor what became of it. So stalled
 * jobs are handed out without limit, which turns BullMQ's recovery into adoption.
 */
const STALLED_WITHOUT_LIMIT = 1_000_000;

/** Loads what a lane runs on, which takes a tenth of a second or more, before the first lane is needed. */
export function prepareLanes(): void {
  bullmq();
}

export function createLane(deps: LaneDeps, timings: LaneTimings): Lane {
  const { DelayedError, WaitingError, Worker } = bullmq();
  const { log, queue } = deps;
  const say = (error: unknown): void => log.warn({ queue, error: (error as Error).message }, "queue worker");

  /** The value of a job that is done; throws to BullMQ, if it is not, why. */
  const run = async (job: Job<JobData>, token: string): Promise<{ processed: ExecutorResult }> => {
    // A job that was added manually may hold anything.
    const logId = typeof job.data?.logId === "string" ? job.data.logId : "";
    const processed = await deps.process(logId, job.id ?? "");
    if (processed === "handed_over") {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    if (processed === "held") {
      // Leaves the lane, so that it does not block other jobs; it returns to its own place.
      await job.moveToDelayed(Date.now() + timings.heldRetryMs, token);
      await deps.heldBack(logId).catch(say);
      throw new DelayedError();
    }
    if (processed === "refused") log.warn({ jobId: job.id }, "not run: no operation has this job");
    if (processed === "failed") throw new OperationFailed(await deps.failureOf(logId));
    return { processed };
  };

  /** A job whose processing does not end in time would keep the worker, and the timer that renews its lock, for ever. */
  let letGo = (): void => undefined;
  const isLetGo = new Promise<never>((_, reject) => {
    letGo = () => reject(new WaitingError());
  });
  isLetGo.catch(() => undefined);

  const runToEnd = (job: Job<JobData>, token = ""): Promise<{ processed: ExecutorResult }> =>
    Promise.race([run(job, token), isLetGo]).catch((error: unknown) => {
      const isPutAway = error instanceof WaitingError || error instanceof DelayedError;
      if (isPutAway || error instanceof OperationFailed) throw error;
      // It stays taken until its lock expires, and is then given out again.
      log.warn({ queue, error: (error as Error).message }, "a job is left to its lock");
      throw new WaitingError();
    });

  let isClosed = false;
  const worker = new Worker<JobData>(queue, runToEnd, {
    connection: {
      ...deps.address,
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) => (isClosed ? null : reconnectPause(attempt)),
      reconnectOnError: isDemoted,
    },
    prefix: BULL_PREFIX,
    concurrency: deps.concurrency,
    drainDelay: timings.idleLookMs / 1000,
    lockDuration: timings.jobLockMs,
    stalledInterval: timings.stalledCheckMs,
    maxStalledCount: STALLED_WITHOUT_LIMIT,
  });
  worker.on("error", say);
  worker.on("failed", deps.onFree);
  worker.on("completed", ({ id = "", data }, { processed }) => {
    if (processed === "refused" && typeof data?.logId === "string") deps.refused(data.logId, id).catch(say);
    deps.onFree();
  });

  /** Both of BullMQ's connections are up. */
  const isConnected = async (): Promise<boolean> => {
    const { connection, blockingConnection } = worker.getBackend();
    for (const each of [connection, blockingConnection]) {
      if (each?.status !== "ready" || (await each.client).status !== "ready") return false;
    }
    return true;
  };

  /**
   * Disconnects everything of BullMQ, whatever it still waits for, and for good: where it is just renewing a connection on
   * which an answer is missing, it would leave that connection behind.
   */
  const disconnect = (): void => {
    isClosed = true;
    const { connection, blockingConnection } = worker.getBackend();
    for (const each of [connection, blockingConnection])
      each?.client.then(
        (client) => {
          client.on("error", () => undefined);
          client.on("connect", () => client.disconnect());
          // One that has ended would leave a timer of ioredis behind.
          if (client.status !== "end") client.disconnect();
        },
        () => undefined,
      );
  };

  return {
    async close() {
      // A graceful close that begins while a connection is lost never ends, not even when Redis is back. Nothing
      // can be given back then anyway: the next owner adopts what is left.
      const canGiveBack = (await deps.storeAnswers()) && (await isConnected());
      const limit = new AbortController();
      const isLate = delay(timings.closeMs, undefined, { signal: limit.signal }).catch(() => undefined);
      await Promise.race([worker.close(!canGiveBack), isLate]);
      limit.abort();
      letGo();
      disconnect();
    },
  };
}

/** A job of an operation that has failed, as BullMQ keeps it. */
class OperationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.stack = "";
  }
}

/** A lane of this Editor, over its store. */
export function createEditorLane(
  lane: LaneName,
  deps: Pick<LaneDeps, "log" | "onFree"> & {
    store: Pick<Store, "operations" | "queues" | "address">;
    editorId: string;
    /** The fence (▲11) of its owner. */
    fence: string;
    imports: { importedIn(): string };
    owned: { process(logId: string, job: { id: string; lane: LaneName }): Promise<ExecutorResult> };
  },
  timings: LaneTimings,
): Lane {
  const { store, editorId, log, onFree, fence } = deps;
  const { operations, queues, address } = store;
  return createLane(
    {
      ...{ address, log, onFree },
      queue: queueName(editorId, lane),
      concurrency: LANE_PLACES[lane],
      process: (logId, id) => deps.owned.process(logId, { id, lane }),
      async failureOf(logId) {
        const { error } = (await operations.find(logId)) ?? {};
        // Not the message: it may quote arguments, and a dashboard is not for them.
        return error ? `${error.code} (${error.type})` : "failed";
      },
      async heldBack(logId) {
        // One of a pool would keep this Editor from others: there any Editor may take it. What was sent stays.
        const back = ({ pool, sentIn }: OperationRecord) => (sentIn === undefined ? pool : undefined);
        await operations.move(logId, back, { fence, incarnation: deps.imports.importedIn() });
      },
      async refused(logId, jobId) {
        // It was this Editor's again before its job of then had ended.
        const record = await operations.find(logId);
        const isHere = record?.editor === editorId && jobIdOf(record) === jobId;
        if (isHere && isWaiting(record.state)) await queues.restore(record);
      },
      async storeAnswers() {
        const now = operations.now().catch(() => undefined);
        return (await Promise.race([now, delay(timings.closeMs, undefined, { ref: false })])) !== undefined;
      },
    },
    timings,
  );
}
