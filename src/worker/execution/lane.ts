/** One BullMQ worker: takes the jobs of an Editor's lane, one at a time or a few at once, and has them processed. */
import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "bullmq";
import type { Log } from "../../shared/log.js";
import { isDemoted, type RedisAddress, reconnectPause } from "../../shared/store/connect.js";
import { BULL_PREFIX } from "../../shared/store/keys.js";
import { bullmq } from "../../shared/store/libraries.js";
import type { JobData } from "../../shared/store/queue.js";
import type { ExecutorResult } from "./executor-deps.js";

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
  /** Why the operation of a job has failed, for the dashboard; undefined: it has not. */
  failureOf(logId: string): Promise<string | undefined>;
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
    const failure = await deps.failureOf(logId);
    if (failure !== undefined) throw new OperationFailed(failure);
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
