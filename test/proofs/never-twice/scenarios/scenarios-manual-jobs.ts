/** Hands in the queue: what a dashboard or a script can do to BullMQ's jobs. */
import { Queue } from "bullmq";
import { until } from "../../../harness/processes/processes.js";
import { drawnPause } from "../../engine/random.js";
import type { Stage } from "../stage.js";
import type { Scenario } from "./scenario.js";

async function withQueue(stage: Stage, use: (queue: Queue) => Promise<void>): Promise<void> {
  const { world } = stage;
  const name = `${world.editor.editorId}.main`;
  const queue = new Queue(name, { connection: world.redis.connection, prefix: "{ujb}:bull" });
  queue.on("error", () => undefined);
  try {
    await use(queue);
    await until("every job was looked at", async () => {
      const counts = await queue.getJobCounts("waiting", "prioritized", "active", "delayed");
      return Object.values(counts).every((count) => count === 0);
    });
  } finally {
    await queue.close();
  }
}

export const jobByHand: Scenario = {
  name: "job added manually",
  story: "jobs are added, doubled, removed and retried in the queue while the call runs and after it",
  async play(stage) {
    const { random } = stage;
    const intent = stage.intent(random.between(0.2, 0.6));
    const client = await stage.http();
    await intent.call(client, random.between(0, 0.1));
    const { logId = "" } = intent;
    await withQueue(stage, async (queue) => {
      const jobId = await ownJobId(queue, logId);
      const opts = { priority: random.pick([0, 1, 2]) };
      const during = [
        () => queue.add("execute-menu-item", { logId }, opts),
        () => queue.add("execute-menu-item", { logId }, { ...opts, jobId }),
        () => queue.add("execute-menu-item", { logId: "00000000-0000-4000-8000-000000000000" }, opts),
        () => queue.add("execute-menu-item", { MenuItemPath: intent.label }, opts),
        () => queue.add("execute-menu-item", { logId }, { ...opts, jobId: jobId.replace(/^./, "x") }),
      ];
      for (const act of random.shuffled(during).slice(0, random.whole(1, 5))) {
        await act();
        await drawnPause(random.between(0, 100));
      }
      await intent.untilTold(client);
      const after = [
        async () => {
          await untilFinished(queue, jobId);
          await queue.remove(jobId);
          await queue.add("execute-menu-item", { logId }, { ...opts, jobId });
        },
        async () => {
          await untilFinished(queue, jobId);
          await (await queue.getJob(jobId))?.retry("completed");
        },
        () => queue.add("execute-menu-item", { logId }, opts),
      ];
      for (const act of random.shuffled(after)) await act();
    });
    await intent.untilTold(client);
    await intent.untilTold(await stage.http());
  },
};

async function ownJobId(queue: Queue, logId: string): Promise<string> {
  return until("the operation's job is there", async () => {
    const jobs = await queue.getJobs();
    return jobs.find((job) => job?.data.logId === logId)?.id;
  });
}

async function untilFinished(queue: Queue, jobId: string): Promise<void> {
  await until(`${jobId} is done`, async () => (await queue.getJobState(jobId)) === "completed");
}
