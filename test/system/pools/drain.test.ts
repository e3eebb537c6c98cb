/** A paused Editor starts nothing new; what it runs goes on, what names it waits, and its pools are served by the others. */
import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { pausing } from "../../harness/system/said-of-editors.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

test("a paused Editor finishes what it runs, and starts nothing: not from its pool, not by its name, on either way", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, bench, editor, executions, broker } = system;
  const { pause, resume, running } = pausing(system, editor.editorId);
  const named = { editor: editor.editorId };
  const ann = client();
  const held = await ann.submit("work", { Name: "held", Hold: true }, named);
  await bench.begins("held");
  await pause();
  expect(await running()).toEqual([held.record.logId]);
  const [own, pooled] = [
    await ann.submit("work", { Name: "own" }, named),
    await ann.submit("work", { Name: "pooled" }, POOL),
  ];
  bench.finish("held");
  expect((await ann.outcome(held.record.logId)).record.state).toBe("completed");
  expect(await running()).toEqual([]);
  // To an idle Editor: the script that creates the operation would claim it.
  const idle = await ann.submit("work", { Name: "idle" }, named);
  const messages = await Promise.all(
    [own, pooled, idle].map(
      async ({ record }) => answerOf(await ann.until(record.logId, () => true)).message,
    ),
  );
  expect(messages).toEqual([
    expect.stringContaining(
      `the Editor is paused, and starts nothing new until \`unity-broker editors resume`,
    ),
    expect.stringContaining("It waits: each connected Editor of pool:android is paused"),
    expect.stringContaining("the Editor is paused"),
  ]);
  expect((await broker.editors("ann")).editors).toMatchObject([{ connected: true, isPaused: true }]);
  expect(["own", "pooled", "idle"].map(executions)).toEqual([0, 0, 0]);
  await resume();
  for (const { record } of [own, idle, pooled])
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(["own", "pooled", "idle"].map(executions)).toEqual([1, 1, 1]);
  expect((await broker.editors("ann")).editors).toMatchObject([{ isPaused: false }]);
});

test.each(["by the command", "by the janitor"])(
  "what a paused Editor had taken from its pool, and not begun, is its pool's again: %s",
  async (by) => {
    const system = await start({ editor: { labels: ["android"] } });
    const { client, bench, editor, store, record, executions, gateway } = system;
    const second = await system.addEditor({ labels: ["android"] });
    await Promise.all([system.present(editor), system.present(second)]);
    const { pause, resume } = pausing(system, editor.editorId);
    const ann = client();
    for (const { editorId } of [editor, second]) {
      await ann.submit("work", { Name: editorId, Hold: true }, { editor: editorId });
      await bench.begins(editorId);
    }
    const { logId } = (await ann.submit("work", { Name: "a" }, POOL)).record;
    const incarnation = await store.operations.incarnation();
    const taken = () => store.operations.move(logId, () => editor.editorId, { incarnation });
    if (by === "by the command") await taken();
    await pause();
    // As an Editor that took it a moment before.
    if (by === "by the janitor") await taken();
    await gateway.sweep();
    expect((await record(logId)).editor).toBe("pool:android");
    bench.finish(second.editorId);
    expect((await ann.outcome(logId)).record).toMatchObject({ state: "completed", editor: second.editorId });
    bench.finish(editor.editorId);
    await eventually(async () => (await store.operations.openOf(editor.editorId)).length === 0, "all ended");
    await resume();
    expect(executions("a")).toBe(1);
  },
);
