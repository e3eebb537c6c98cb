/** One BullMQ worker: takes the jobs of an Editor's lane, one at a time or a few at once, and has them processed. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "bullmq";
import type { Log } from "../../shared/log.js";
import { isDemoted, type RedisAddress, reconnectPause } from "../../shared/store/connect.js";
import { BULL_PREFIX } from "../../shared/store/keys.js";
import { bullmq } from "../../shared/store/libraries.js";
import type { ClaimedOperation, LocalLanes } from "../../shared/store/same-process/local-lanes.js";
import type { Claimant } from "../../shared/store/scripts/claim.js";
import type { FindClaim } from "../../shared/store/scripts/find-claim.js";
import type { JobData } from "../../shared/store/scripts/job.js";
import type { ExecutorResult } from "./executor-deps.js";
import { createLaneJobs, type TakenJob } from "./lane-jobs.js";

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
  /** The pause between two attempts after the store was lost, ms. */
  retryMs: number;
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

export function createLane(
  deps: {
    address: RedisAddress;
    queue: string;
    concurrency: number;
    process: (
      logId: string,
      job: { id: string; claimed?: ClaimedOperation | undefined },
    ) => Promise<ExecutorResult>;
    /** The short way: with what scripts claim for this lane now; undefined: nothing can be claimed. */
    claimant: () => Omit<Claimant, "token" | "lockMs"> | undefined;
    localLanes: LocalLanes;
    findClaim: FindClaim;
    wakeWorker: () => Promise<unknown>;
    /** It has nothing to do, as far as it knows. */
    onFree: () => void;
    /** A place came free perhaps before the operation, which was held back, was put aside. */
    releaseHeld: (logId: string) => Promise<unknown>;
    /** Why the job of an operation counts as failed (jobFailure). */
    failureOf: (logId: string) => Promise<string | undefined>;
    /** Whether Redis answers now. */
    storeAnswers: () => Promise<boolean>;
    log: Log;
  },
  timings: LaneTimings,
): Lane {
  const { Job: BullJob, WaitingError, Worker } = bullmq();

  /** Gives back or ends a job that did not end with its operation. */
  const putAway = async (
    job: Job<JobData>,
    { logId, token }: TakenJob,
    processed: ExecutorResult,
  ): Promise<void> => {
    if (processed === "refused") deps.log.warn({ jobId: job.id }, "not run: no operation has this job");
    if (processed === "handed_over") await job.moveToWait(token);
    else if (processed === "held") {
      // Leaves the lane, so that it does not block other jobs; it returns to its own place.
      await job.moveToDelayed(Date.now() + timings.heldRetryMs, token);
      await deps.releaseHeld(logId).catch(() => undefined);
    } else {
      const failure = await deps.failureOf(logId);
      if (failure === undefined) await job.moveToCompleted({ processed }, token, false);
      else await job.moveToFailed({ name: "Error", message: failure }, token);
    }
  };

  const jobs = createLaneJobs({
    places: deps.concurrency,
    findClaim: deps.findClaim,
    onFree: deps.onFree,
    pause: () => delay(timings.retryMs, undefined, { ref: false }),
    process: ({ logId, id, claimed }) => deps.process(logId, { id, claimed }),
    claimant() {
      const claimant = deps.claimant();
      return claimant && { ...claimant, token: randomUUID(), lockMs: timings.jobLockMs };
    },
    keepLock: ({ id, token }) => worker.keepLock(id, token),
    dropLock: ({ id }) => worker.dropLock(id),
    async putAway(taken, processed) {
      const job = await BullJob.fromId<JobData>(worker, taken.id);
      if (job) await putAway(job, taken, processed);
      // The end of a job takes no other one, as that of BullMQ's worker would.
      await deps.wakeWorker();
    },
    onError: (error) =>
      deps.log.warn({ queue: deps.queue, error: (error as Error).message }, "a job is left to its lock"),
  });

  const run = async (job: Job<JobData>, token = ""): Promise<never> => {
    // A job that was added manually may hold anything.
    const logId = typeof job.data?.logId === "string" ? job.data.logId : "";
    await jobs.process({ id: job.id ?? "", logId, token });
    // To BullMQ: it has been ended or given back, and is not its worker's any more.
    throw new WaitingError();
  };

  class LaneWorker extends Worker<JobData> {
    protected override moveToActive(token: string, name?: string) {
      return jobs.take(() => super.moveToActive(token, name)) as Promise<Job<JobData>>;
    }

    /** Takes no other job with the end of this one: that would need a place. */
    override processJob(job: Job<JobData>, token: string) {
      return super.processJob(job, token, () => false).finally(() => jobs.done(job.id ?? ""));
    }

    keepLock(jobId: string, token: string): void {
      this.lockManager.trackJob(jobId, token, Date.now());
    }

    dropLock(jobId: string): void {
      this.lockManager.untrackJob(jobId);
    }

    /** BullMQ ends the renewal of its jobs' locks after the last job only: for one that never ends it would go on for ever. */
    endRenewal(): Promise<void> {
      return this.lockManager.close();
    }
  }

  let isClosed = false;
  const worker = new LaneWorker(deps.queue, run, {
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
  worker.on("error", (error) => deps.log.warn({ queue: deps.queue, error: error.message }, "queue worker"));

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

  deps.localLanes.set(deps.queue, jobs);

  return {
    async close() {
      if (deps.localLanes.get(deps.queue) === jobs) deps.localLanes.delete(deps.queue);
      const put = jobs.close();
      // A graceful close that begins while a connection is lost never ends, not even when Redis is back. Nothing
      // can be given back then anyway: the next owner adopts what is left.
      const canGiveBack = (await deps.storeAnswers()) && (await isConnected());
      // What was claimed by scripts is put away on the worker's connection.
      const ended = canGiveBack ? put.then(() => worker.close()) : worker.close(true);
      const limit = new AbortController();
      const isLate = delay(timings.closeMs, "late", { signal: limit.signal });
      if ((await Promise.race([ended, isLate])) === "late") await worker.endRenewal();
      limit.abort();
      disconnect();
    },
  };
}
