import { describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { EXPIRY_LIMITS } from "../../../src/shared/operation/expiry.js";
import { keys } from "../../../src/shared/store/keys.js";
import { eventually, PATIENCE_MS } from "../../harness/eventually.js";
import { hasJob } from "../../harness/system/job-state.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Sweeps until the operation ended; the janitor's own clock is tested once, below. */
const limits = (changed: Partial<typeof EXPIRY_LIMITS>) => ({ ...EXPIRY_LIMITS, ...changed });

describe("nothing waits for ever", () => {
  test("queued for an Editor that stays away: expired, said to have never started, and it never does", async () => {
    const system = await start({ gateway: { limits: limits({ absentMs: 1_000 }), sweepMs: 50 } });
    const { client, editor, away, bench, store } = system;
    const ann = client();
    await editor.faults.crash();
    await away(editor);
    const { record } = await ann.submit("work", { Name: "a" });
    const view = await ann.outcome(record.logId);
    expect(view.record.state).toBe("expired");
    expect(answerOf(view)).toMatchObject({ status: "error", error_code: "EXPIRED" });
    expect(answerOf(view).message).toContain("It never started.");

    await editor.faults.restart();
    await system.present(editor);
    await ann.outcome((await ann.submit("work", { Name: "b" })).record.logId);
    expect(bench.begun).toEqual(["b"]);
    await eventually(async () => !(await hasJob(store, record)), "its job is gone");

    const again = await ann.submit("work", { Name: "a" });
    expect(again.relation).toBe("created");
    await ann.outcome(again.record.logId);
    expect(bench.begun).toEqual(["b", "a"]);
  });

  test("behind a long operation of an Editor that is there it waits on", async () => {
    const { client, bench, gateway, store } = await start({
      gateway: { limits: limits({ absentMs: 2_000 }) },
    });
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const { record } = await ann.submit("work", { Name: "a" });
    await eventually(
      async () => (await store.operations.now()) - record.acceptedAt > 2_200,
      "it waited longer than an absence may last",
    );
    await gateway.sweep();
    expect((await ann.until(record.logId, () => true)).record.state).toBe("queued");
    bench.finish("block");
    await ann.outcome(block.record.logId);
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  });

  test("… but not longer than anything may wait", async () => {
    const { client, bench, gateway } = await start({
      gateway: { limits: limits({ absentMs: 100, unsentMs: 100 }) },
    });
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const { record } = await ann.submit("work", { Name: "a" });
    await eventually(async () => {
      await gateway.sweep();
      return (await ann.until(record.logId, () => true)).record.state === "expired";
    }, "it expired");
    bench.finish("block");
    expect((await ann.outcome(block.record.logId)).record.state).toBe("completed");
    expect(bench.begun).toEqual(["block"]);
  });

  test("running on an Editor that never tells: interrupted, its outcome unknown, not run again", async () => {
    const { client, bench, gateway, editor, executions } = await start({
      gateway: { limits: limits({ absentMs: 100, sentMs: 100 }) },
    });
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await bench.begins("a");
    await eventually(async () => {
      await gateway.sweep();
      return (await ann.until(record.logId, () => true)).record.state === "interrupted";
    }, "it was given up");
    const again = await ann.submit("work", { Name: "a", Hold: true });
    expect(again).toMatchObject({ relation: "replayed", record: { error: { code: "OUTCOME_UNKNOWN" } } });
    bench.finish("a");
    await eventually(() => editor.status().unacknowledged.length === 0, "the late outcome is acknowledged");
    expect((await ann.outcome(record.logId)).record.state).toBe("interrupted");
    expect(executions("a")).toBe(1);
  });
});

describe("everything stood still", () => {
  /** `a` waits behind a running operation, and nobody has swept or been heard of for longer than an absence may last. */
  async function pause() {
    const patient = { limits: limits({ absentMs: 1_000 }), sweepMs: 20 };
    const system = await start({ worker: null, gateway: patient });
    const { client, bench, editor, gateway, hand, store } = system;
    const worker = await system.addCabledWorker(editor);
    await system.present(editor);
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const { record } = await ann.submit("work", { Name: "a" });
    await eventually(async () => (await hand.exists(keys.swept)) === 1, "somebody has swept");
    worker.freeze();
    await gateway.close();
    const stoppedAt = await store.operations.now();
    await eventually(
      async () => (await store.operations.now()) - stoppedAt > 1_500,
      "it lasted longer than an absence may",
    );
    return { ...system, worker, block, record };
  }

  test("W8: a VM pause longer than the absence limit expires nothing before the first heartbeat is stored", async () => {
    const { addGateway, worker, bench, block, record } = await pause();
    const awake = await addGateway();
    await awake.sweep();
    expect(await awake.broker.read("ann", record.logId)).toMatchObject({
      record: { state: "queued" },
    });
    worker.toRedis.fix();
    worker.toEditor.fix();
    bench.finish("block");
    for (const { logId } of [block.record, record]) {
      const view = await awake.broker.wait("ann", logId, { ms: PATIENCE_MS });
      expect(view).toMatchObject({ record: { state: "completed" } });
    }
    expect(bench.begun).toEqual(["block", "a"]);
  });

  test("W8: … and an Editor that does not come back has one full absence time anew, not two", async () => {
    const { addGateway, store, bench, worker, block, record } = await pause();
    const awakeAt = await store.operations.now();
    const { broker } = await addGateway();
    await eventually(
      async () => (await store.operations.find(record.logId))?.state === "expired",
      "it expired",
    );
    const { endedAt = 0 } = (await store.operations.find(record.logId)) ?? {};
    expect(endedAt - awakeAt).toBeGreaterThanOrEqual(1_000);
    worker.toRedis.fix();
    worker.toEditor.fix();
    bench.finish("block");
    expect(await broker.wait("ann", block.record.logId, { ms: PATIENCE_MS })).toMatchObject({
      record: { state: "completed" },
    });
    expect(bench.begun).toEqual(["block"]);
  });
});

describe("retention", () => {
  test("afterwards the log_id is known as ended to its principal alone", async () => {
    const { client, broker, hand } = await start({ retentionMs: 150 });
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    const { logId } = record;
    await eventually(
      async () => (await broker.read("ann", logId)) === "retention_ended",
      "the retention ended",
    );
    expect(await broker.wait("ann", logId, { ms: 10_000 })).toBe("retention_ended");
    expect(await broker.cancel("ann", logId, ann.caller)).toBe("retention_ended");
    expect(await broker.read("bob", logId)).toBeUndefined();
    expect(await broker.read("ann", "never-existed")).toBeUndefined();
    expect(await broker.list("ann", 10)).toEqual([]);
    const left = (await hand.keys(`{ujb}:*:${logId}`)).sort();
    expect(left).toEqual([`{ujb}:tombstone:${logId}`]);
    expect(await hand.pttl(`{ujb}:tombstone:${logId}`)).toBeGreaterThan(0);
    expect(await hand.pttl(`{ujb}:chain:${record.hash}`)).toBeGreaterThanOrEqual(-2);
  });

  test("counts from the end: what runs longer than that is kept", async () => {
    const { client, bench, store, hand } = await start({ retentionMs: 100 });
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    bench.report("a", { progress: 1, partialResult: { One: true } });
    await eventually(
      async () => (await store.operations.now()) - record.acceptedAt > 300,
      "it took longer than the retention",
    );
    expect(await hand.pttl(`{ujb}:operation:${record.logId}`)).toBe(-1);
    expect((await ann.until(record.logId, () => true)).record.state).toBe("running");
    bench.finish("a");
    await ann.outcome(record.logId);
  });

  test("a result keeps as long as its record, and a wait that spans the end is answered", async () => {
    const { client, broker } = await start({ retentionMs: 3_600_000 });
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    const view = await ann.outcome(record.logId);
    expect(view.result).toBe('{"Done":"a"}');
    expect((await broker.list("ann", 5)).map(({ result }) => result)).toEqual([undefined]);
  });
});
