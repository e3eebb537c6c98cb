import { describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

describe("how much of one principal may wait", () => {
  test("one more is refused before a record exists; duplicates and others are not", async () => {
    const { client, bench, broker } = await start({ maxQueued: 2 });
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await ann.reaches(block.record.logId, "running");
    const waiting = [await ann.submit("work", { Name: "a" }), await ann.submit("work", { Name: "b" })];
    await expect(ann.submit("work", { Name: "c" })).rejects.toMatchObject({
      code: "TOO_MANY_OPERATIONS",
      message: expect.stringContaining("list_operations"),
    });
    expect(await broker.list("ann", 10)).toHaveLength(3);
    expect((await ann.submit("work", { Name: "a" })).relation).toBe("joined");
    const bob = client("bob");
    const other = await bob.submit("work", { Name: "d" });
    bench.finish("block");
    for (const { record } of waiting) await ann.outcome(record.logId);
    await bob.outcome(other.record.logId);
    expect((await client("ann", null).submit("work", { Name: "a" })).relation).toBe("replayed");
    await ann.outcome((await ann.submit("work", { Name: "c" })).record.logId);
    expect(bench.begun).toHaveLength(5);
  });

  test("what was cancelled makes room", async () => {
    const { client, bench, broker } = await start({ maxQueued: 1 });
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await ann.reaches(block.record.logId, "running");
    const { record } = await ann.submit("work", { Name: "a" });
    await broker.cancel("ann", record.logId, ann.caller);
    const next = await ann.submit("work", { Name: "b" });
    bench.finish("block");
    await ann.outcome(next.record.logId);
    expect(bench.begun).toEqual(["block", "b"]);
  });
});

describe("how much may be open in one queue", () => {
  test.each([
    ["an Editor", {}],
    ["a pool", { editor: "pool:android" }],
  ])(
    "of %s: one more is refused before a record exists, whoever it is of, and told when to come back",
    async (_what, target) => {
      const { client, bench, broker, hand } = await start({
        maxInQueue: 2,
        editor: { labels: ["android"] },
      });
      const [ann, bob] = [client(), client("bob")];
      const block = await ann.submit("work", { Name: "block", Hold: true });
      await ann.reaches(block.record.logId, "running");
      await hand.lpush("{ujb}:durations:work", "42000 an-editor");
      const waiting = await ann.submit("work", { Name: "a" }, target);
      const isPool = "editor" in target;
      const second = isPool ? await bob.submit("work", { Name: "b" }, target) : undefined;
      await expect(bob.submit("work", { Name: "c" }, target)).rejects.toMatchObject({
        code: "QUEUE_FULL",
        details: { retry_after_seconds: 42 },
      });
      expect(await broker.list("bob", 10)).toHaveLength(isPool ? 1 : 0);
      expect((await ann.submit("work", { Name: "a" }, target)).relation).toBe("joined");
      bench.finish("block");
      await ann.outcome(waiting.record.logId);
      if (second) await bob.outcome(second.record.logId);
      await bob.outcome((await bob.submit("work", { Name: "c" }, target)).record.logId);
      expect(bench.begun).toHaveLength(isPool ? 4 : 3);
    },
  );
});

describe("how much of one principal may run", () => {
  /** Two Editors, and an operation of ann that holds the first. */
  async function two(options: SystemOptions = {}) {
    const system: System = await start({ maxRunning: 1, ...options });
    const second = await system.addEditor();
    await system.present(second);
    const ann = system.client();
    const here = { editor: system.editor.editorId };
    const there = { editor: second.editorId };
    const block = await ann.submit("work", { Name: "block", Hold: true }, here);
    await ann.reaches(block.record.logId, "running");
    const isHeld = (logId: string) =>
      eventually(async () => (await system.hand.hexists(keys.held("ann"), logId)) === 1, "it is held");
    return { ...system, second, ann, here, there, block, isHeld };
  }

  test("one more waits, blocks nobody else in its lane, keeps its order, and runs once when there is room", async () => {
    const { client, bench, ann, there, here, block, isHeld } = await two();
    const names = ["a", "b", "c"];
    const held: string[] = [];
    for (const Name of names) held.push((await ann.submit("work", { Name }, there)).record.logId);
    for (const logId of held) await isHeld(logId);
    const bob = client("bob");
    await bob.outcome((await bob.submit("work", { Name: "bob" }, there)).record.logId);
    expect(bench.begun).toEqual(["block", "bob"]);
    const waiting = await ann.reaches(held[0] ?? "", "queued");
    const { logId } = block.record;
    const by = [{ log_id: logId, tool: "work", editor: here.editor }];
    const reported = answerOf(waiting);
    expect(reported).toMatchObject({ status: "running", state: "queued", held_back: { limit: 1, by } });
    expect(reported.message).toMatch(
      /held back: 1 operation.*UNITY_BROKER_MAX_RUNNING.*work on game-1.*cancel_operation/,
    );
    expect(reported.message).toContain(logId);
    bench.finish("block");
    await ann.outcome(block.record.logId);
    for (const logId of held) await ann.outcome(logId);
    expect(bench.begun).toEqual(["block", "bob", ...names]);
  });

  test("a lane that asks seldom is not starved by one that is always busy", async () => {
    const { bench, ann, here, there, isHeld } = await two({ worker: { heldRetryMs: 400 } });
    const { record } = await ann.submit("work", { Name: "lonely" }, there);
    await isHeld(record.logId);
    const many: string[] = [];
    for (let each = 0; each < 8; each += 1) {
      many.push((await ann.submit("work", { Name: `many ${each}` }, here)).record.logId);
    }
    bench.finish("block");
    await ann.outcome(record.logId);
    for (const logId of many) await ann.outcome(logId);
    expect(bench.begun.slice(0, 2)).toEqual(["block", "lonely"]);
  });

  test("an operation whose Editor is away keeps no place from others, and loses nothing", async () => {
    const { bench, hand, ann, there, here, second, block, isHeld, away } = await two();
    const { record } = await ann.submit("work", { Name: "there" }, there);
    await isHeld(record.logId);
    await second.faults.crash();
    await away(second);
    const [queue, at] = (await hand.hget(keys.held("ann"), record.logId))?.split("|") ?? [];
    // As if it had not asked for a while.
    await hand.hset(keys.held("ann"), record.logId, `${queue}|${at}|1`);
    const next = await ann.submit("work", { Name: "here" }, here);
    bench.finish("block");
    await ann.outcome(block.record.logId);
    await ann.outcome(next.record.logId);
    await second.faults.restart();
    await ann.outcome(record.logId);
    expect(bench.begun).toEqual(["block", "here", "there"]);
  });

  test("W7: what Editors had that were killed while they ran keeps no place from calls for another", async () => {
    const system = await start({ maxRunning: 2 });
    const { client, bench, broker, addEditor, present, away, hand } = system;
    const editors = [system.editor, await addEditor(), await addEditor()];
    for (const editor of editors) await present(editor);
    const [first, second, third] = editors.map(({ editorId }) => ({ editor: editorId }));
    const ann = client();
    const running: string[] = [];
    for (const [at, target] of [first, second].entries()) {
      const { record } = await ann.submit("work", { Name: `block ${at}`, Hold: true }, target);
      await ann.reaches(record.logId, "running");
      running.push(record.logId);
    }
    const { record } = await ann.submit("work", { Name: "a" }, third);
    await eventually(async () => (await hand.hexists(keys.held("ann"), record.logId)) === 1, "it is held");
    for (const editor of editors.slice(0, 2)) {
      await editor.faults.crash();
      await away(editor);
    }
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(bench.begun).toEqual(["block 0", "block 1", "a"]);

    // They are back, and count again: what they had ended with them.
    for (const editor of editors.slice(0, 2)) await editor.faults.restart();
    for (const logId of running) expect((await ann.outcome(logId)).record.state).toBe("interrupted");
    expect(await hand.exists(keys.sent("ann"))).toBe(0);
    expect(await broker.list("ann", 10)).toHaveLength(3);
  });

  test("counts outlive the worker", async () => {
    const system = await start({ maxRunning: 1, worker: null });
    const { client, bench, editor, addWorker, addEditor, present, hand } = system;
    const worker = await addWorker();
    const second = await addEditor();
    await Promise.all([present(editor), present(second)]);
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true }, { editor: editor.editorId });
    await ann.reaches(block.record.logId, "running");
    const { record } = await ann.submit("work", { Name: "a" }, { editor: second.editorId });
    await worker.close();
    await addWorker();
    await present(second);
    await eventually(async () => (await hand.hexists(keys.held("ann"), record.logId)) === 1, "it is held");
    expect(bench.begun).toEqual(["block"]);
    bench.finish("block");
    await ann.outcome(block.record.logId);
    await ann.outcome(record.logId);
    expect(bench.begun).toEqual(["block", "a"]);
  });
});
