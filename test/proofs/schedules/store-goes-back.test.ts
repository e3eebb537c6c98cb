/**
 * The schedules in which the store forgets what an Editor did: Redis is really put back to an older copy of its data.
 * In each the same call comes again, and the Editor's own account says how often it began.
 */
import { describe, expect, test } from "vitest";
import { EXPIRY_LIMITS } from "../../../src/shared/operation/expiry.js";
import { askingOf } from "../../../src/shared/operation/operation.js";
import { eventually } from "../../harness/eventually.js";
import type { Client } from "../../harness/system/client.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const HOUR = 3_600_000;

/** Outcomes stay in the Editor; no worker yet. */
const stage = async (options: SystemOptions = {}): Promise<{ system: System; ann: Client }> => {
  const gateway = { safetyPollMs: 100, ...options.gateway };
  const system = await start({ ...options, commandTimeoutMs: 500, gateway, worker: null });
  return { system, ann: system.client() };
};
const withWorker = async <T>(system: System, act: () => Promise<T>): Promise<T> => {
  const worker = await system.addWorker({ ackDelayMs: HOUR });
  await system.present(system.editor);
  const result = await act();
  await worker.close();
  return result;
};
/** It names its Editor: one that does not waits until the Editor is back (W22). */
const submit = (client: Client, parameters?: Record<string, unknown>) =>
  whenStoreIsBack(() => client.submit("work", { Name: "a" }, { editor: "game-1", ...parameters })).then(
    ({ record }) => record,
  );
const outcome = (client: Client, logId: string) =>
  whenStoreIsBack(() => client.outcome(logId)).then(({ record }) => record);

/** op1 ran, and the store goes back to when it knew the Editor and not the call. */
const forgotten = async (options?: SystemOptions) => {
  const { system, ann } = await stage(options);
  await withWorker(system, async () => undefined);
  const copy = await system.redis.copy();
  const op1 = await withWorker(system, async () => outcome(ann, (await submit(ann)).logId));
  await system.redis.restore(copy);
  return { system, ann, op1 };
};
/** … and its retry, op2, expired before it was sent. */
const forgottenAndExpired = async () => {
  const { system, ann, op1 } = await forgotten({
    gateway: { limits: { ...EXPIRY_LIMITS, absentMs: 1, unsentMs: 1 } },
  });
  const op2 = await submit(ann);
  await whenStoreIsBack(() => system.gateway.sweep());
  expect((await outcome(ann, op2.logId)).state).toBe("expired");
  return { system, ann, op1, op2 };
};

describe("▲10 the store forgot what the Editor ran", () => {
  test("schedule D: the retry, made before the Editor tells of the first run, does not run", async () => {
    const { system, ann, op1 } = await forgotten();
    const op2 = await submit(ann);
    expect(op2).toMatchObject({ after: null });
    const ended = await withWorker(system, () => outcome(ann, op2.logId));
    expect(ended).toMatchObject({ state: "completed", executedAs: op1.logId });
    expect(system.executions("a")).toBe(1);
  });

  test("schedule D: whoever asked for the retry is owed the run that was forgotten", async () => {
    const { system, ann, op1 } = await forgotten();
    const [bob, carl] = ["bob", "carl"].map((id) => system.client("ann", { id, transport: "http" })) as [
      Client,
      Client,
    ];
    const op2 = await submit(bob);
    expect((await submit(carl)).logId).toBe(op2.logId);
    await withWorker(system, () => outcome(ann, op2.logId));
    const owed = await whenStoreIsBack(() => system.record(op1.logId));
    for (const { caller } of [bob, carl]) expect(askingOf(owed, caller)).toEqual({});
  });

  test("schedule D: what another run answered is superseded by its own log_id", async () => {
    const { system, ann, op1 } = await forgotten();
    const op2 = await submit(ann);
    const op3 = await withWorker(system, async () => {
      expect(await outcome(ann, op2.logId)).toMatchObject({ executedAs: op1.logId });
      return outcome(ann, (await submit(ann, { force_new: op2.logId })).logId);
    });
    expect(op3).toMatchObject({ state: "completed", supersedes: op2.logId });
    expect(op3.executedAs).toBeUndefined();
    expect(system.executions("a")).toBe(2);
  });

  test("schedule E: only the revoked one before it is remembered; the retry is the run that was forgotten", async () => {
    const { system, ann } = await stage();
    const { redis, editor, executions } = system;
    const op1 = await withWorker(system, async () => {
      editor.faults.stallMainThread(HOUR);
      const { logId } = await submit(ann);
      await eventually(() => editor.status().open.length === 1, "it was sent");
      await editor.faults.crash();
      await editor.faults.restart();
      return outcome(ann, logId);
    });
    expect(op1.state).toBe("interrupted");
    const force_new = op1.logId;
    const copy = await redis.copy();
    const op2 = await withWorker(system, async () => outcome(ann, (await submit(ann, { force_new })).logId));
    expect(op2.after).toBe(op1.logId);
    await redis.restore(copy);
    const op3 = await submit(ann, { force_new });
    expect(op3).toMatchObject({ after: op1.logId });
    const ended = await withWorker(system, () => outcome(ann, op3.logId));
    expect(ended).toMatchObject({ state: "completed", executedAs: op2.logId });
    expect(executions("a")).toBe(1);
  });

  test("schedule F: the retry expired unsent; the retry of the retry is the run that was forgotten", async () => {
    const { system, ann, op1, op2 } = await forgottenAndExpired();
    const op3 = await submit(ann);
    expect(op3).toMatchObject({ after: op2.logId });
    const ended = await withWorker(system, () => outcome(ann, op3.logId));
    expect(ended).toMatchObject({ state: "completed", executedAs: op1.logId });
    expect(system.executions("a")).toBe(1);
  });

  test("schedule G: a forced run does not take the old outcome of what it supersedes", async () => {
    const { system, ann, op1, op2 } = await forgottenAndExpired();
    const ended = await withWorker(system, async () => {
      await eventually(
        async () => (await system.store.operations.find(op1.logId)) !== undefined,
        "the Editor knew it",
      );
      // The store believes that op2 was the last, the Editor knows that it was op1.
      const op3 = await submit(ann, { force_new: op1.logId });
      expect(op3).toMatchObject({ after: op2.logId, supersedes: op1.logId });
      return outcome(ann, op3.logId);
    });
    expect(ended.state).toBe("completed");
    expect(ended.executedAs).toBeUndefined();
    expect(system.executions("a")).toBe(2);
  });
});

describe("▲10 (a), ▲11 the store's epoch goes back", () => {
  test("schedule M: the rightful owner is refused once, and raises it", async () => {
    const { system, ann } = await stage();
    const { redis, hand, editor, executions } = system;
    await withWorker(system, async () => undefined);
    const copy = await redis.copy();
    for (let owners = 0; owners < 3; owners += 1) await withWorker(system, async () => undefined);
    const epochKey = (await hand.keys("{ujb}:epoch:*"))[0] ?? "";
    const highest = Number(await hand.get(epochKey));
    await redis.restore(copy);
    await whenStoreIsBack(() => submit(ann));
    expect(Number(await hand.get(epochKey))).toBeLessThan(highest);
    await withWorker(system, async () => eventually(() => executions("a") === 1, "it ran"));
    expect(Number(await hand.get(epochKey))).toBeGreaterThan(highest);
    expect(editor.counter()).toHaveLength(1);
  });

  test("schedule M: of two owners with the same epoch one is left", async () => {
    const { system, ann } = await stage();
    const { redis, hand, editor, bench, executions } = system;
    const before = await redis.copy();
    // Frozen, it holds epoch 1 and believes in it.
    const first = await system.addCabledWorker(editor, { ackDelayMs: HOUR });
    await system.present(editor);
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    first.freeze();
    await redis.restore(before);
    await system.addWorker();
    const epochKey = "{ujb}:epoch:*";
    await eventually(async () => {
      const [key = ""] = await hand.keys(epochKey);
      return Number(await hand.get(key)) === 2;
    }, "the second owner raised the same epoch");
    first.toRedis.fix();
    first.toEditor.fix();
    await whenStoreIsBack(() => system.present(editor));
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "a", Hold: true }));
    bench.finish("a");
    const ended = await outcome(ann, again.record.logId);
    expect(ended.state).toBe("completed");
    expect(ended.executedAs ?? ended.logId).toBe(record.logId);
    expect(executions("a")).toBe(1);
  });
});

describe("▲14 the store reported an outcome, and lost it", () => {
  test("schedule V: the Editor still has it, and it is stored again", async () => {
    const { system, ann } = await stage();
    const { redis, editor, bench, executions } = system;
    await system.addWorker({ ackDelayMs: 2_000 });
    await system.present(editor);
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    const copy = await redis.copy();
    bench.finish("a");
    expect((await outcome(ann, record.logId)).state).toBe("completed");
    expect(editor.status().unacknowledged).toHaveLength(1);
    await redis.restore(copy);
    const { record: again, result } = await whenStoreIsBack(() => ann.outcome(record.logId));
    expect({ state: again.state, result }).toEqual({ state: "completed", result: '{"Done":"a"}' });
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged in the end");
    expect((await system.record(record.logId)).state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("schedule V: the store forgets the whole call within that time; its log_id is reported by the Editor", async () => {
    const { system, ann } = await stage();
    const { redis, editor, store } = system;
    await system.addWorker({ ackDelayMs: 1_000 });
    await system.present(editor);
    const copy = await redis.copy();
    const { logId } = await submit(ann);
    expect((await outcome(ann, logId)).state).toBe("completed");
    await redis.restore(copy);
    await eventually(
      async () => (await whenStoreIsBack(() => store.operations.find(logId)))?.state === "completed",
      "its record is there again",
    );
    expect((await system.record(logId)).rebuilt, "the store had forgotten it").toBe(true);
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged in the end");
    expect(system.executions("a")).toBe(1);
  });
});
