/**
 * What the scripts write of a job is what BullMQ's own scripts write, every key and every field: when it is added, taken,
 * ended, and when a delayed one is due.
 */
import { Job, Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import { jobOptions } from "../../../src/shared/store/scripts/job.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { operation } from "../../unit/shared/record.js";
import { create, end, ownLane, QUEUE } from "./local-lane.js";

const { open, byHand, redis, closeLater } = useOpenedStores();

const RETENTION_MS = 60_000;

/** What no two jobs have in common. */
const VARYING = /^\d{13}(-\d+)?$/;

/** Everything of a queue: times are left out, and JSON is read, because the order of its fields says nothing. */
async function contents(hand: Redis): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const key of (await hand.keys(`${BULL_PREFIX}:*`)).sort()) {
    const type = await hand.type(key);
    const read: Record<string, () => Promise<unknown>> = {
      string: () => hand.get(key),
      hash: () => hand.hgetall(key),
      list: () => hand.lrange(key, 0, -1),
      zset: () => hand.zrange(key, "0", "-1", "WITHSCORES"),
      stream: async () => (await hand.xrange(key, "-", "+")).map((entry) => entry[1]),
    };
    // A Queue object writes it when it is made, whether or not it adds a job.
    if (key.endsWith(":meta")) await hand.hdel(key, "version");
    all[key] = { type, ttl: Math.sign(await hand.pttl(key)), holds: plain(await read[type]?.()) };
  }
  return all;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  if (typeof value !== "string") return value;
  if (VARYING.test(value)) return "a time";
  return value.startsWith("{") && value.endsWith("}") ? JSON.parse(value) : value;
}

const PREPARATIONS: Record<string, (queue: Queue, hand: Redis) => Promise<unknown>> = {
  "a new queue": async () => undefined,
  "a queue that is paused": (queue) => queue.pause(),
  "a queue that runs as many as it may": async (queue, hand) => {
    await queue.setGlobalConcurrency(1);
    await hand.rpush(keys.jobs(queue.name, "active"), "another");
  },
  "a queue with another job, of a higher priority": (queue) =>
    queue.add("another", { logId: "b" }, { jobId: "b", priority: 1 }),
  "a queue that keeps few events": (queue, hand) =>
    hand.hset(keys.queue(queue.name, "meta"), "opts.maxLenEvents", 1),
};

test.each(Object.entries(PREPARATIONS))("%s", async (_name, prepare) => {
  const { operations } = await open();
  const hand = byHand();
  const queueOfTest = async (): Promise<Queue> => {
    const queue = new Queue(queueName("shop@1", "main"), {
      connection: redis().connection,
      prefix: BULL_PREFIX,
    });
    closeLater(() => queue.close());
    await queue.waitUntilReady();
    await hand.del(...(await hand.keys(`${BULL_PREFIX}:*`)), "none");
    return queue;
  };
  const record = operation({ state: "queued", incarnation: await operations.incarnation() });
  const jobId = jobIdOf(record);

  await prepare(await queueOfTest(), hand);
  const created = await operations.create(record, "{}", "0");
  if (created.kind !== "created") throw new Error(created.kind);
  const ours = await contents(hand);

  const queue = await queueOfTest();
  await prepare(queue, hand);
  const priority = created.record.turn ?? 0;
  await queue.add(record.tool, { logId: record.logId }, { jobId, priority, ...jobOptions(RETENTION_MS) });
  expect(ours).toEqual(await contents(hand));
  expect(Object.keys(ours)).toContain(keys.jobs(queue.name, "prioritized"));
});

/** As BullMQ's worker and queue do it. */
function byBullmq() {
  const { connection } = redis();
  const queue = new Queue(QUEUE, { connection, prefix: BULL_PREFIX });
  const worker = new Worker(QUEUE, undefined, {
    connection,
    prefix: BULL_PREFIX,
    autorun: false,
    lockDuration: 60_000,
  });
  closeLater(() => Promise.all([worker.close(), queue.close()]));
  return { queue, worker };
}

/**
 * Three operations, one after the other: the first is taken at once, the others when the one before has ended. BullMQ's
 * worker takes a job with the end of the one before it, too. Not compared: `marker`, which wakes a worker, and `pc`, the
 * counter of those that waited: what a script takes at once has not waited.
 */
test("three jobs are added, taken and ended one after the other as by BullMQ's worker", async () => {
  const store = await open();
  const hand = byHand();
  closeLater(() => hand.flushdb());
  await ownLane(store, hand);
  const kept = jobOptions(RETENTION_MS);
  const left = async () => {
    await hand.del(keys.queue(QUEUE, "marker"), keys.queue(QUEUE, "pc"));
    // Of the order only the priority.
    const waiting = await hand.zrange(keys.jobs(QUEUE, "prioritized"), "0", "-1", "WITHSCORES");
    await hand.del(keys.jobs(QUEUE, "prioritized"));
    const all = await contents(hand);
    const scores = waiting.map((each, at) => (at % 2 === 0 ? each : Number(each) - (Number(each) % 2 ** 32)));
    if (scores.length > 0) await hand.zadd(keys.jobs(QUEUE, "prioritized"), ...scores.toReversed());
    return { ...all, scores };
  };
  const ours: unknown[] = [];
  const records = [await create(store, "a"), await create(store, "b"), await create(store, "c")];
  ours.push(await left());
  for (const { logId } of records) {
    await end(store, logId);
    ours.push(await left());
  }

  await hand.del(...(await hand.keys(`${BULL_PREFIX}:*`)));
  const { queue, worker } = byBullmq();
  await queue.waitUntilReady();
  const add = ({ tool, logId, turn = 0, ...record }: (typeof records)[number]) =>
    queue.add(tool, { logId }, { jobId: jobIdOf({ ...record, logId }), priority: turn, ...kept });
  const theirs: unknown[] = [];
  const [first, ...others] = records;
  if (first) await add(first);
  let job: Job | undefined = await worker.getNextJob("token");
  for (const record of others) await add(record);
  theirs.push(await left());
  for (const _record of records) {
    const next: unknown[] = (await job?.moveToCompleted({ processed: "settled" }, "token", true)) ?? [];
    theirs.push(await left());
    job = next[1] ? await Job.fromId(worker, String(next[1])) : undefined;
  }
  expect(ours).toEqual(theirs);
});

const REASON = { code: "TOOL_FAILED", type: "tool_failed", message: "No scene." };
const FAILED = { failed: "TOOL_FAILED (tool_failed)", interrupted: "interrupted" } as const;

test.each(["failed", "interrupted"] as const)(
  "the job of one that is %s fails as by BullMQ's worker",
  async (state) => {
    const store = await open();
    const hand = byHand();
    closeLater(() => hand.flushdb());
    await ownLane(store, hand);
    const left = async () => {
      await hand.del(keys.queue(QUEUE, "marker"), keys.queue(QUEUE, "pc"));
      return contents(hand);
    };
    const record = await create(store, "a");
    await end(store, "a", { state, ...(state === "failed" ? { error: REASON } : {}) });
    const ours = await left();

    await hand.del(...(await hand.keys(`${BULL_PREFIX}:*`)));
    const { queue, worker } = byBullmq();
    await queue.waitUntilReady();
    const options = { jobId: jobIdOf(record), priority: record.turn ?? 0, ...jobOptions(RETENTION_MS) };
    await queue.add(record.tool, { logId: "a" }, options);
    const job: Job | undefined = await worker.getNextJob("token");
    await job?.moveToFailed({ name: "Error", message: FAILED[state] }, "token");
    expect(ours).toEqual(await left());
  },
);

test("how far it came stays with the job, and nothing is made up", async () => {
  const store = await open();
  const hand = byHand();
  closeLater(() => hand.flushdb());
  await ownLane(store, hand);
  const { queue } = byBullmq();
  const [reported, silent, endless] = [
    await create(store, "a"),
    await create(store, "b"),
    await create(store, "c"),
  ];
  await store.operations.report("a", { progress: { progress: 3, total: 10, seq: 1 } });
  await store.operations.report("c", { progress: { progress: 3, seq: 1 } });
  for (const { logId } of [reported, silent, endless]) await end(store, logId);
  expect((await queue.getJob(jobIdOf(reported)))?.progress).toBe(30);
  for (const other of [silent, endless]) expect((await queue.getJob(jobIdOf(other)))?.progress).toBe(0);
});

test("a job that is due becomes what BullMQ's promotion makes of it", async () => {
  const hand = byHand();
  closeLater(() => hand.flushdb());
  const promoted = async (promote: (queue: Queue) => Promise<unknown>) => {
    await hand.del("none", ...(await hand.keys(`${BULL_PREFIX}:*`)));
    const { queue } = byBullmq();
    const kept = jobOptions(RETENTION_MS);
    const jobId = jobIdOf({ hash: "h", logId: "held" });
    await queue.add("work", { logId: "held" }, { jobId, priority: 7, delay: 3_600_000, ...kept });
    await promote(queue);
    return contents(hand);
  };
  const store = await open({ maxRunning: 1 });
  await hand.hset(keys.operation("held"), "doc", JSON.stringify({ principal: "ann", hash: "h" }));
  const now = await store.operations.now();
  await hand.hset(keys.held("ann"), "held", `${QUEUE}|7|${now}|${now}`);
  const ours = await promoted(() => store.operations.releaseHeld("held"));
  const theirs = await promoted(async (queue) => (await queue.getJob("h.held"))?.promote());
  expect(ours).toEqual(theirs);
});
