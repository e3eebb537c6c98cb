/** BullMQ queues: one per Editor and lane, consumed only by the Editor's owner. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { jobIdOf, type OperationRecord } from "../operation/operation.js";
import { LANES, type Lane } from "../tools/tool.js";
import { BULL_PREFIX, keys, queueName } from "./keys.js";
import { bullmq } from "./libraries.js";
import { type JobData, jobOptions } from "./scripts/job.js";

export interface Queues {
  /** Does the operation's job still wait or run? */
  has(record: OperationRecord): Promise<boolean>;
  /**
   * Makes the job of a waiting operation available again after manual edits: adds it if it is missing, finished, or its id
   * is taken by one that has finished; promotes a delayed one; removes a lock without expiry.
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
  /** The log_ids of the operations ahead of this one in its lane, including active ones; so many at most. */
  ahead(record: OperationRecord, most: number): Promise<string[]>;
  /** Jobs ahead of this one in its lane, including active ones; undefined when it is not waiting. */
  position(record: OperationRecord): Promise<number | undefined>;
  /** While the queues of an Editor's lanes are paused, neither BullMQ nor the scripts (NEXT_JOB) take a job from them. */
  setPaused(editor: string, isPaused: boolean): Promise<void>;
  /** Whether a lane is paused, or without `lane` any of them; by a command or manually. */
  isPaused(editor: string, lane?: Lane): Promise<boolean>;
  /** Has a worker taken the operation's job, so that it may be sent at any moment? */
  isTaken(record: OperationRecord): Promise<boolean>;
  /** Has BullMQ's worker look for jobs. */
  wake(editor: string, lane: Lane): Promise<void>;
  /** BullMQ's own objects for an Editor's lanes, read-only: their jobs belong to the verbs and to the owner. */
  lanesOf(editor: string): Queue<JobData>[];
  /** Closes what this process holds for the Editor's lanes; they can be used again. */
  release(editor: string): Promise<void>;
  close(): Promise<void>;
}

/** Of a job's id: <hash>.<log_id>. */
export function logIdOf(jobId: string): string {
  return jobId.slice(jobId.indexOf(".") + 1);
}

/** BullMQ's word for the token of a job whose lock has expired. */
const UNLOCKED = "0";

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

  const queueOf = ({ editor, lane }: Pick<OperationRecord, "editor" | "lane">): Queue<JobData> => {
    const name = queueName(editor, lane);
    const known = open.get(name);
    if (known) return known;
    const queue = new (bullmq().Queue)<JobData>(name, {
      connection,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      prefix: BULL_PREFIX,
      skipMetasUpdate: false,
    });
    queue.on("error", onError);
    open.set(name, queue);
    return queue;
  };

  const standing = ["prioritized", "waiting", "delayed", "active"];

  /** An operation held back by its caller's limit asks a little early then, which is harmless. */
  const loosen = async (record: OperationRecord): Promise<void> => {
    const jobId = jobIdOf(record);
    const job = await queueOf(record).getJob(jobId);
    // Fails if it was not delayed, or no longer exists.
    await job?.promote().catch(() => undefined);
    const lock = keys.jobLock(queueName(record.editor, record.lane), jobId);
    // A worker's lock always expires: then the job goes to the next worker.
    if ((await connection.pttl(lock)) === -1) await connection.del(lock);
  };

  const takeBackJob = async (queue: Queue<JobData>, jobId: string): Promise<void> => {
    const [job, token] = await Promise.all([
      queue.getJob(jobId),
      connection.get(keys.jobLock(queue.name, jobId)),
    ]);
    // Rejects if its worker, which still runs, gave it back or ended it meanwhile.
    await job?.moveToWait(token ?? UNLOCKED).catch(() => undefined);
  };

  const add = async (record: OperationRecord): Promise<void> => {
    const id = { jobId: jobIdOf(record), priority: priorityOf(record) };
    const options = { ...id, ...jobOptions(retentionMs) };
    await queueOf(record).add(record.tool, { logId: record.logId }, options);
  };

  const queues: Queues = {
    async has(record) {
      return standing.includes(await queueOf(record).getJobState(jobIdOf(record)));
    },

    async restore(record) {
      if (await queues.has(record)) return loosen(record);
      // A finished job still occupies the id; removing it lets the same operation get its job again.
      await queues.remove(record);
      await add(record);
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
        const taken = await connection.lrange(keys.jobs(queue.name, "active"), 0, -1);
        await Promise.all(taken.map((jobId) => takeBackJob(queue, jobId)));
      }
    },

    async position(record) {
      const name = queueName(record.editor, record.lane);
      const jobId = jobIdOf(record);
      const [given, rank, active] = await Promise.all([
        // Returned by a worker that died: BullMQ takes it before everything that has a priority.
        connection.lrange(keys.jobs(name, "wait"), 0, -1),
        connection.zrank(keys.jobs(name, "prioritized"), jobId),
        connection.llen(keys.jobs(name, "active")),
      ]);
      const index = given.reverse().indexOf(jobId);
      if (index >= 0) return active + index;
      return rank === null ? undefined : active + given.length + rank;
    },

    async ahead(record, most) {
      const name = queueName(record.editor, record.lane);
      const [active, given, waiting] = await Promise.all([
        connection.lrange(keys.jobs(name, "active"), 0, most - 1),
        connection.lrange(keys.jobs(name, "wait"), -most, -1),
        connection.zrange(keys.jobs(name, "prioritized"), 0, `${most - 1}`),
      ]);
      const all = [...active, ...given.reverse(), ...waiting];
      const at = all.indexOf(jobIdOf(record));
      return (at < 0 ? all : all.slice(0, at)).slice(0, most).map(logIdOf);
    },

    async setPaused(editor, isPaused) {
      // Sent together: Redis carries them out one right after the other, so that all lanes stay in one state.
      await Promise.all(queues.lanesOf(editor).map((queue) => (isPaused ? queue.pause() : queue.resume())));
    },

    async isPaused(editor, lane) {
      const lanes = lane === undefined ? LANES : [lane];
      const paused = await Promise.all(
        lanes.map((each) => connection.hexists(keys.queue(queueName(editor, each), "meta"), "paused")),
      );
      return paused.includes(1);
    },

    async isTaken(record) {
      const lock = keys.jobLock(queueName(record.editor, record.lane), jobIdOf(record));
      return (await connection.exists(lock)) === 1;
    },

    async wake(editor, lane) {
      await connection.zadd(keys.queue(queueName(editor, lane), "marker"), 0, "0");
    },

    lanesOf: (editor) => LANES.map((lane) => queueOf({ editor, lane })),

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
