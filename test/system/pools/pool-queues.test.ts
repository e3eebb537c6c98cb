/** A pool's queue and its Editors: paused, blocked, left late. */
import { Queue } from "bullmq";
import { expect, test } from "vitest";
import { isFinal } from "../../../src/shared/operation/operation.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

test("a paused queue of a pool stays paused", async () => {
  const { client, bench, editor, redis } = await start({ editor: { labels: ["android"] } });
  const ann = client();
  await ann.submit("work", { Name: "one", Hold: true }, { editor: editor.editorId });
  await bench.begins("one");
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const queue = new Queue("pool_android.main", { connection: redis.connection, prefix: "{ujb}:bull" });
  await queue.pause();
  bench.finish("one");
  const next = await ann.submit("work", { Name: "next" }, { editor: editor.editorId });
  await ann.outcome(next.record.logId);
  const after = await ann.submit("work", { Name: "after" }, { editor: editor.editorId });
  await ann.outcome(after.record.logId);
  const again = await ann.until(record.logId, () => true);
  await queue.resume();
  await queue.close();
  await ann.outcome(record.logId);
  expect(again.record.state).toBe("queued");
});

test("twenty operations for a tool that only another Editor has do not keep an idle Editor from the next", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, bench } = system;
  const tool = { ...bench.tools[0], name: "rare" } as never;
  const second = await system.addEditor({ labels: ["android"], tools: [tool] });
  await system.present(second);
  const ann = client();
  await ann.submit("work", { Name: "held", Hold: true }, { editor: second.editorId });
  await bench.begins("held");
  for (let at = 0; at < 20; at += 1) await ann.submit("rare", { Name: `r${at}` }, POOL);
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  for (const Name of ["x", "y"]) {
    const named = await ann.submit("work", { Name }, { editor: system.editor.editorId });
    await ann.outcome(named.record.logId);
  }
  await system.gateway.sweep();
  const view = await ann
    .until(record.logId, ({ record: { state } }) => isFinal(state))
    .catch(() => undefined);
  bench.finish("held");
  await ann.outcome(record.logId);
  expect(view?.record.state).toBe("completed");
});

test("an owner that waited for its Editor does not revoke there what its pool had back meanwhile", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, editor, store, hand, executions, gateway } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await system.present(second);
  await editor.faults.crash();
  await second.close();
  await Promise.all([system.away(editor), system.away(second)]);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const { logId } = record;
  const incarnation = await store.operations.incarnation();
  await store.operations.move(logId, () => editor.editorId, { incarnation });
  // Its lane has the job and waits for the Editor.
  await eventually(async () => (await hand.llen(`{ujb}:bull:${editor.editorId}.main:active`)) === 1, "taken");
  await gateway.sweep();
  expect((await system.record(logId)).editor).toBe("pool:android");
  // The other Editor's owner takes it, and claims it …
  await store.operations.move(logId, () => second.editorId, { incarnation });
  await store.operations.change(logId, (r) => ({
    record: { ...r, state: "dispatched", sentIn: "s", dispatchedAt: r.acceptedAt },
  }));
  await editor.faults.restart();
  await system.present(editor);
  await eventually(async () => (await hand.llen(`{ujb}:bull:${editor.editorId}.main:active`)) === 0, "left");
  const next = await ann.submit("work", { Name: "next" }, { editor: editor.editorId });
  await ann.outcome(next.record.logId);
  // … and takes its claim back, as its Editor went away before anything was sent.
  await store.operations.change(logId, ({ sentIn: _s, dispatchedAt: _d, ...r }) => ({
    record: { ...r, state: "queued" },
  }));
  await gateway.sweep();
  const { record: ended } = await ann.outcome(logId);
  expect({ state: ended.state, error: ended.error?.message, runs: executions("a") }).toMatchObject({
    state: "completed",
    runs: 1,
  });
});

test("▲13 an Editor that came back, ran the pool's operation and died is waited for after a loss", async () => {
  const system = await start({
    editor: { labels: ["android"] },
    commandTimeoutMs: 2_000,
    gateway: { backMs: 0 },
  });
  const { client, editor, redis, executions, gateway } = system;
  await editor.faults.crash();
  await system.away(editor);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  await gateway.sweep();
  const copy = await redis.copy();
  await editor.faults.restart();
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  await eventually(() => editor.status().unacknowledged.length === 0, "acknowledged");
  await editor.faults.crash();
  await system.away(editor);
  await redis.restore(copy);
  await whenStoreIsBack(gateway.sweep);
  const second = await system.addEditor({ labels: ["android"] });
  await system.present(second);
  for (const Name of ["x", "y", "z"]) {
    await whenStoreIsBack(gateway.sweep);
    const named = await ann.submit("work", { Name }, { editor: second.editorId });
    await ann.outcome(named.record.logId);
  }
  expect(executions("a")).toBe(1);
});
