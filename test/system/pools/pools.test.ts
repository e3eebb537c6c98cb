/** Pools (▲13): a call for any Editor with these labels is run by the first one that is idle, once. */
import { Queue } from "bullmq";
import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { EXPIRY_LIMITS } from "../../../src/shared/operation/expiry.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

interface Farm extends System {
  second: System["editor"];
}

/** Two Editors of the pool `android`, of which one is also `gpu`. */
async function farm(): Promise<Farm> {
  const system = await start({ editor: { labels: ["android", "GPU"] } });
  const second = await system.addEditor({ labels: ["Android"] });
  await Promise.all([system.present(system.editor), system.present(second)]);
  return { ...system, second };
}

const POOL = { editor: "pool:android" };

test("calls for a pool are spread over its idle Editors, each runs once, and the answer says where", async () => {
  const { client, bench, editor, second, executions } = await farm();
  const ann = client();
  const held = await Promise.all(["a", "b"].map((Name) => ann.submit("work", { Name, Hold: true }, POOL)));
  await Promise.all([bench.begins("a"), bench.begins("b")]);
  const views = await Promise.all(held.map(({ record }) => ann.reaches(record.logId, "running")));
  expect(new Set(views.map(({ record }) => record.editor))).toEqual(
    new Set([editor.editorId, second.editorId]),
  );
  expect(answerOf(views[0] as never)).toMatchObject({ pool: "pool:android", state: "running" });
  const third = await ann.submit("work", { Name: "c" }, POOL);
  const waiting = await ann.until(third.record.logId, ({ pool }) => pool !== undefined);
  expect(answerOf(waiting).message).toContain("It waits for an idle Editor of pool:android (2 connected).");
  bench.finish("b");
  const ended = await ann.outcome(third.record.logId);
  expect(ended.record).toMatchObject({ state: "completed", editor: views[1]?.record.editor });
  bench.finish("a");
  await ann.outcome(held[0]?.record.logId ?? "");
  expect(["a", "b", "c"].map(executions)).toEqual([1, 1, 1]);
});

test("▲4 the same call is answered by the operation of its pool, whichever Editor ran it and however the pool is written", async () => {
  const { client, executions, editor, second } = await farm();
  const ann = client();
  const pool = { editor: "pool:gpu,android" };
  const { record } = await ann.submit("work", { Name: "a" }, pool);
  expect(record).toMatchObject({ editor: "pool:android,gpu", pool: "pool:android,gpu" });
  expect((await ann.outcome(record.logId)).record.editor).toBe(editor.editorId);
  for (const again of [pool, { editor: "POOL:Android, GPU" }, {}, { editor: editor.editorId }])
    expect(await ann.submit("work", { Name: "a" }, again)).toMatchObject({
      relation: "replayed",
      record: { logId: record.logId },
    });
  // Another pool, or an Editor that did not run it, is another target.
  const other = await ann.submit("work", { Name: "a" }, { editor: second.editorId });
  expect(other.relation).toBe("created");
  await ann.outcome(other.record.logId);
  expect(executions("a")).toBe(2);
});

test("▲4 one that never began is passed over, in a pool too", async () => {
  const { client, editor, bench, broker, executions } = await farm();
  const ann = client();
  const gpu = { editor: "pool:gpu" };
  const named = { editor: editor.editorId };
  const first = await ann.submit("work", { Name: "a" }, gpu);
  await ann.outcome(first.record.logId);
  // The Editor runs the call again, by its own name: its newest is not the pool's.
  const second = await ann.submit("work", { Name: "a" }, { ...named, force_new: first.record.logId });
  await ann.outcome(second.record.logId);
  await ann.submit("work", { Name: "held", Hold: true }, named);
  await bench.begins("held");
  const third = await ann.submit("work", { Name: "a" }, { ...gpu, force_new: second.record.logId });
  expect(third).toMatchObject({ relation: "created", record: { editor: "pool:gpu" } });
  await broker.cancel("ann", third.record.logId, ann.caller);
  expect(await client("bob").submit("work", { Name: "b" }, gpu)).toMatchObject({ relation: "created" });
  const again = await client("ann", { id: "another session", transport: "http" }).submit(
    "work",
    { Name: "a" },
    gpu,
  );
  expect(again).toMatchObject({ relation: "replayed", record: { logId: first.record.logId } });
  bench.finish("held");
  expect(executions("a")).toBe(2);
});

test("a call joins the one that waits in the pool, which can be cancelled there", async () => {
  const { client, bench, broker, executions } = await farm();
  const ann = client();
  const gpu = { editor: "pool:gpu" };
  const held = await ann.submit("work", { Name: "a", Hold: true }, gpu);
  await bench.begins("a");
  const waiting = await ann.submit("work", { Name: "b" }, gpu);
  expect(await ann.submit("work", { Name: "b" }, gpu)).toMatchObject({
    relation: "joined",
    record: { logId: waiting.record.logId },
  });
  expect(await broker.cancel("ann", waiting.record.logId, ann.caller)).toMatchObject({
    record: { state: "cancelled" },
  });
  bench.finish("a");
  await ann.outcome(held.record.logId);
  expect([executions("a"), executions("b")]).toEqual([1, 0]);
});

test("an Editor takes what it has a tool for, and leaves the rest to others", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const tool = { ...system.bench.tools[0], name: "work-of-its-own" } as never;
  const second = await system.addEditor({ labels: ["android"], tools: [tool] });
  await Promise.all([system.present(system.editor), system.present(second)]);
  const ann = system.client();
  const calls = ["a", "b", "c"].map((Name) => ann.submit("work-of-its-own", { Name }, POOL));
  for (const { record } of await Promise.all(calls))
    expect((await ann.outcome(record.logId)).record.editor).toBe(second.editorId);
});

test("an Editor is not kept from others by an operation that its principal's limit would hold back", async () => {
  const system = await start({ editor: { labels: ["android"] }, maxRunning: 1 });
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([system.present(system.editor), system.present(second)]);
  const [ann, bob] = [system.client("ann"), system.client("bob")];
  const held = await ann.submit("work", { Name: "held", Hold: true }, POOL);
  await system.bench.begins("held");
  const waiting = await ann.submit("work", { Name: "waits" }, POOL);
  const other = await bob.submit("work", { Name: "bob's" }, POOL);
  expect((await bob.outcome(other.record.logId)).record.state).toBe("completed");
  expect((await system.record(waiting.record.logId)).editor).toBe("pool:android");
  system.bench.finish("held");
  await ann.outcome(held.record.logId);
  expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");
});

test("jobs that are no operation's leave the pool, and block nobody", async () => {
  const { client, redis, hand, executions } = await farm();
  const queue = new Queue("pool_android.main", { connection: redis.connection, prefix: "{ujb}:bull" });
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  await ann.outcome(record.logId);
  for (let at = 0; at < 30; at += 1)
    await queue.add("work", { logId: `made by hand ${at}` }, { priority: 1 });
  await queue.add("work", { logId: record.logId }, { jobId: `${record.hash}.${record.logId}`, priority: 1 });
  await queue.close();
  const next = await ann.submit("work", { Name: "b" }, POOL);
  expect((await ann.outcome(next.record.logId)).record.state).toBe("completed");
  await eventually(
    async () => (await hand.exists("{ujb}:bull:pool_android.main:prioritized")) === 0,
    "all are gone",
  );
  expect([executions("a"), executions("b")]).toEqual([1, 1]);
});

test("a pool without a known Editor is refused with what is known; so is one that names no labels", async () => {
  const { client, editor } = await farm();
  const ann = client();
  await expect(ann.submit("work", { Name: "a" }, { editor: "pool:ios" })).rejects.toMatchObject({
    code: "EDITOR_UNKNOWN",
    message: expect.stringContaining("No known Editor has the labels ios; known: "),
  });
  await expect(ann.submit("work", { Name: "a" }, { editor: "pool:ios" })).rejects.toMatchObject({
    message: expect.stringContaining(`${editor.editorId} (android, gpu, project=game-1, unity=`),
  });
  await expect(ann.submit("work", { Name: "a" }, { editor: "pool:a b" })).rejects.toMatchObject({
    code: "EDITOR_UNKNOWN",
    message: expect.stringContaining('"pool:a b" is no pool'),
  });
});

test("while no Editor of it is connected an operation waits, and the first that comes runs it", async () => {
  const { client, editor, second, away, present, addEditor, executions } = await farm();
  await Promise.all([editor.close(), second.close()]);
  await Promise.all([away(editor), away(second)]);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const view = await ann.until(record.logId, () => true);
  expect(answerOf(view).message).toContain("None of the 2 known Editor(s) of pool:android is connected.");
  const third = await addEditor({ labels: ["android"] });
  await present(third);
  expect((await ann.outcome(record.logId)).record.editor).toBe(third.editorId);
  expect(executions("a")).toBe(1);
});

test("what an Editor has taken and not begun goes back to the pool when the Editor is away", async () => {
  const { client, editor, second, away, store, gateway, bench, executions, hand } = await farm();
  const ann = client();
  const held = await ann.submit("work", { Name: "held", Hold: true }, { editor: second.editorId });
  await bench.begins("held");
  await editor.close();
  await away(editor);
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  // As if it had gone away at the moment in which its owner took the operation.
  const incarnation = await store.operations.incarnation();
  await store.operations.move(record.logId, () => editor.editorId, { incarnation });
  expect(await store.operations.openOf(editor.editorId)).toHaveLength(1);
  bench.finish("held");
  await ann.outcome(held.record.logId);
  await hand.zadd("{ujb}:editors", 1, editor.editorId);
  await gateway.sweep();
  expect((await ann.outcome(record.logId)).record.editor).toBe(second.editorId);
  expect(executions("a")).toBe(1);
  expect(await store.operations.openOf(editor.editorId)).toEqual([]);
});

test("an operation expires in its pool when none of its Editors comes", async () => {
  const { client, editor, away, executions } = await start({
    editor: { labels: ["android"] },
    gateway: { limits: { ...EXPIRY_LIMITS, absentMs: 1_000 }, sweepMs: 50 },
  });
  await editor.close();
  await away(editor);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const view = await ann.outcome(record.logId);
  expect(view.record.state).toBe("expired");
  expect(answerOf(view)).toMatchObject({ error_code: "EXPIRED", pool: "pool:android" });
  expect(answerOf(view).message).toContain("no Editor of pool:android was seen for");
  expect(executions("a")).toBe(0);
});
