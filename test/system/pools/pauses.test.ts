/** Pauses at moments that are hard: the Editor is away, it comes back, another person resumes it. */
import { expect, test } from "vitest";
import { createLastCatalogs } from "../../../src/gateway/editors/last-catalogs.js";
import { quits } from "../../harness/editor/quits.js";
import { SILENT } from "../../harness/silent.js";
import { pausing } from "../../harness/system/said-of-editors.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("what the lane of an Editor that is away had taken before the pause does not begin when it comes back", async () => {
  const system = await start();
  const { client, editor, executions, store, present } = system;
  const { pause, resume, running } = pausing(system, editor.editorId);
  const ann = client();
  await editor.faults.crash();
  await system.away(editor);
  const { record } = await ann.submit("work", { Name: "a" }, { editor: editor.editorId });
  await eventually(() => store.queues.isTaken(record), "its lane has taken it");
  await pause();
  // `drain` does not wait for it.
  expect.soft(await running()).toEqual([]);
  await editor.faults.restart();
  await present(editor);
  await eventually(async () => !(await store.queues.isTaken(record)), "given back, or ended");
  expect.soft((await system.record(record.logId)).state).toBe("queued");
  expect.soft(executions("a")).toBe(0);
  await resume();
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(executions("a")).toBe(1);
});

test("two people who pause and resume at once leave an Editor that is paused in all its lanes, or in none", async () => {
  const system = await start();
  const { editor, store } = system;
  const other = (await system.addGateway()).store;
  const { editorId } = editor;
  for (let round = 0; round < 100; round += 1) {
    await Promise.all([store.queues.setPaused(editorId, true), other.queues.setPaused(editorId, false)]);
    const lanes = await Promise.all(
      (["main", "background"] as const).map((lane) => store.queues.isPaused(editorId, lane)),
    );
    expect(lanes[0]).toBe(lanes[1]);
  }
  await store.queues.setPaused(editorId, false);
});

test("the pause of an Editor that only the notes know leaves nothing behind when it is forgotten", async () => {
  const system = await start({ gateway: { backMs: 0, forgetEditorMs: 1 } });
  const { editor, hand, redis, gateway, knownEditorsFile: noteFile } = system;
  const isNoted = async () =>
    (await createLastCatalogs({ noteFile, log: SILENT }).all()).some(
      ({ profile }) => profile.editorId === editor.editorId,
    );
  await eventually(isNoted, "it is noted");
  await quits(system);
  await redis.flush();
  await pausing(system, editor.editorId).pause();
  expect(await hand.keys("*.main:meta")).toHaveLength(1);
  for (let round = 0; round < 2; round += 1) await gateway.sweep();
  expect(await hand.keys("{ujb}:bull:*")).toEqual([]);
});

test("what was sent before the pause, and not begun when its Editor crashed, does not begin in the next session", async () => {
  const system = await start();
  const { client, editor, executions, present, record } = system;
  const { pause, resume } = pausing(system, editor.editorId);
  const ann = client();
  editor.faults.stallMainThread(60_000);
  const { logId } = (await ann.submit("work", { Name: "a" })).record;
  await eventually(() => editor.status().open.length === 1, "the Editor has accepted it");
  await pause();
  await editor.faults.crash({ keepUnflushed: true });
  await editor.faults.restart();
  await present(editor);
  await eventually(async () => (await record(logId)).state !== "dispatched", "the Editor was asked");
  const begunWhilePaused = executions("a");
  await resume();
  expect((await ann.outcome(logId)).record.state).toBe("completed");
  expect(begunWhilePaused).toBe(0);
});
