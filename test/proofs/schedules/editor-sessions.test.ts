/** Schedules about which Editor session a call was sent in, and which Editor it belongs to. */
import { expect, test } from "vitest";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("schedule K: claimed for one session, sent in the next, the connection lost: it runs on and is not given up", async () => {
  // The claim waits for its answer for as long as the test holds it.
  const system = await start({ worker: null, commandTimeoutMs: 60_000 });
  const { editor, bench, executions, warnings } = system;
  const { toRedis, toEditor } = await system.addCabledWorker(editor, {
    lease: { ttlMs: 30_000, renewMs: 1_000 },
    jobLockMs: 30_000,
  });
  await system.present(editor);
  const ann = system.client();
  const before = editor.status().editorSessionId;
  const claiming = new Promise<void>((resolve) =>
    toRedis.before('"state":"dispatched"', () => resolve(toRedis.hold())),
  );
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await claiming;
  await editor.faults.crash();
  await editor.faults.restart();
  const now = editor.status().editorSessionId;
  expect(now).not.toBe(before);
  // Else the claim's answer may be earlier, and the call is sent into the dying connection: sent, and unknown for good.
  await eventually(
    () => warnings.some((line) => line.includes("connection to the Editor ended")),
    "it is noticed",
  );
  // Its frame is read and begins; nobody hears the answer.
  toEditor.before("operation/submit", toEditor.deafen);
  toRedis.fix();
  await bench.begins("a");
  expect(await system.record(record.logId)).toMatchObject({ state: "dispatched", sentIn: now });
  editor.faults.dropConnections();
  toEditor.fix();
  await ann.reaches(record.logId, "running");
  bench.finish("a");
  expect((await ann.outcome(record.logId)).record).toMatchObject({ state: "completed" });
  expect(executions("a")).toBe(1);
});

test("schedule K: sent in one session and lost, unknown in the next: revoked there, then interrupted", async () => {
  const system = await start({ worker: null });
  const { editor, executions } = system;
  const { toEditor } = await system.addCabledWorker(editor, {
    lease: { ttlMs: 30_000, renewMs: 1_000 },
    jobLockMs: 30_000,
  });
  await system.present(editor);
  const ann = system.client();
  const lost = new Promise<void>((resolve) =>
    toEditor.before("operation/submit", () => resolve(toEditor.cut())),
  );
  const { record } = await ann.submit("work", { Name: "a" });
  await lost;
  await editor.faults.crash();
  await editor.faults.restart();
  const revoked = toEditor.heard('"state":"revoked"');
  toEditor.fix();
  await revoked;
  expect((await ann.outcome(record.logId)).record).toMatchObject({
    state: "interrupted",
    error: { code: "OUTCOME_UNKNOWN" },
  });
  expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
  expect(executions("a")).toBe(0);
});

test("schedule Q: Editor 1 died in the middle, Editor 2 appeared; the retry without an Editor is the first call", async () => {
  const system = await start();
  const { editor, addEditor, present, away, executions } = system;
  const ann = system.client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  await editor.faults.crash();
  await away(editor);
  const other = await addEditor();
  await present(other);
  expect(await ann.submit("work", { Name: "a", Hold: true })).toMatchObject({
    relation: "joined",
    record: { logId: record.logId, editor: editor.editorId },
  });
  await editor.faults.restart();
  expect((await ann.outcome(record.logId)).record.state).toBe("interrupted");
  await eventually(async () => (await system.record(record.logId)).state === "interrupted", "it is known");
  expect(await ann.submit("work", { Name: "a", Hold: true })).toMatchObject({ relation: "replayed" });
  expect(executions("a")).toBe(1);
  expect(other.counter()).toEqual([]);
});
