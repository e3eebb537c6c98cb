/**
 * The jobs that a lane has taken, and the order in which they are processed: as many at once as the lane has places. A place is
 * given to a job of BullMQ's worker, or to an operation that the script which creates it has claimed. The end of an
 * operation may claim the next one, which keeps the place: under load a lane goes from one to the next without BullMQ's
 * worker, until none waits or another job waits for the place.
 */
import { jobIdOf } from "../../shared/operation/operation.js";
import type { ClaimedOperation, LaneJob, Place } from "../../shared/store/local-lanes.js";
import type { Claimant } from "../../shared/store/scripts/claim.js";
import type { ExecutorResult } from "./executor-deps.js";

/** A job and the operation that it names. */
export interface TakenJob {
  id: string;
  logId: string;
  /** BullMQ's lock on it. */
  token: string;
  claimed?: ClaimedOperation | undefined;
}

export interface LaneJobsDeps {
  concurrency: number;
  process(job: TakenJob): Promise<ExecutorResult>;
  /** Undefined: nothing can be claimed now. */
  claimant(): Claimant | undefined;
  /** Renews the job's lock until it is dropped. */
  keepLock(job: TakenJob): void;
  dropLock(job: TakenJob): void;
  /** Gives back or ends a job that did not end with its operation. */
  putAway(job: TakenJob, processed: ExecutorResult): Promise<void>;
  onError(error: unknown): void;
}

export interface LaneJobs {
  /** Processes a job, and then those that the ends of operations claim. "ended": it has ended with its operation. */
  process(job: TakenJob): Promise<ExecutorResult | "ended">;
  place(): Place | undefined;
  jobOf(jobId: string): LaneJob | undefined;
  /** Claims nothing from now on; resolves when what was claimed by scripts is put away. */
  close(): Promise<void>;
}

interface UnderWay extends LaneJob {
  isEnded: boolean;
  next: ClaimedOperation | undefined;
}

export function createLaneJobs(deps: LaneJobsDeps): LaneJobs {
  let free = deps.concurrency;
  let isClosed = false;
  const waiting: (() => void)[] = [];
  const underWay = new Map<string, UnderWay>();
  const begun = new Set<Promise<void>>();

  const enter = (): Promise<void> | undefined => {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve));
    free -= 1;
    return undefined;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  const claimant = (): Claimant | undefined => (isClosed || waiting.length > 0 ? undefined : deps.claimant());

  /** One job, in a place that the caller holds. */
  const one = async (job: TakenJob): Promise<{ result: ExecutorResult; work: UnderWay }> => {
    const work: UnderWay = {
      id: job.id,
      token: job.token,
      isEnded: false,
      next: undefined,
      claimant,
      ended(next) {
        work.isEnded = true;
        work.next = next;
        deps.dropLock(job);
      },
    };
    underWay.set(job.id, work);
    try {
      return { result: await deps.process(job), work };
    } finally {
      underWay.delete(job.id);
    }
  };

  /** Jobs that BullMQ's worker knows nothing of, one after the other. */
  const goOn = async (first: ClaimedOperation | undefined): Promise<void> => {
    for (let claimed = first; claimed; ) {
      const job = jobOfClaim(claimed);
      deps.keepLock(job);
      const { result, work } = await one(job);
      if (!work.isEnded) {
        deps.dropLock(job);
        await deps.putAway(job, result);
      }
      claimed = work.next;
    }
  };

  return {
    async process(job) {
      await enter();
      try {
        const { result, work } = await one(job);
        await goOn(work.next).catch(deps.onError);
        return work.isEnded ? "ended" : result;
      } finally {
        leave();
      }
    },

    place() {
      const taker = free === 0 ? undefined : claimant();
      if (!taker) return undefined;
      free -= 1;
      return {
        claimant: taker,
        leave,
        begin(claimed) {
          const going = goOn(claimed).catch(deps.onError).finally(leave);
          begun.add(going);
          void going.finally(() => begun.delete(going));
        },
      };
    },

    jobOf: (jobId) => underWay.get(jobId),

    async close() {
      isClosed = true;
      await Promise.all(begun);
    },
  };
}

function jobOfClaim(claimed: ClaimedOperation): TakenJob {
  const { record, claimant } = claimed;
  return { id: jobIdOf(record), logId: record.logId, token: claimant.token, claimed };
}
