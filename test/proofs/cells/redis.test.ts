/** Redis restarts on what it wrote, or on an older copy of it; worker, gateway and Editor live on. */
import { describe, expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import type { Client } from "../../harness/system/client.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const HOUR = 3_600_000;
/** Waits may look for themselves: the message that ends them may be lost with the store. */
const OPTIONS = { commandTimeoutMs: 500, gateway: { safetyPollMs: 100 } };

const outcome = (client: Client, logId: string) => whenStoreIsBack(() => client.outcome(logId));

/** The Editor has it, nobody has heard its answer; it ends when the test says so. */
async function sent({ editor, bench }: System, ann: Client): Promise<string> {
  editor.faults.silence();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  return record.logId;
}

async function running(ann: Client): Promise<string> {
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  return record.logId;
}

describe("Redis restarts on its AOF", () => {
  test("Redis restarts · sent: the same id is submitted again, and attaches", async () => {
    const system = await start(OPTIONS);
    const { client, redis, editor, bench, executions } = system;
    const ann = client();
    const logId = await sent(system, ann);
    expect((await system.record(logId)).state).toBe("dispatched");
    await redis.kill();
    editor.faults.dropConnections();
    editor.faults.speak();
    await redis.restart();
    bench.finish("a");
    expect((await outcome(ann, logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("Redis restarts · running: goes on, and progress catches up", async () => {
    const system = await start(OPTIONS);
    const { client, redis, bench, executions } = system;
    const ann = client();
    const logId = await running(ann);
    await redis.kill();
    bench.report("a", { progress: 3, total: 9, message: "while nobody could read" });
    await redis.restart();
    bench.report("a", { progress: 7, total: 9, message: "again" });
    const shown = await whenStoreIsBack(() => ann.until(logId, ({ progress }) => progress?.progress === 7));
    expect(shown.record.state).toBe("running");
    bench.finish("a");
    expect((await outcome(ann, logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("Redis restarts · finished: stored again, and acknowledged", async () => {
    const system = await start(OPTIONS);
    const { client, redis, editor, bench, executions } = system;
    const ann = client();
    const logId = await running(ann);
    await redis.kill();
    bench.finish("a");
    await eventually(
      () => editor.status().unacknowledged.length === 1,
      "it ended while nothing could be stored",
    );
    await redis.restart();
    expect((await outcome(ann, logId)).result).toBe('{"Done":"a"}');
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    expect(executions("a")).toBe(1);
  });
});

describe("Redis is restored from a copy that knows nothing of the call", () => {
  test("Redis goes back · queued: lost before it was sent, so the retry creates it, and it runs once", async () => {
    const system = await start(OPTIONS);
    const { client, redis, bench, executions, store } = system;
    const ann = client();
    const first = await ann.submit("work", { Name: "first", Hold: true });
    await ann.reaches(first.record.logId, "running");
    const copy = await redis.copy();
    const lost = await ann.submit("work", { Name: "a" });
    await ann.reaches(lost.record.logId, "queued");
    await redis.restore(copy);
    expect(await whenStoreIsBack(() => store.operations.find(lost.record.logId))).toBeUndefined();
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "a" }));
    expect(again.relation).toBe("created");
    bench.finish("first");
    expect((await outcome(ann, again.record.logId)).record.state).toBe("completed");
    expect((await outcome(ann, first.record.logId)).record.state).toBe("completed");
    expect([executions("first"), executions("a")]).toEqual([1, 1]);
  });

  const forgets = async (bring: (system: System, ann: Client) => Promise<string>): Promise<void> => {
    const system = await start({ ...OPTIONS, worker: { ackDelayMs: HOUR } });
    const { client, redis, editor, bench, executions } = system;
    const ann = client();
    const copy = await redis.copy();
    const logId = await bring(system, ann);
    await redis.restore(copy);
    editor.faults.speak();
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "a", Hold: true }));
    if (editor.status().open.length > 0) bench.finish("a");
    const view = await outcome(ann, again.record.logId);
    expect(view).toMatchObject({ record: { state: "completed" }, result: '{"Done":"a"}' });
    expect(view.record.executedAs ?? view.record.logId).toBe(logId);
    expect(executions("a")).toBe(1);
  };

  test("Redis goes back · sent: the retry is the same execution", () => forgets(sent));

  test("Redis goes back · running: the retry is the same execution", () =>
    forgets((_system, ann) => running(ann)));

  test("Redis goes back · finished: the retry gets the same outcome", () =>
    forgets(async ({ bench, editor }, ann) => {
      const logId = await running(ann);
      bench.finish("a");
      await ann.outcome(logId);
      expect(editor.status().unacknowledged).toHaveLength(1);
      return logId;
    }));
});
