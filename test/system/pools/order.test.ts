/** The operations of one caller begin in a pool in the order in which they were accepted, whatever happens to its Editors. */
import { expect, test } from "vitest";
import { pausing } from "../../harness/system/said-of-editors.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("while an Editor crashes, is paused, and comes back, each caller's operations keep their order", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { bench, editor, client, present, record } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([present(editor), present(second)]);
  const callers = ["ann", "bob"].map((name) => ({ name, client: client(name) }));
  const sent = new Map<string, string>();
  for (let at = 0; at < 10; at += 1)
    for (const { name, client: caller } of callers) {
      const Name = `${name} ${at}`;
      const args = { Name, Hold: true };
      sent.set(Name, (await caller.submit("work", args, { editor: "pool:android" })).record.logId);
    }

  const over = new Set<string>();
  const running = (): string[] => bench.begun.filter((name) => !over.has(name));
  const isOver = async (name: string): Promise<boolean> =>
    ["completed", "interrupted"].includes((await record(sent.get(name) ?? "")).state);
  const { pause, resume } = pausing(system, editor.editorId);
  const events: Record<number, () => Promise<unknown>> = {
    4: async () => {
      const [lost] = (
        await Promise.all(running().map(async (name) => ({ name, at: await record(sent.get(name) ?? "") })))
      )
        .filter(({ at }) => at.editor === second.editorId)
        .map(({ name }) => name);
      await second.faults.crash();
      await second.faults.restart();
      if (lost === undefined) throw new Error("nothing ran in the Editor that crashed");
      over.add(lost);
      await eventually(() => isOver(lost), `${lost} is interrupted`);
      await present(second);
    },
    8: pause,
    12: resume,
  };
  while (over.size < sent.size) {
    await eventually(() => running().length > 0, "the next one begins");
    const [name = ""] = running();
    bench.finish(name);
    over.add(name);
    await eventually(() => isOver(name), `${name} ends`);
    const event = events[over.size];
    if (event === undefined) continue;
    delete events[over.size];
    // Both Editors have one.
    if (over.size < 8) await eventually(() => running().length === 2, "both run one");
    await event();
  }
  for (const { name } of callers) {
    const own = [...sent.keys()].filter((each) => each.startsWith(name));
    expect(bench.begun.filter((each) => each.startsWith(name))).toEqual(own);
  }
});

test("what goes back to its pool is the next of its caller's again", async () => {
  const { bench, client, editor, store } = await start({ editor: { labels: ["android"] } });
  const ann = client("ann");
  await ann.submit("work", { Name: "held", Hold: true }, { editor: editor.editorId });
  await bench.begins("held");
  const waiting: string[] = [];
  for (const Name of ["a", "b"])
    waiting.push((await ann.submit("work", { Name }, { editor: "pool:android" })).record.logId);
  const [first = ""] = waiting;
  const only = { incarnation: await store.operations.incarnation() };
  // As an owner does that takes it and is paused, or goes away.
  await store.operations.move(first, () => editor.editorId, only);
  await store.operations.move(first, () => "pool:android", only);
  bench.finish("held");
  for (const logId of waiting) await ann.outcome(logId);
  expect(bench.begun).toEqual(["held", "a", "b"]);
});

test("what goes back to a pool that was empty meanwhile is before what its caller had accepted since then", async () => {
  const { bench, client, editor, store } = await start({ editor: { labels: ["android"] } });
  const ann = client("ann");
  await ann.submit("work", { Name: "held", Hold: true }, { editor: editor.editorId });
  await bench.begins("held");
  const inPool = async (Name: string): Promise<string> =>
    (await ann.submit("work", { Name }, { editor: "pool:android" })).record.logId;
  const only = { incarnation: await store.operations.incarnation() };
  const first = await inPool("a");
  await store.operations.move(first, () => editor.editorId, only);
  const second = await inPool("b");
  await store.operations.move(first, () => "pool:android", only);
  bench.finish("held");
  for (const logId of [first, second]) await ann.outcome(logId);
  expect(bench.begun).toEqual(["held", "a", "b"]);
});

test("one that an Editor has taken and not begun is before what its caller had accepted later, also for other Editors", async () => {
  const { addEditor, bench, client, editor, present, store } = await start({
    editor: { labels: ["android"] },
  });
  const ann = client("ann");
  await ann.submit("work", { Name: "held", Hold: true }, { editor: editor.editorId });
  await bench.begins("held");
  const inPool = async (Name: string): Promise<string> =>
    (await ann.submit("work", { Name }, { editor: "pool:android" })).record.logId;
  const first = await inPool("a");
  // It waits there behind what runs.
  const only = { incarnation: await store.operations.incarnation() };
  await store.operations.move(first, () => editor.editorId, only);
  const second = await inPool("b");
  const idle = await addEditor({ labels: ["android"] });
  await present(idle);
  const other = await client("bob").submit("work", { Name: "other" }, { editor: "pool:android" });
  await client("bob").outcome(other.record.logId);
  expect(bench.begun).toEqual(["held", "other"]);
  bench.finish("held");
  for (const logId of [first, second]) await ann.outcome(logId);
  expect(bench.begun).toEqual(["held", "other", "a", "b"]);
});

test("one that was sent before, and waits for its own Editor, holds up none of its caller", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, editor, executions, present, record } = system;
  const { pause, resume } = pausing(system, editor.editorId);
  const ann = client("ann");
  const inPool = async (Name: string): Promise<string> =>
    (await ann.submit("work", { Name }, { editor: "pool:android" })).record.logId;
  await present(editor);
  editor.faults.stallMainThread(60_000);
  const first = await inPool("a");
  await eventually(() => editor.status().open.length === 1, "the Editor has accepted it");
  await pause();
  await editor.faults.crash({ keepUnflushed: true });
  await editor.faults.restart();
  await present(editor);
  await eventually(async () => (await record(first)).state === "queued", "it waits again");
  const second = await system.addEditor({ labels: ["android"] });
  await present(second);
  expect((await ann.outcome(await inPool("b"))).record.editor).toBe(second.editorId);
  expect(executions("a")).toBe(0);
  await resume();
  expect((await ann.outcome(first)).record.editor).toBe(editor.editorId);
});
