/** BullMQ queues: one per Editor and lane, consumed only by the Editor's owner. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { jobIdOf, type OperationRecord } from "../operation/operation.js";
import { LANES, type Lane } from "../tools/tool.js";
import { BULL_PREFIX, queueName } from "./keys.js";
import { bullmq } from "./libraries.js";
import type { DueJob } from "./scripts/call.js";

/** A job only names its operation: the record decides whether it may run (▲1). */
export interface JobData {
  logId: string;
}

/** Ended jobs of a queue that are kept for the dashboard; the operations themselves are kept for the retention. */
const KEPT_JOBS = 1_000;

export interface Queues {
  /** Adds the job of an operation that waits, whose record exists. One that it has already is left as it is. */
  add(record: OperationRecord): Promise<void>;
  /** Has a job that was put aside asked for now. */
  promote(job: DueJob): Promise<void>;
  /**
   * Makes the job of a waiting operation available again after a crash or manual edits: adds it if it is missing, finished, or
   * taken by a worker that has lost its lock since; promotes a delayed one.
   */
  restore(record: OperationRecord): Promise<void>;
  /** Removes a job that no worker holds from its queue. */
  remove(record: OperationRecord): Promise<void>;
  /** The same of a job that is no operation's, from the queue of an Editor or a pool. */
  drop(editor: string, lane: Lane, jobId: string): Promise<void>;
  /**
   * Puts the jobs that an earlier owner of the Editor took back into their places, so that nobody waits for their locks to
   * expire. For the Editor's owner, before it takes jobs itself: no other worker may hold any.
   */
  takeBack(editor: string): Promise<void>;
  /** The ids of the jobs that wait in a lane of an Editor or a pool, in their order, so many from this one on. */
  waiting(editor: string, lane: Lane, from: number, count: number): Promise<string[]>;
  /** The log_ids of the operations ahead of this one in its lane, including active ones; undefined when it is not waiting. */
  ahead(record: OperationRecord): Promise<string[] | undefined>;
  /** While the queues of an Editor's lanes are paused, no job is taken from them. */
  setPaused(editor: string, isPaused: boolean): Promise<void>;
  /** Whether a lane is paused, or without `lane` any of them; by a command or manually. */
  isPaused(editor: string, lane?: Lane): Promise<boolean>;
  /** Has a worker taken the operation's job, so that it may be sent at any moment? */
  isTaken(record: OperationRecord): Promise<boolean>;
  /** BullMQ's own objects for an Editor's lanes, read-only: their jobs belong to the verbs and to the owner. */
  lanesOf(editor: string): Queue<JobData>[];
  /** Removes the queues of an Editor or a pool with their jobs. */
  obliterate(editor: string): Promise<void>;
  /** Closes what this process holds for the Editor's lanes; they can be used again. */
  release(editor: string): Promise<void>;
  close(): Promise<void>;
}

/** Of a job's id: <hash>.<log_id>. */
export function logIdOf(jobId: string): string {
  return jobId.slice(jobId.indexOf(".") + 1);
}

/** BullMQ's word for any holder of the job. */
const ANY_TOKEN = "0";

/** The record's turn, at least 1: BullMQ takes jobs without a priority (0) before all others. */
const priorityOf = (record: OperationRecord): number => Math.max(1, record.turn ?? 1);

/**
 * On the store's own connection: BullMQ waits without limit for a connection of its own while Redis is away, and cannot
 * close it then. `connectStore` has already checked the version, and that Redis is ready.
 */
export function createQueues(
  connection: Redis,
  { retentionMs, onError }: { retentionMs: number; onError: (error: Error) => void },
): Queues {
  const open = new Map<string, Queue<JobData>>();

  const queueNamed = (name: string): Queue<JobData> => {
    const known = open.get(name);
    if (known) return known;
    const queue = new (bullmq().Queue)<JobData>(name, {
      connection,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      prefix: BULL_PREFIX,
      skipMetasUpdate: true,
    });
    queue.on("error", onError);
    open.set(name, queue);
    return queue;
  };

  const queueOf = ({ editor, lane }: Pick<OperationRecord, "editor" | "lane">): Queue<JobData> =>
    queueNamed(queueName(editor, lane));

  const promote = async (queue: Queue<JobData>, jobId: string): Promise<void> => {
    const job = await queue.getJob(jobId);
    // Rejects if it is not delayed, or no longer exists.
    await job?.promote().catch(() => undefined);
  };

  const takeBackJob = async (queue: Queue<JobData>, jobId: string): Promise<void> => {
    const job = await queue.getJob(jobId);
    // Rejects if its worker, which still runs, gave it back or ended it meanwhile.
    await job?.moveToWait(ANY_TOKEN).catch(() => undefined);
  };

  const kept = { age: Math.ceil(retentionMs / 1000), count: KEPT_JOBS };

  const queues: Queues = {
    async add(record) {
      await queueOf(record).add(
        record.tool,
        { logId: record.logId },
        {
          jobId: jobIdOf(record),
          priority: priorityOf(record),
          attempts: 1,
          removeOnComplete: kept,
          removeOnFail: kept,
        },
      );
    },

    promote: ({ queue, jobId }) => promote(queueNamed(queue), jobId),

    async restore(record) {
      const state = await queueOf(record).getJobState(jobIdOf(record));
      if (["prioritized", "waiting", "delayed"].includes(state))
        return promote(queueOf(record), jobIdOf(record));
      // A finished job still occupies the id. BullMQ looks for those without a lock by the clock of Redis, which may have been set.
      await queues.remove(record);
      await queues.add(record);
    },

    remove: (record) => queues.drop(record.editor, record.lane, jobIdOf(record)),

    async drop(editor, lane, jobId) {
      // Fails while a worker holds it; then its processor finds the record final and releases the job.
      await queueOf({ editor, lane })
        .remove(jobId)
        .catch(() => 0);
    },

    async takeBack(editor) {
      for (const queue of queues.lanesOf(editor)) {
        const taken = await queue.getRanges(["active"], 0, -1);
        await Promise.all(taken.map((jobId) => takeBackJob(queue, jobId)));
      }
    },

    waiting: (editor, lane, from, count) =>
      queueOf({ editor, lane }).getRanges(["prioritized"], from, from + count - 1, true),

    async ahead(record) {
      const queue = queueOf(record);
      // In their order; what a worker that died gave back comes before everything that has a priority.
      const [taken, waiting] = await Promise.all([
        queue.getRanges(["active"], 0, -1, true),
        queue.getRanges(["wait", "prioritized"], 0, -1, true),
      ]);
      const at = waiting.indexOf(jobIdOf(record));
      return at < 0 ? undefined : [...taken, ...waiting.slice(0, at)].map(logIdOf);
    },

    async setPaused(editor, isPaused) {
      // Sent together: Redis carries them out one right after the other, so that all lanes stay in one state.
      await Promise.all(queues.lanesOf(editor).map((queue) => (isPaused ? queue.pause() : queue.resume())));
    },

    async isPaused(editor, lane) {
      const lanes = lane === undefined ? LANES : [lane];
      const paused = await Promise.all(lanes.map((each) => queueOf({ editor, lane: each }).isPaused()));
      return paused.includes(true);
    },

    isTaken: async (record) => (await queueOf(record).getJobState(jobIdOf(record))) === "active",

    lanesOf: (editor) => LANES.map((lane) => queueOf({ editor, lane })),

    async obliterate(editor) {
      for (const queue of queues.lanesOf(editor)) {
        try {
          await queue.obliterate({ force: true });
        } catch (error) {
          // It is paused first, and must not stay so.
          await queue.resume().catch(() => undefined);
          throw error;
        }
      }
    },

    async release(editor) {
      for (const lane of LANES) {
        const name = queueName(editor, lane);
        const queue = open.get(name);
        open.delete(name);
        await queue?.close();
      }
    },

    async close() {
      await Promise.allSettled([...open.values()].map((queue) => queue.close()));
      open.clear();
    },
  };
  return queues;
}
