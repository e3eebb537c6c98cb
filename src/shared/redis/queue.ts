/** BullMQ queues: one per Editor and lane, consumed by the Editor's owner alone. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { jobIdOf, type OperationRecord } from "../operation.js";
import { LANES, type Lane } from "../tool.js";
import { BULL_PREFIX, keys } from "./keys.js";

/** A job says only which operation it is for: the record decides whether it may run (▲1). */
export interface JobData {
  logId: string;
}

export interface Queues {
  /**
   * Adds the operation's job and reads it back; adding it again is harmless. False when the id is taken by a job of
   * another operation, which only a hand can have made.
   */
  add(record: OperationRecord): Promise<boolean>;
  /** Does the operation's job still wait or run? */
  has(record: OperationRecord): Promise<boolean>;
  /**
   * Sees to it that the job of an operation that waits can be taken, whatever a hand did to it: adds it where it is
   * missing, was finished or had its id taken; brings back one that was put off; ends a lock that has no end. False as
   * with `add`.
   */
  restore(record: OperationRecord): Promise<boolean>;
  /** Takes a job that nobody works on out of its queue. */
  remove(record: OperationRecord): Promise<void>;
  /** Jobs before this one in its lane, those under way included; undefined when it is not waiting. */
  position(record: OperationRecord): Promise<number | undefined>;
  /** BullMQ's own objects for an Editor's lanes, to look at: their jobs belong to the verbs and to the owner. */
  lanesOf(editor: string): Queue<JobData>[];
  /** Lets go of what this process holds for the Editor's lanes; they can be used again. */
  release(editor: string): Promise<void>;
  close(): Promise<void>;
}

/** ":" would end a part of BullMQ's keys. */
export function queueName(editor: string, lane: Lane): string {
  return `${editor.replaceAll(":", "_")}.${lane}`;
}

/** The record's turn. Without a priority, which 0 means too, a job would jump the line of those that have one. */
const priorityOf = (record: OperationRecord): number => Math.max(1, record.turn ?? 1);

/**
 * Over the store's own connection: BullMQ waits for one of its own without limit while Redis is away, and cannot end
 * it then. Version and readiness are what `connectStore` has checked.
 */
export function createQueues(
  connection: Redis,
  options: { retentionMs: number; onError: (error: Error) => void },
): Queues {
  const open = new Map<string, Queue<JobData>>();

  const queueOf = ({ editor, lane }: Pick<OperationRecord, "editor" | "lane">): Queue<JobData> => {
    const name = queueName(editor, lane);
    const known = open.get(name);
    if (known) return known;
    const queue = new Queue<JobData>(name, {
      connection,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      prefix: BULL_PREFIX,
      skipMetasUpdate: false,
    });
    queue.on("error", options.onError);
    open.set(name, queue);
    return queue;
  };

  const standing = ["prioritized", "waiting", "delayed", "active"];

  /** One that is held back by its caller's limit comes a little early; that is no harm. */
  const loosen = async (record: OperationRecord): Promise<void> => {
    const jobId = jobIdOf(record);
    const job = await queueOf(record).getJob(jobId);
    // Fails where it was not put off, or is no longer there.
    await job?.promote().catch(() => undefined);
    const lock = keys.jobLock(queueName(record.editor, record.lane), jobId);
    // A worker's lock always ends by itself: then the job is given to the next.
    if ((await connection.pttl(lock)) === -1) await connection.del(lock);
  };

  const queues: Queues = {
    async add(record) {
      const queue = queueOf(record);
      const jobId = jobIdOf(record);
      const age = Math.ceil(options.retentionMs / 1000);
      await queue.add(
        record.tool,
        { logId: record.logId },
        {
          jobId,
          priority: priorityOf(record),
          attempts: 1,
          removeOnComplete: { age },
          removeOnFail: { age },
        },
      );
      // add() answers with the new data even when an older job of this id made it do nothing: only a read tells.
      const job = await queue.getJob(jobId);
      return job?.data.logId === record.logId;
    },

    async has(record) {
      return standing.includes(await queueOf(record).getJobState(jobIdOf(record)));
    },

    async restore(record) {
      if (await queues.has(record)) {
        await loosen(record);
        return true;
      }
      // A job that somebody else finished still takes the id: without it the same operation gets its job again.
      await queues.remove(record);
      return queues.add(record);
    },

    async remove(record) {
      // Fails while a worker holds it; then its processor finds the record final and lets it go.
      await queueOf(record)
        .remove(jobIdOf(record))
        .catch(() => 0);
    },

    async position(record) {
      const name = queueName(record.editor, record.lane);
      const jobId = jobIdOf(record);
      const [given, rank, active] = await Promise.all([
        // Given back by a worker that died: before everything that has a priority.
        connection.lrange(keys.jobs(name, "wait"), 0, -1),
        connection.zrank(keys.jobs(name, "prioritized"), jobId),
        connection.llen(keys.jobs(name, "active")),
      ]);
      const index = given.reverse().indexOf(jobId);
      if (index >= 0) return active + index;
      return rank === null ? undefined : active + given.length + rank;
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
