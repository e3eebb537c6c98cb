import { FlowProducer, Queue, Worker } from "bullmq";
import { afterEach, describe, expect, test } from "vitest";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const HOURS_MS = 2 * 3_600_000;

/** The main lane's queue in the hands of somebody with a dashboard. */
function dashboard({ redis, editor }: Pick<System, "redis" | "editor">): Queue {
  const queue = new Queue(queueName(editor.editorId, "main"), {
    connection: redis.connection,
    prefix: BULL_PREFIX,
  });
  closers.push(() => queue.close());
  return queue;
}

/** Adds a job, and resolves with what became of it when the worker is done with it. */
async function byHand(queue: Queue, data: unknown, jobId?: string): Promise<unknown> {
  const { id = "" } = await queue.add("manual", data, { priority: 1, ...(jobId ? { jobId } : {}) });
  await eventually(async () => (await queue.getJobState(id)) === "completed", `${id} is done with`);
  return (await queue.getJob(id))?.returnvalue;
}

/** A call that waits for an Editor which no worker owns. `runsOnce`: with the next worker. */
async function unowned() {
  const system = await start({ worker: null, gateway: { sweepMs: 50 } });
  const first = await system.addWorker();
  await system.present(system.editor);
  await first.close();
  const ann = system.client();
  const { record } = await ann.submit("work", { Name: "a" });
  const runsOnce = async (): Promise<void> => {
    await system.addWorker();
    await ann.outcome(record.logId);
    expect(system.executions("a")).toBe(1);
  };
  return { system, record, runsOnce };
}

test("a failed operation's job is among the failed ones", async () => {
  const system = await start();
  const queue = dashboard(system);
  const ann = system.client();
  for (const name of ["first", "second"]) {
    const { record } = await ann.submit("work", { Name: name, Hold: true });
    await system.bench.begins(name);
    system.bench.fail(name, "the disk is full");
    expect((await ann.outcome(record.logId)).record.state).toBe("failed");
  }
  await eventually(async () => (await queue.getFailedCount()) === 2, "both have failed");
  const [job] = await queue.getFailed();
  expect(job).toMatchObject({ failedReason: expect.stringMatching(/^TOOL_FAILED \(\w+\)$/) });
  expect(job?.stacktrace).toEqual([]);
  expect(await queue.getCompletedCount()).toBe(0);
});

describe("a job that no operation made", () => {
  test("whose child failed takes no place in the lane", async () => {
    const system = await start();
    const ann = system.client();
    const queue = dashboard(system);
    await ann.outcome((await ann.submit("work", { Name: "first" })).record.logId);
    await queue.pause();
    const flow = new FlowProducer({ connection: system.redis.connection, prefix: BULL_PREFIX });
    const child = { name: "child", queueName: "children", data: {}, opts: { failParentOnFailure: true } };
    const parent = {
      name: "parent",
      queueName: queue.name,
      data: {},
      opts: { jobId: "parent", priority: 1 },
    };
    await flow.add({ ...parent, children: [child] });
    const connection = { ...system.redis.connection, maxRetriesPerRequest: null };
    const other = new Worker("children", () => Promise.reject(new Error("no")), {
      connection,
      prefix: BULL_PREFIX,
    });
    await eventually(async () => (await queue.getJobState("parent")) === "prioritized", "its child failed");
    await Promise.all([flow.close(), other.close()]);
    // Another one waits behind it: the end of the failed one takes no next one.
    const { record } = await ann.submit("work", { Name: "second" });
    await queue.resume();
    await ann.outcome(record.logId);
    expect(await queue.getJobState("parent")).toBe("failed");
    await ann.outcome((await ann.submit("work", { Name: "third" })).record.logId);
    expect(system.bench.begun).toEqual(["first", "second", "third"]);
  });

  test("with invented data never runs, and does not stop the lane", async () => {
    const system = await start();
    const queue = dashboard(system);
    const invented = {
      logId: "11111111-1111-4111-8111-111111111111",
      tool: "work",
      arguments: { Name: "x" },
    };
    for (const data of [invented, {}, null, "text", [1], { logId: { $ne: null } }, { logId: "" }]) {
      expect(await byHand(queue, data)).toEqual({ processed: "refused" });
    }
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    expect(system.bench.begun).toEqual(["a"]);
  });

  test("under another id never runs an operation, whatever its state", async () => {
    const system = await start();
    const { bench } = system;
    const queue = dashboard(system);
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    const waiting = await ann.submit("work", { Name: "b" });
    const { logId } = waiting.record;
    // It jumps the line, but the first keeps the lane.
    const jumped = await queue.add("manual", { logId }, { jobId: "manual.1" });
    bench.finish("a");
    await eventually(async () => (await jumped.getState()) === "completed", "the hand-made job is done with");
    expect((await queue.getJob("manual.1"))?.returnvalue).toEqual({ processed: "refused" });
    await ann.outcome(logId);
    expect(await byHand(queue, { logId }, "by-hand.2")).toEqual({ processed: "refused" });
    expect(await byHand(queue, { logId: record.logId }, "by-hand.3")).toEqual({ processed: "refused" });

    expect(bench.begun).toEqual(["a", "b"]);
  });

  test("never runs an operation that lost its own job", async () => {
    const system = await start({ worker: null });
    const first = await system.addWorker();
    await system.present(system.editor);
    await first.close();
    const queue = dashboard(system);
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a" });
    const { logId } = record;
    await system.store.queues.remove(record);
    await system.addWorker();
    expect(await byHand(queue, { logId }, "manual.1")).toEqual({ processed: "refused" });
    expect((await system.record(logId)).state).toBe("queued");
    await system.broker.cancel("ann", logId, ann.caller);
    expect(system.bench.begun).toEqual([]);
  });

  test("in the queue of another Editor is refused at once, not handed round", async () => {
    const system = await start();
    const { bench, addEditor, present } = system;
    const second = await addEditor();
    await present(second);
    const ann = system.client();
    await ann.submit("work", { Name: "block", Hold: true }, { editor: "game-1" });
    await bench.begins("block");
    const { record } = await ann.submit("work", { Name: "a" }, { editor: "game-1" });
    const theirs = dashboard({ ...system, editor: second });
    const jobId = `${record.hash}.${record.logId}`;
    expect(await byHand(theirs, { logId: record.logId }, jobId)).toEqual({ processed: "refused" });
    bench.finish("block");
    await ann.outcome(record.logId);
    expect(second.counter()).toEqual([]);
    expect(system.executions("a")).toBe(1);
  });
});

describe("a job that comes again", () => {
  test("retried from a dashboard after the end runs nothing", async () => {
    const system = await start();
    const queue = dashboard(system);
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    const jobId = `${record.hash}.${record.logId}`;
    await eventually(async () => (await queue.getJobState(jobId)) === "completed", "the job is done with");
    for (let times = 0; times < 3; times += 1) {
      const job = await queue.getJob(jobId);
      await job?.retry("completed");
      await eventually(async () => (await queue.getJobState(jobId)) === "completed", "it is done with again");
    }
    expect((await ann.outcome(record.logId)).result).toBe('{"Done":"a"}');
    expect(system.executions("a")).toBe(1);
  });

  test("given out again while its operation runs joins the execution", async () => {
    const system = await start();
    const queue = dashboard(system);
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    const jobId = `${record.hash}.${record.logId}`;
    // Somebody breaks the lock: BullMQ takes the job for stalled and hands it out once more.
    await system.hand.del(`${BULL_PREFIX}:${queue.name}:${jobId}:lock`);
    await eventually(async () => ((await queue.getJob(jobId))?.stalledCounter ?? 0) > 0, "taken for stalled");
    system.bench.finish("a");
    await ann.outcome(record.logId);
    const next = await ann.submit("work", { Name: "b" });
    await ann.outcome(next.record.logId);
    expect(system.bench.begun).toEqual(["a", "b"]);
  });
});

describe("an operation whose job is missing", () => {
  test("whose gateway died before it added it: the janitor adds it", async () => {
    const system = await start({ worker: null, gateway: { sweepMs: 50 } });
    const first = await system.addWorker();
    await system.present(system.editor);
    await first.close();
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a" });
    await dashboard(system).remove(`${record.hash}.${record.logId}`);
    const again = await ann.submit("work", { Name: "a" });
    expect(again).toMatchObject({ relation: "joined", record: { logId: record.logId, state: "queued" } });
    await system.addWorker();
    await ann.outcome(record.logId);
    expect(system.executions("a")).toBe(1);
  });

  test("removed manually while it waited: the janitor adds it again", async () => {
    const system = await start({ gateway: { sweepMs: 50 } });
    const { bench, executions } = system;
    const queue = dashboard(system);
    const ann = system.client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const { record } = await ann.submit("work", { Name: "a" });
    await queue.remove(`${record.hash}.${record.logId}`);
    bench.finish("block");
    await ann.outcome(block.record.logId);
    await ann.outcome(record.logId);
    expect(executions("a")).toBe(1);
  });

  test("whose worker has lost its lock: the janitor adds it again, a locked one it leaves", async () => {
    const { system, runsOnce } = await unowned();
    const name = queueName(system.editor.editorId, "main");
    const taker = new Worker(name, undefined, {
      connection: { ...system.redis.connection, maxRetriesPerRequest: null },
      prefix: BULL_PREFIX,
      autorun: false,
      lockDuration: 3_600_000,
    });
    closers.push(() => taker.close());
    const job = await taker.getNextJob("its lock");
    const queue = dashboard(system);
    await system.gateway.sweep();
    expect(await queue.getJobState(job?.id ?? "")).toBe("active");
    await system.hand.del(`${BULL_PREFIX}:${name}:${job?.id}:lock`);
    await eventually(
      async () => (await queue.getJobState(job?.id ?? "")) === "prioritized",
      "it waits again",
    );
    await runsOnce();
  });

  test("accepted by a clock of Redis that was hours ahead, in whose time a janitor took its turn: added again all the same", async () => {
    const { system, record, runsOnce } = await unowned();
    const key = keys.operation(record.logId);
    const document = JSON.parse((await system.hand.hget(key, "doc")) ?? "{}");
    await system.hand.hset(key, "doc", JSON.stringify({ ...document, acceptedAt: Date.now() + HOURS_MS }));
    await system.hand.set(keys.janitor, "1", "PX", HOURS_MS);
    await dashboard(system).remove(`${record.hash}.${record.logId}`);
    await runsOnce();
  });

  test("finished by a stranger's worker without a run: the janitor adds it again", async () => {
    const { system, record, runsOnce } = await unowned();
    const jobId = `${record.hash}.${record.logId}`;
    const stranger = new Worker(queueName(system.editor.editorId, "main"), async () => "mine now", {
      connection: { ...system.redis.connection, maxRetriesPerRequest: null },
      prefix: BULL_PREFIX,
    });
    const queue = dashboard(system);
    await eventually(async () => (await queue.getJobState(jobId)) === "completed", "the stranger took it");
    await stranger.close();
    await runsOnce();
  });
});

test("an operation that runs and has lost its job is followed to its end by the next owner", async () => {
  const system = await start({ worker: null });
  const first = await system.addWorker();
  await system.present(system.editor);
  const ann = system.client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  await first.close();
  const queue = dashboard(system);
  expect(await queue.remove(`${record.hash}.${record.logId}`)).toBe(1);
  system.bench.finish("a");
  await system.addWorker();
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(system.executions("a")).toBe(1);
});

test("a job that BullMQ has not yet removed never swallows the next operation of the same call", async () => {
  const system = await start({ retentionMs: 200 });
  const queue = dashboard(system);
  const ann = system.client();
  const { record } = await ann.submit("work", { Name: "a" });
  await ann.outcome(record.logId);
  await eventually(
    async () => (await system.broker.read("ann", record.logId)) === "retention_ended",
    "retention ended",
  );
  expect(await queue.getJob(`${record.hash}.${record.logId}`)).toBeDefined();
  const again = await ann.submit("work", { Name: "a" });
  expect(again.relation).toBe("created");
  await eventually(() => system.executions("a") === 2, "it ran");
});
