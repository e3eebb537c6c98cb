/** A lane ends in time, and takes its connections along. */
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { test } from "vitest";
import { BULL_PREFIX } from "../../../src/shared/store/keys.js";
import { createLane } from "../../../src/worker/execution/lane.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { sharedTestRedis } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";

const TIMINGS = { jobLockMs: 4_000, stalledCheckMs: 150, idleLookMs: 100, heldRetryMs: 50, closeMs: 50 };

test("a job that never ends keeps no connection and no timer of a lane that has closed", async () => {
  const redis = await sharedTestRedis();
  const queue = new Queue("q", { connection: redis.connection, prefix: BULL_PREFIX });
  const hand = new Redis(redis.connection);
  const connections = async (): Promise<number> =>
    String(await hand.client("LIST"))
      .trim()
      .split("\n").length;
  await queue.add("job", { logId: "op-1" });
  const before = await connections();
  let begin = (): void => undefined;
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const lane = createLane(
    {
      ...{
        address: redis.connection,
        queue: "q",
        concurrency: 1,
        storeAnswers: async () => true,
        log: SILENT,
      },
      process() {
        begin();
        return new Promise(() => undefined);
      },
    },
    TIMINGS,
  );
  await began;
  await lane.close();
  await eventually(async () => (await connections()) === before, "its connections have ended");
  await queue.close();
  hand.disconnect();
  await redis.flush();
  // The renewal of the job's lock would go on, once in each quarter of the lock's time.
  await expectNoLeak();
});
