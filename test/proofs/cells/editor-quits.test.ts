/** A user quits the Editor and opens the project again: it says goodbye, and is another session on the same ledger. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const PROJECT = "/projects/quits";

async function quitAndOpen({ editor, addEditor, away, present }: System): Promise<void> {
  const { counterFile } = editor;
  await editor.close();
  await away(editor);
  // An account of its own: both are counted.
  await present(
    await addEditor({ projectPath: PROJECT, counterFile: join(counterFile, "..", "second.log") }),
  );
}
const running = async (ann: Client, Name: string): Promise<string> => {
  const { record } = await ann.submit("work", { Name, Hold: true });
  await ann.reaches(record.logId, "running");
  return record.logId;
};

test("Editor crash or quit · queued: after a quit too", async () => {
  const system = await start({ editor: { projectPath: PROJECT } });
  const ann = system.client();
  await running(ann, "first");
  const { record } = await ann.submit("work", { Name: "a" });
  await quitAndOpen(system);
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(system.executions("a")).toBe(1);
});

test("Editor crash or quit · sent: refused by an Editor that quits, so it is queued again and runs once", async () => {
  const system = await start({ editor: { projectPath: PROJECT } });
  const ann = system.client();
  system.editor.faults.beginToQuit();
  const { record } = await ann.submit("work", { Name: "a" });
  await eventually(() => system.warnings.some((line) => line.includes("is quitting")), "it was refused");
  await quitAndOpen(system);
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(system.executions("a")).toBe(1);
});

test("Editor crash or quit · running: after a quit too", async () => {
  const system = await start({ editor: { projectPath: PROJECT } });
  const ann = system.client();
  const logId = await running(ann, "a");
  await quitAndOpen(system);
  expect((await ann.outcome(logId)).record).toMatchObject({
    state: "interrupted",
    error: { code: "OUTCOME_UNKNOWN", type: "editor_exit" },
  });
  expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
  expect(system.executions("a")).toBe(1);
});

test("Editor crash or quit · finished: after a quit too", async () => {
  const system = await start({ worker: null, editor: { projectPath: PROJECT } });
  const { editor, bench } = system;
  const first = await system.addWorker();
  await system.present(editor);
  const ann = system.client();
  const logId = await running(ann, "a");
  await first.close();
  bench.finish("a");
  await eventually(() => editor.status().unacknowledged.length === 1, "it ended");
  await editor.close();
  const { counterFile } = editor;
  const next = await system.addEditor({
    projectPath: PROJECT,
    counterFile: join(counterFile, "..", "second.log"),
  });
  await system.addWorker();
  await system.present(next);
  expect(await ann.outcome(logId)).toMatchObject({ record: { state: "completed" }, result: '{"Done":"a"}' });
  expect(system.executions("a")).toBe(1);
});
