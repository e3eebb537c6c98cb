/** What a lane does with a job that did not end with its operation. */
import { Queue } from "bullmq";
import { expect, test } from "vitest";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import type { LocalLanes } from "../../../src/shared/store/same-process/local-lanes.js";
import { createLane } from "../../../src/worker/execution/lane.js";
import { eventually } from "../../harness/eventually.js";
import { SILENT } from "../../harness/silent.js";
import { HOUR, UNDISTURBED } from "../../harness/system/idle-lane.js";
import { WITHOUT_STORE } from "../../harness/system/lonely-lane.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { operation } from "../../unit/shared/record.js";

const { open, byHand, redis, closeLater } = useOpenedStores();

const QUEUE = queueName("shop@1", "main");
const TIMINGS = { ...UNDISTURBED, jobLockMs: HOUR, heldRetryMs: HOUR, closeMs: 50, retryMs: 20 };

test.each(["held", "settled"] as const)(
  "one that a script has claimed, and that is %s, makes way: the next one is taken",
  async (result) => {
    const store = await open();
    const hand = byHand();
    closeLater(() => hand.flushdb());
    const { connection } = redis();
    const queue = new Queue(QUEUE, { connection, prefix: BULL_PREFIX });
    closeLater(() => queue.close());
    const localLanes: LocalLanes = new Map();
    const seen: string[] = [];
    const lane = createLane(
      {
        ...WITHOUT_STORE,
        ...{ address: connection, queue: QUEUE, concurrency: 1, log: SILENT, localLanes },
        claimant: () => ({ editor: "shop@1", lane: "main", fence: "f", session: "s", incarnation: "i" }),
        wakeWorker: () => store.queues.wake("shop@1", "main"),
        process: async (logId) => {
          seen.push(logId);
          return logId === "first" ? result : "settled";
        },
      },
      TIMINGS,
    );
    closeLater(() => lane.close());
    await eventually(
      async () => String(await hand.client("LIST")).includes("cmd=bzpopmin"),
      "BullMQ's worker waits to be woken",
    );
    const place = localLanes.get(QUEUE)?.place();
    if (!place) throw new Error("the lane is not idle");
    // Taken, as the script that creates it does; the next one is added while the lane is full, so that no worker is woken.
    await queue.pause();
    const record = operation({ logId: "first" });
    const jobId = `${record.hash}.first`;
    for (const logId of ["first", "next"])
      await queue.add("work", { logId }, { jobId: `${record.hash}.${logId}`, priority: 1 });
    await hand.zrem(keys.jobs(QUEUE, "prioritized"), jobId);
    await hand.lpush(keys.jobs(QUEUE, "active"), jobId);
    await hand.set(keys.jobLock(QUEUE, jobId), place.claimant.token);
    await hand.hdel(keys.queue(QUEUE, "meta"), "paused");
    place.begin({ record, args: "{}", claimant: place.claimant });
    await eventually(async () => seen.includes("next"), "the next one is taken");
    expect(await queue.getJobState(jobId)).toBe(result === "held" ? "delayed" : "completed");
  },
);
