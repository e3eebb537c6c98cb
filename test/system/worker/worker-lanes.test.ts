import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("the main lane runs one at a time, in the order of acceptance", async () => {
  const { client, bench, editor } = await start();
  const ann = client();
  const names = Array.from({ length: 20 }, (_, index) => `step ${index}`);
  const first = await ann.submit("work", { Name: "first", Hold: true });
  await bench.begins("first");
  const ids: string[] = [];
  for (const Name of names) ids.push((await ann.submit("work", { Name })).record.logId);
  expect(bench.begun).toEqual(["first"]);
  expect(editor.status().open).toHaveLength(1);
  bench.finish("first");
  for (const id of [first.record.logId, ...ids]) await ann.outcome(id);
  expect(bench.begun).toEqual(["first", ...names]);
});

test("order holds for those that were queued while the Editor was away", async () => {
  const { client, bench, editor, away } = await start();
  const ann = client();
  await editor.faults.crash();
  await away(editor);
  const names = Array.from({ length: 10 }, (_, index) => `step ${index}`);
  const ids: string[] = [];
  for (const Name of names) ids.push((await ann.submit("work", { Name })).record.logId);
  await editor.faults.restart();
  for (const id of ids) await ann.outcome(id);
  expect(bench.begun).toEqual(names);
});

test("ping and get-logs answer while the main thread is blocked, four at a time", async () => {
  const { client, bench } = await start();
  const ann = client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const calls = [
    ann.submit("get-logs", {}),
    ...Array.from({ length: 6 }, (_, index) => ann.submit("ping", { Message: `${index}` })),
  ];
  for (const { record } of await Promise.all(calls)) {
    expect(record.lane).toBe("background");
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  }
  expect((await ann.reaches(block.record.logId, "running")).record.state).toBe("running");
  bench.finish("block");
  await ann.outcome(block.record.logId);
});

test("another tool that claims the background lane stays on the main lane", async () => {
  const { client, bench, editor, store } = await start({ worker: {} });
  const known = editor.tools.get("look");
  if (!known) throw new Error("no such tool");
  const changed = new Promise((resolve) => store.notifier.on("editors", resolve));
  editor.tools.add({ ...known, name: "sneak", lane: "background" });
  editor.toolsChanged();
  await changed;
  const ann = client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const { record } = await ann.submit("sneak", { Name: "s" });
  expect(record.lane).toBe("main");
  bench.finish("block");
  await ann.outcome(block.record.logId);
  await ann.outcome(record.logId);
  expect(bench.begun).toEqual(["block", "s"]);
});
