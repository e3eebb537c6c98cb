/** What is taken from a pool and given back is found again, and says where it waits. */
import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

test("an operation that comes back to a pool which was retired meanwhile is found there", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, editor, away, store, gateway, hand } = system;
  await editor.close();
  await away(editor);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const incarnation = await store.operations.incarnation();
  await store.operations.move(record.logId, () => editor.editorId, { incarnation });
  // Its retention ago: that long the Editor was there, and did not begin it (its queue was paused, or its principal was at its limit).
  await hand.zadd("{ujb}:pools", 1, "pool:android");
  await store.pools.retireUnused("pool:android", Date.now());
  await store.forgotten.remove("pool:android");
  await gateway.sweep();
  await gateway.sweep();
  expect((await system.record(record.logId)).editor).toBe("pool:android");
  const second = await system.addEditor({ labels: ["android"] });
  await system.present(second);
  for (const Name of ["x", "y"]) {
    const named = await ann.submit("work", { Name }, { editor: second.editorId });
    await ann.outcome(named.record.logId);
    await gateway.sweep();
  }
  expect({ state: (await system.record(record.logId)).state, pools: await store.pools.ids() }).toEqual({
    state: "completed",
    pools: ["pool:android"],
  });
});

test("forgetting an Editor gives back to the pool what it has taken and not been sent", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, editor, away, store } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await system.present(second);
  await Promise.all([editor.close(), second.close()]);
  await Promise.all([away(editor), away(second)]);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const incarnation = await store.operations.incarnation();
  await store.operations.move(record.logId, () => editor.editorId, { incarnation });
  await forget(system, editor.editorId, true);
  expect((await system.record(record.logId)).state).toBe("queued");
});

// Seen with both Editors connected too, by chance: then bob's call waited for as long as ann's first operation ran, beside an idle Editor.
test("while its pool is closed after a loss, an operation says what it waits for", async () => {
  const system = await start({
    editor: { labels: ["android"] },
    commandTimeoutMs: 2_000,
    gateway: { backMs: 0 },
  });
  const { client, editor, bench, redis, away } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await system.present(second);
  const ann = client();
  for (const { editorId } of [editor, second]) {
    await ann.submit("work", { Name: editorId, Hold: true }, { editor: editorId });
    await bench.begins(editorId);
  }
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  const copy = await redis.copy();
  await editor.faults.crash();
  await away(editor);
  await redis.restore(copy);
  await whenStoreIsBack(() => system.store.operations.now());
  bench.finish(second.editorId);
  const next = await ann.submit("work", { Name: "next" }, { editor: second.editorId });
  await ann.outcome(next.record.logId);
  const view = await system.broker.read("ann", record.logId);
  const { message } = answerOf(view as never);
  expect((view as { record: { state: string } }).record.state).toBe("queued");
  expect(message).toContain("the broker's store has lost data");
  expect(message).toContain(editor.editorId);
});

test("what its principal's limit holds back in an Editor goes back to the pool, and keeps nobody from the Editor", async () => {
  const system = await start({ editor: { labels: ["android"] }, maxRunning: 1 });
  const { client, editor, bench, store, record } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([system.present(editor), system.present(second)]);
  const [ann, bob] = [client("ann"), client("bob")];
  const held = await ann.submit("work", { Name: "held", Hold: true }, { editor: editor.editorId });
  await bench.begins("held");
  // As its owner does when it looks before the first one has been sent.
  const waiting = await ann.submit("work", { Name: "waits" }, POOL);
  const incarnation = await store.operations.incarnation();
  await store.operations.move(waiting.record.logId, () => second.editorId, { incarnation });
  await eventually(
    async () => (await record(waiting.record.logId)).editor === "pool:android",
    "it is given back",
  );
  const other = await bob.submit("work", { Name: "bob's" }, POOL);
  expect((await bob.outcome(other.record.logId)).record.editor).toBe(second.editorId);
  bench.finish("held");
  await ann.outcome(held.record.logId);
  expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");
  expect(system.executions("waits")).toBe(1);
});
