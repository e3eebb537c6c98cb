/** What a person with BullMQ's own tools can do to the queue, at every stage of an operation. */
import { Queue, Worker } from "bullmq";
import { afterEach, describe, expect, test } from "vitest";
import { jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { played } from "../../harness/long-form.js";
import { startWorld } from "../../harness/processes/process-world.js";
import { type Scene, stagesWith } from "../../harness/system/stages.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const YEAR_MS = 365 * 24 * 3_600_000;
const OPTIONS = { gateway: { sweepMs: 50 } };
/** Where a job may be: put off, with a worker. The long form plays the other stages too. */
const TELLING = ["is held back, its caller has enough running", "runs"];
const STAGES = stagesWith((more) => start({ ...OPTIONS, ...more }));
const STATES = ["completed", "wait", "active", "paused", "prioritized", "delayed", "failed"] as const;

function queueOf({ redis }: System, { editor }: OperationRecord, lane: "main" | "background"): Queue {
  const queue = new Queue(queueName(editor, lane), { connection: redis.connection, prefix: BULL_PREFIX });
  queue.on("error", () => undefined);
  closers.push(() => queue.close());
  return queue;
}

interface Reach extends Scene {
  queue: Queue;
  other: Queue;
  jobId: string;
  jobKey: string;
}

/** False: BullMQ itself refuses it at this stage, which is no harm. */
const isDone = (act: Promise<unknown> | undefined): Promise<boolean> =>
  Promise.resolve(act).then(
    () => true,
    () => false,
  );

/** Answers what takes it back, where that is part of it. */
const HANDS: Record<string, (reach: Reach) => Promise<unknown>> = {
  "obliterates the queue": ({ queue }) => queue.obliterate({ force: true }),

  async "cleans every state"({ queue }) {
    for (const state of STATES) await queue.clean(0, 1_000, state);
  },

  "drains the queue": ({ queue }) => queue.drain(true),

  async "retries and promotes everything"({ queue }) {
    await queue.retryJobs({ state: "completed" });
    await queue.retryJobs({ state: "failed" });
    await queue.promoteJobs();
  },

  async "breaks the lock and removes the job"({ queue, system, jobId, jobKey }) {
    // A worker may be looking at what is held back, and has the lock again.
    await eventually(async () => {
      await system.hand.del(`${jobKey}:lock`);
      return (await queue.remove(jobId)) === 1;
    }, "it is removed");
  },

  async "deletes every key of BullMQ"({ system }) {
    await system.hand.del(...(await system.hand.keys(`${BULL_PREFIX}:*`)));
  },

  async "takes the lock"({ system, jobKey }) {
    await system.hand.set(`${jobKey}:lock`, "a stranger");
    return () => system.hand.del(`${jobKey}:lock`);
  },

  async "removes the job and adds it first in line"({ queue, system, record, jobId, jobKey }) {
    await system.hand.del(`${jobKey}:lock`);
    await queue.remove(jobId);
    await queue.add("manual", { logId: record.logId }, { jobId, lifo: true });
  },

  async "adds it to the other lane, and under other ids"({ queue, other, record, jobId }) {
    const { logId } = record;
    await other.add("manual", { logId }, { jobId });
    await queue.addBulk([
      { name: "manual", data: { logId }, opts: { lifo: true } },
      { name: "manual", data: { logId }, opts: { jobId: logId } },
      { name: "manual", data: { logId }, opts: { jobId: jobId.replace(/^./, "x"), attempts: 3 } },
    ]);
    await queue.upsertJobScheduler("manual", { every: 20, limit: 3 }, { data: { logId } });
  },

  async "gives it another operation"({ queue, ann, record, jobId }) {
    const { record: next } = await ann.submit("work", { Name: "b" }, { editor: record.editor });
    await (await queue.getJob(jobId))?.updateData({ logId: next.logId });
    const theirs = await queue.getJob(jobIdOf(next));
    await isDone(theirs?.updateData({ logId: record.logId }));
  },

  async "puts it off for a year"({ queue, record, jobId }) {
    const job = await queue.getJob(jobId);
    const state = await job?.getState();
    if (state === "active") await job?.moveToDelayed(Date.now() + YEAR_MS);
    // A worker may be looking at it.
    else if (state === "delayed") await eventually(() => isDone(job?.changeDelay(YEAR_MS)), "it is put off");
    else {
      await queue.remove(jobId);
      await queue.add("manual", { logId: record.logId }, { jobId, delay: YEAR_MS });
    }
  },

  async "makes it the last, and the first"({ queue, jobId }) {
    const job = await queue.getJob(jobId);
    await isDone(job?.changePriority({ priority: 2_097_151 }));
    await isDone(job?.changePriority({ lifo: true }));
  },

  async "finishes it as a worker would, and retries it"({ queue, system, jobId, jobKey }) {
    const token = "a stranger";
    for (const finish of ["moveToFailed", "moveToCompleted"] as const) {
      await system.hand.set(`${jobKey}:lock`, token, "PX", 5_000);
      const job = await queue.getJob(jobId);
      if (finish === "moveToFailed") await isDone(job?.moveToFailed(new Error("manual"), token));
      else await isDone(job?.moveToCompleted("manual", token, false));
      await system.hand.del(`${jobKey}:lock`);
      await isDone(job?.retry(finish === "moveToFailed" ? "failed" : "completed"));
    }
  },

  async "pauses the queue, and resumes it"({ queue }) {
    await queue.pause();
    return () => queue.resume();
  },

  async "asks for more at once"({ queue }) {
    await queue.setGlobalConcurrency(50);
  },

  async "lets a worker of his own take what waits"({ queue, system }) {
    const stranger = new Worker(queue.name, () => Promise.reject(new Error("not mine")), {
      connection: { ...system.redis.connection, maxRetriesPerRequest: null },
      prefix: BULL_PREFIX,
    });
    stranger.on("error", () => undefined);
    await stranger.waitUntilReady();
    return () => stranger.close();
  },
};

describe.each(played(STAGES, TELLING))("an operation that %s", (_stage, reach) => {
  test.each(Object.keys(HANDS))("while somebody %s: runs once, ends, and stays readable", async (hand) => {
    const scene = await reach();
    const act = HANDS[hand];
    if (!act) throw new Error("no such test");
    const { system, ann, record, args, release } = scene;
    const queue = queueOf(system, record, "main");
    const jobId = jobIdOf(record);
    const jobKey = `${BULL_PREFIX}:${queue.name}:${jobId}`;
    const undo = await act({ ...scene, queue, other: queueOf(system, record, "background"), jobId, jobKey });
    await release();
    if (typeof undo === "function") await undo();

    const ended = { record: { state: "completed" }, result: '{"Done":"a"}' };
    expect(await ann.outcome(record.logId)).toMatchObject(ended);
    // The lane lives on, and what comes behind it comes once too.
    const { record: next } = await ann.submit("work", { Name: "b" }, { editor: record.editor });
    expect(await ann.outcome(next.logId)).toMatchObject({ record: { state: "completed" } });
    const again = await ann.submit("work", args);
    expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
    expect(await system.broker.read("ann", record.logId)).toMatchObject(ended);
    expect([system.executions("a"), system.executions("b")]).toEqual([1, 1]);
    await eventually(
      async () => (await system.store.operations.openOf(record.editor)).length === 0,
      "nothing is open",
    );
  });
});

test("a job id that somebody gave to another job is taken back", async () => {
  const system = await start({ worker: null });
  const first = await system.addWorker();
  await system.present(system.editor);
  await first.close();
  const ann = system.client();
  const { record: left } = await ann.submit("work", { Name: "a" });
  const queue = queueOf(system, left, "main");
  const jobId = jobIdOf(left);
  await queue.remove(jobId);
  await queue.add("manual", { logId: "another" }, { jobId });
  await system.addWorker();
  await eventually(async () => (await queue.getJobState(jobId)) === "completed", "it was looked at");
  // The first gateway has said that it sweeps, for the next hour.
  await system.hand.del(keys.janitor);
  await system.addGateway(OPTIONS.gateway);
  expect(await ann.outcome(left.logId)).toMatchObject({ record: { state: "completed" } });
  expect(system.executions("a")).toBe(1);
});

test("a paused queue begins nothing, and goes on when it is resumed, whichever worker is there then", async () => {
  const system = await start({ worker: null });
  const first = await system.addWorker();
  await system.present(system.editor);
  const ann = system.client();
  const running = await ann.submit("work", { Name: "a", Hold: true });
  await system.bench.begins("a");
  const queue = queueOf(system, running.record, "main");
  await queue.pause();
  const { record } = await ann.submit("work", { Name: "b" });
  system.bench.finish("a");
  // What runs is not the queue's any more.
  expect(await ann.outcome(running.record.logId)).toMatchObject({ record: { state: "completed" } });
  await first.close();
  await system.addWorker();
  await system.present(system.editor);
  const again = await ann.submit("work", { Name: "b" });
  expect(again).toMatchObject({ relation: "joined", record: { logId: record.logId, state: "queued" } });
  expect(system.bench.begun).toEqual(["a"]);
  await queue.resume();
  expect(await ann.outcome(record.logId)).toMatchObject({ record: { state: "completed" } });
  expect(system.executions("b")).toBe(1);
});

test("whatever is done to the queues of an installation, its processes run the call once", async () => {
  const world = await startWorld();
  try {
    const queue = new Queue(queueName(world.editor.editorId, "main"), {
      connection: world.redis.connection,
      prefix: BULL_PREFIX,
    });
    closers.push(() => queue.close());
    const client = await world.http();
    const call = {
      MenuItemPath: "Simulator/Block For 1.5 Seconds",
      idempotency_key: "whatever is done",
      timeout: 0,
    };
    const { log_id } = await client.call("execute-menu-item", call);
    let isOver = false;
    const reading = client.call("get_operation_result", { log_id, wait: true, timeout: 30 }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await queue.obliterate({ force: true });
      await queue.add("manual", { logId: log_id });
      for (const state of STATES) await queue.clean(0, 1_000, state);
      await queue.retryJobs({ state: "completed" });
    }
    const reported = await reading;
    expect(reported).toMatchObject({ status: "completed" });
    await queue.obliterate({ force: true });
    const other = await world.http();
    const again = await other.call("execute-menu-item", { ...call, timeout: 5 });
    expect(again).toMatchObject({ status: "completed", deduplicated: true, log_id, result: reported.result });
    expect(await world.editor.executions()).toHaveLength(1);
    await other.close();
    await client.close();
  } finally {
    await world.close();
  }
});
