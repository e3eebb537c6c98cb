/**
 * The jobs that a lane has taken, and the order in which they are processed: as many at once as the lane has places. A place is
 * given to a job of BullMQ's worker, or to an operation that the script which creates it has claimed. The end of an
 * operation may claim the next one, which keeps the place: under load a lane goes from one to the next without BullMQ's
 * worker, until none waits or another job waits for the place.
 */
import { jobIdOf } from "../../shared/operation/operation.js";
import type { ClaimedOperation, LaneJob, Place } from "../../shared/store/same-process/local-lanes.js";
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
  places: number;
  process(job: TakenJob): Promise<ExecutorResult>;
  /** Undefined: nothing can be claimed now. */
  claimant(): Claimant | undefined;
  /** What was claimed with it by a script whose reply was lost. */
  findClaim(claimant: Claimant): Promise<ClaimedOperation | undefined>;
  /** Renews the job's lock until it is dropped. */
  keepLock(job: TakenJob): void;
  dropLock(job: TakenJob): void;
  /** Gives back or ends a job that did not end with its operation. */
  putAway(job: TakenJob, processed: ExecutorResult): Promise<void>;
  /** Before something that failed is tried again. */
  pause(): Promise<void>;
  onError(error: unknown): void;
  /** A place is free, and nothing that this lane knows of waits for it. */
  onFree(): void;
}

export interface LaneJobs {
  /**
   * BullMQ's worker takes a job only into a place; undefined: there is none, or the lane has closed. A job that stands as taken while
   * another one runs would be out of reach of a pause, and without its place in the queue.
   */
  take<Job extends { id?: string | undefined }>(
    take: () => Promise<Job | undefined>,
  ): Promise<Job | undefined>;
  /** Processes a job that was taken, and then those that the ends of operations claim. */
  process(job: TakenJob): Promise<void>;
  /** BullMQ is done with a job that its worker has taken: it may have failed it without having it processed. */
  done(jobId: string): void;
  place(): Place | undefined;
  jobOf(jobId: string): LaneJob | undefined;
  /** Claims nothing from now on; resolves when what was claimed by scripts is put away. */
  close(): Promise<void>;
}

interface UnderWay extends LaneJob {
  /** Of this process's monotonic clock, ms. */
  endedAt: number | undefined;
  next: ClaimedOperation | undefined;
  /** With these a script may have claimed, without a reply. */
  lostWith: Claimant[];
}

interface Done {
  result: ExecutorResult;
  work: UnderWay;
}

/** Longest time from a claim by a script to the first byte, ms. */
const FRESH_MS = 100;

export function createLaneJobs(deps: LaneJobsDeps): LaneJobs {
  let free = deps.places;
  let isClosed = false;
  /** Of BullMQ's worker, for a place. */
  const waiting: (() => void)[] = [];
  /** Ids of jobs that it took into a place, and that are not processed yet. */
  const given = new Set<string | undefined>();
  const underWay = new Map<string, UnderWay>();
  /** Places that scripts may claim for, until they are left. */
  const held = new Set<Promise<void>>();

  const enter = (): Promise<void> | undefined => {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve));
    free -= 1;
    return undefined;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) {
      next();
      return;
    }
    free += 1;
    deps.onFree();
  };

  const claimant = (): Claimant | undefined => (isClosed || waiting.length > 0 ? undefined : deps.claimant());

  /** Asks until the store answers, or the lane closes: the next owner finds what was claimed then. */
  const found = async (lost: Claimant): Promise<ClaimedOperation | undefined> => {
    while (!isClosed) {
      try {
        return await deps.findClaim(lost);
      } catch (error) {
        deps.onError(error);
        await deps.pause();
      }
    }
    return undefined;
  };

  /** One job, in a place that the caller holds. */
  const one = async (job: TakenJob): Promise<Done> => {
    const work: UnderWay = {
      id: job.id,
      token: job.token,
      endedAt: undefined,
      next: undefined,
      lostWith: [],
      claimant,
      ended(next) {
        work.endedAt = performance.now();
        work.next = next;
        deps.dropLock(job);
      },
      lost: (lost) => void (lost && work.lostWith.push(lost)),
    };
    underWay.set(job.id, work);
    try {
      const result = await deps.process(job);
      for (const lost of work.endedAt === undefined ? work.lostWith : []) {
        const next = await found(lost);
        if (next) work.ended(next);
      }
      return { result, work };
    } finally {
      if (underWay.get(job.id) === work) underWay.delete(job.id);
    }
  };

  /** Answers the next one, if it was claimed. */
  const oneToItsEnd = async (job: TakenJob): Promise<TakenJob | undefined> => {
    deps.keepLock(job);
    try {
      const { result, work } = await one(job);
      if (work.endedAt === undefined) await deps.putAway(job, result);
      return work.next && jobAfter(work, work.next);
    } finally {
      deps.dropLock(job);
    }
  };

  /** A job, and those that are claimed at the end of each, one after the other. */
  const perform = async (first: TakenJob): Promise<void> => {
    for (let job: TakenJob | undefined = first; job; ) job = await oneToItsEnd(job);
  };

  const goOn = async (claimed: ClaimedOperation | undefined): Promise<void> => {
    if (claimed) await perform(jobOfClaim(claimed));
  };

  return {
    async take(take) {
      await enter();
      // BullMQ asks again at once, until its worker closes as well.
      const taking = isClosed ? deps.pause().then(() => undefined) : take();
      const taken = await taking.catch(() => undefined);
      if (taken) given.add(taken.id);
      else leave();
      return taking;
    },

    process(job) {
      given.delete(job.id);
      return perform(job).catch(deps.onError).finally(leave);
    },

    done(jobId) {
      if (given.delete(jobId)) leave();
    },

    place() {
      const taker = free === 0 ? undefined : claimant();
      if (!taker) return undefined;
      free -= 1;
      let decide: (going: Promise<void> | undefined) => void = () => undefined;
      const place = new Promise<void>((resolve) => {
        decide = (going) => resolve(going);
      })
        .catch(deps.onError)
        .finally(leave);
      held.add(place);
      void place.finally(() => held.delete(place));
      return {
        claimant: taker,
        leave: () => decide(undefined),
        begin: (claimed) => decide(goOn(claimed)),
        lost: () => decide(found(taker).then(goOn)),
      };
    },

    jobOf: (jobId) => underWay.get(jobId),

    async close() {
      isClosed = true;
      for (const admit of waiting.splice(0)) admit();
      while (held.size > 0) await Promise.all(held);
    },
  };
}

/**
 * One whose claim has waited, because something kept the job before it beyond its operation's end, may have been cancelled
 * or ended meanwhile: it is read, and asked for, as one that is taken over.
 */
function jobAfter({ endedAt = 0 }: UnderWay, next: ClaimedOperation): TakenJob {
  const job = jobOfClaim(next);
  return performance.now() - endedAt < FRESH_MS ? job : { ...job, claimed: undefined };
}

function jobOfClaim(claimed: ClaimedOperation): TakenJob {
  const { record, claimant } = claimed;
  return { id: jobIdOf(record), logId: record.logId, token: claimant.token, claimed };
}
