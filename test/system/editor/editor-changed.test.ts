/** Invariant 7: whether the Editor has changed since, by its session, its generation and its assets. */
import { describe, expect, test } from "vitest";
import { type Answer, answerOf } from "../../../src/shared/operation/answer.js";
import type { Client } from "../../harness/system/client.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

const SET = { Path: "Player.speed", Value: 3 };

/** What a duplicate of the call is told. */
async function duplicateOf(client: Client): Promise<Answer> {
  const again = await client.submit("work", { Name: "a" });
  expect(again.relation).toBe("replayed");
  return answerOf(await client.outcome(again.record.logId), { duplicate: "replayed" });
}

/** The call has ended, and the Editor's heartbeats have said where it stands since. */
async function executed(options: Parameters<typeof start>[0] = {}): Promise<{ system: System; ann: Client }> {
  const system = await start(options);
  const ann = system.client();
  await ann.outcome((await ann.submit("work", { Name: "a" })).record.logId);
  return { system, ann };
}

describe("editor_changed_since", () => {
  test("is not said while nothing is known to have happened: files on disk may have changed", async () => {
    const { ann } = await executed();
    const answer = await duplicateOf(ann);
    expect(answer).toMatchObject({ status: "completed", deduplicated: true });
    expect(answer).not.toHaveProperty("editor_changed_since");
  });

  test("true once another call changed assets", async () => {
    const { system, ann } = await executed();
    await ann.outcome((await ann.submit("set-property", SET)).record.logId);
    await eventually(
      async () => (await duplicateOf(ann)).editor_changed_since === true,
      "a heartbeat said so",
    );
    expect(system.executions("a")).toBe(1);
  });

  test("true once its domain was reloaded, or the Editor restarted", async () => {
    const { system, ann } = await executed();
    await system.editor.faults.reload();
    await eventually(
      async () => (await duplicateOf(ann)).editor_changed_since === true,
      "the reload is seen",
    );
  });

  test("what a call changed itself is not a change since: its own end says where the Editor stood", async () => {
    // No heartbeat in between tells the worker anything.
    const system = await start({
      editor: { heartbeatMs: 3_600_000 },
      worker: { link: { heartbeatTimeoutMs: 60_000 } },
    });
    const ann = system.client();
    const { record } = await ann.submit("set-property", SET);
    await ann.outcome(record.logId);
    expect((await system.record(record.logId)).editorMark).toMatchObject({ assetCounter: 1 });
    const again = await ann.submit("set-property", SET);
    expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
    const answer = answerOf(await ann.outcome(again.record.logId), { duplicate: "replayed" });
    expect(answer).not.toHaveProperty("editor_changed_since");
  });

  test("an end that is reported after a restart says where the Editor stood then", async () => {
    const system = await start({ worker: null });
    const { editor, bench, present, client } = system;
    const worker = await system.addCabledWorker(editor);
    await present(editor);
    const before = editor.status().editorSessionId;
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    worker.toEditor.deafen();
    bench.finish("a");
    await eventually(() => editor.status().unacknowledged.length === 1, "it ended");
    await editor.faults.crash();
    worker.toEditor.fix();
    await editor.faults.restart();
    const { record: ended } = await ann.outcome(record.logId);
    expect(ended.editorMark?.editorSessionId).toBe(before);
    expect(editor.status().editorSessionId).not.toBe(before);
  });
});
