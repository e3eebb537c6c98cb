/** A store that has lost something may show in a pool what one of its Editors has run: nobody else runs it (▲13). */
import { expect, test } from "vitest";
import { forget } from "../../harness/system/said-of-editors.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Whatever waits for an Editor that is not there expires with the next round. */
const HASTY: SystemOptions = {
  commandTimeoutMs: 2_000,
  gateway: {
    backMs: 0,
    limits: { absentMs: 0, unsentMs: 3_600_000, sentMs: 3_600_000 },
  },
  editor: { labels: ["android"] },
};

interface Farm extends System {
  second: System["editor"];
  worker: Awaited<ReturnType<System["addWorker"]>>;
  ann: ReturnType<System["client"]>;
  /** Occupies this Editor's main lane until the work of this name is finished. */
  block(editor: System["editor"], name: string): Promise<void>;
  /** Resolves when the Editor has heard that all outcomes are stored. */
  acknowledged(editor: System["editor"]): Promise<void>;
}

async function farm(options = HASTY): Promise<Farm> {
  const system = await start({ ...options, worker: null });
  const worker = await system.addWorker();
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([system.present(system.editor), system.present(second)]);
  const ann = system.client();
  return {
    ...system,
    second,
    ann,
    worker,
    async block({ editorId }, Name) {
      await ann.submit("work", { Name, Hold: true }, { editor: editorId });
      await system.bench.begins(Name);
    },
    acknowledged: (editor) =>
      eventually(() => editor.status().unacknowledged.length === 0, "all is acknowledged"),
  };
}

const CALL = ["work", { Name: "a" }, { editor: "pool:android" }] as const;

async function restored({ redis, store }: System, copy: string): Promise<void> {
  await redis.restore(copy);
  await whenStoreIsBack(() => store.operations.now());
}

/** It has been everybody's turn: what was to happen without a message has happened. */
async function sweep({ gateway }: System): Promise<void> {
  await whenStoreIsBack(gateway.sweep);
  await whenStoreIsBack(gateway.sweep);
}

/** An Editor that is free looks into its lanes, and into the pools, all the time. */
async function finishes({ ann, bench }: Farm, editor: System["editor"], name: string): Promise<void> {
  bench.finish(name);
  for (const next of ["next", "and the next"]) {
    const call = ann.callOf("work", { Name: `${next} to ${name}` }, { editor: editor.editorId });
    const { record } = await whenStoreIsBack(() => ann.send(call));
    await whenStoreIsBack(() => ann.outcome(record.logId));
  }
}

test("▲13 an older copy of the store has it in the pool, and the Editor that ran it is away: no other Editor runs it", async () => {
  const system = await farm();
  const { ann, editor, second, bench, redis, executions, away } = system;
  await system.block(editor, "one");
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  await ann.reaches(record.logId, "queued");
  const { state, editor: pool, turn } = await system.record(record.logId);
  const copy = await redis.copy();
  bench.finish("one");
  expect((await ann.outcome(record.logId)).record.editor).toBe(editor.editorId);
  await system.acknowledged(editor);
  await editor.faults.crash();
  await away(editor);
  await restored(system, copy);
  await finishes(system, second, "two");
  await sweep(system);
  // Not taken and given back either: that would have cost it its turn.
  expect(await system.record(record.logId)).toMatchObject({ state, editor: pool, turn });
  const again = await whenStoreIsBack(() => ann.submit(...CALL));
  expect(again).toMatchObject({ relation: "joined", record: { logId: record.logId } });
  await editor.faults.restart();
  expect((await ann.outcome(record.logId)).record).toMatchObject({
    state: "completed",
    editor: editor.editorId,
  });
  expect(executions("a")).toBe(1);
});

test("▲13 an older copy has it with an Editor that gave it back unsent: that Editor does not run it", async () => {
  const system = await farm();
  const { ann, editor, second, store, redis, executions, away, bench } = system;
  await system.block(editor, "one");
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  const incarnation = await store.operations.incarnation();
  await store.operations.move(record.logId, () => editor.editorId, { incarnation });
  const copy = await redis.copy();
  await store.operations.move(record.logId, ({ pool }) => pool, { incarnation });
  bench.finish("two");
  expect((await ann.outcome(record.logId)).record.editor).toBe(second.editorId);
  await system.acknowledged(second);
  await second.faults.crash();
  await away(second);
  await restored(system, copy);
  await finishes(system, editor, "one");
  await sweep(system);
  expect(await system.record(record.logId)).toMatchObject({ state: "queued", editor: "pool:android" });
  await second.faults.restart();
  expect((await ann.outcome(record.logId)).record).toMatchObject({
    state: "completed",
    editor: second.editorId,
  });
  expect(executions("a")).toBe(1);
});

test("▲13 the janitor takes it back while the Editor that ran it says what it knows: no other Editor runs it", async () => {
  const system = await farm();
  const { ann, editor, second, store, redis, executions, bench } = system;
  await system.block(editor, "one");
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  const takenBy = async (to: string): Promise<unknown> =>
    store.operations.move(record.logId, () => to, { incarnation: await store.operations.incarnation() });
  await takenBy(editor.editorId);
  const copy = await redis.copy();
  bench.finish("one");
  expect((await ann.outcome(record.logId)).record.editor).toBe(editor.editorId);
  await system.worker.close();
  await restored(system, copy);
  // Between two writes of the import.
  let isGivenBack = false;
  const change: typeof store.operations.change = async (logId, ...how) => {
    if (logId === record.logId && !isGivenBack) {
      isGivenBack = true;
      await takenBy("pool:android");
    }
    return store.operations.change(logId, ...how);
  };
  await system.addWorkerHere({}, { ...store, operations: { ...store.operations, change } });
  await finishes(system, second, "two");
  await sweep(system);
  expect((await ann.outcome(record.logId)).record).toMatchObject({
    state: "completed",
    editor: editor.editorId,
  });
  expect([isGivenBack, executions("a")]).toEqual([true, 1]);
});

test("▲13 an older copy has it sent to an Editor that gave it back: unknown there, its outcome is unknown", async () => {
  const system = await farm();
  const { ann, editor, second, store, redis, executions, away, bench, hand } = system;
  await system.block(editor, "one");
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  const incarnation = await store.operations.incarnation();
  await store.operations.move(record.logId, () => editor.editorId, { incarnation });
  const sent = { state: "dispatched", sentIn: editor.status().editorSessionId, dispatchedAt: Date.now() };
  const key = `{ujb}:operation:${record.logId}`;
  const waiting = JSON.parse((await hand.hget(key, "doc")) ?? "");
  await hand.hset(key, "doc", JSON.stringify({ ...waiting, ...sent }));
  const copy = await redis.copy();
  await hand.hset(key, "doc", JSON.stringify(waiting));
  await store.operations.move(record.logId, ({ pool }) => pool, { incarnation });
  bench.finish("two");
  expect((await ann.outcome(record.logId)).record.editor).toBe(second.editorId);
  await system.acknowledged(second);
  await second.faults.crash();
  await away(second);
  await restored(system, copy);
  await finishes(system, editor, "one");
  expect((await ann.outcome(record.logId)).record).toMatchObject({ state: "interrupted" });
  expect(executions("a")).toBe(1);
});

test("▲13 while the Editors of a pool are missing, another Editor's tool of that name says nothing of a call's arguments", async () => {
  const system = await start({ ...HASTY, worker: null });
  await system.addWorker();
  const [work] = system.bench.tools;
  const toolWith = (parameter: string) => {
    const properties = { [parameter]: { type: "string" } };
    return {
      ...work,
      name: "pack",
      inputSchema: { type: "object", properties, required: [parameter] },
    } as never;
  };
  const packing = await system.addEditor({ labels: ["windows"], tools: [toolWith("Name")] });
  const stranger = await system.addEditor({ tools: [toolWith("Other")] });
  await Promise.all([system.present(packing), system.present(stranger)]);
  const ann = system.client();
  const call = ["pack", { Name: "a" }, { editor: "pool:windows" }] as const;
  const { record } = await ann.submit(...call);
  await ann.outcome(record.logId);
  await packing.faults.crash();
  await system.away(packing);
  await system.hand.flushdb();
  await system.present(stranger);
  await expect(ann.submit(...call)).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
});

test("▲13 the store is emptied: the same call is refused until the Editor that ran it is back, and then answered", async () => {
  const system = await farm();
  const { ann, editor, second, redis, executions, away, bench, hand, present } = system;
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  expect((await ann.outcome(record.logId)).record.editor).toBe(editor.editorId);
  await editor.faults.crash();
  await away(editor);
  void redis;
  await hand.flushdb();
  await present(second);
  await expect(ann.submit(...CALL)).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
  await editor.faults.restart();
  await present(editor);
  const again = await ann.submit(...CALL);
  expect(again).toMatchObject({
    relation: "replayed",
    record: { logId: record.logId, pool: "pool:android" },
  });
  expect(executions("a")).toBe(1);
  bench.finish("two");
});

test("▲13 a person forgets the Editor that ran it: nobody knows whether it ran, and no other Editor runs it", async () => {
  const { gateway: _hasty, ...patient } = HASTY;
  const system = await farm({ ...patient, gateway: { backMs: 0 } });
  const { ann, editor, second, bench, redis, executions, away } = system;
  await system.block(editor, "one");
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  await ann.reaches(record.logId, "queued");
  const copy = await redis.copy();
  bench.finish("one");
  await ann.outcome(record.logId);
  await system.acknowledged(editor);
  await editor.faults.crash();
  await away(editor);
  await restored(system, copy);
  await finishes(system, second, "two");
  const isAway = async (): Promise<boolean> =>
    (await system.broker.editors()).editors.some(
      (known) => known.profile.editorId === editor.editorId && !known.connected,
    );
  await eventually(isAway, "its Editor is away");
  const { ended } = await forget(system, editor.editorId, true);
  expect(ended).toContainEqual(
    expect.objectContaining({
      logId: record.logId,
      state: "interrupted",
      error: expect.objectContaining({
        message: expect.stringContaining("may have run it for pool:android"),
      }),
    }),
  );
  await sweep(system);
  expect(executions("a")).toBe(1);
});

test("▲13 what waited when the store lost something runs once all its Editors are back", async () => {
  const { gateway: _hasty, ...patient } = HASTY;
  const system = await farm({ ...patient, gateway: { backMs: 0 } });
  const { ann, editor, second, bench, redis, executions } = system;
  await system.block(editor, "one");
  await system.block(second, "two");
  const { record } = await ann.submit(...CALL);
  const copy = await redis.copy();
  await restored(system, copy);
  await finishes(system, second, "two");
  await eventually(async () => {
    await sweep(system);
    return (await system.record(record.logId)).state === "completed";
  }, "the pool is open again");
  expect(executions("a")).toBe(1);
  bench.finish("one");
});
