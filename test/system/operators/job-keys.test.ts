/** The job that is written with an operation is the one that BullMQ's own `add` writes: every key, every field. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import { jobOptions } from "../../../src/shared/store/scripts/job.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { operation } from "../../unit/shared/record.js";

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
    all[key] = { type, ttl: await hand.pttl(key), holds: plain(await read[type]?.()) };
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
