import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { unityLogPlaces } from "../../../src/worker/owner/log-places.js";
import type { Worker } from "../../../src/worker/worker.js";
import { eventually } from "../../harness/eventually.js";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const HOUR = 3_600_000;

/** A call that the Editor has on its disk, and has not begun. */
async function sent({ editor }: System, ann: Client, Name: string): Promise<string> {
  editor.faults.stallMainThread(HOUR);
  const { record } = await ann.submit("work", { Name, Hold: true });
  await eventually(() => editor.status().open.length === 1, "it was sent");
  await ann.reaches(record.logId, "dispatched");
  return record.logId;
}

async function running(ann: Client, Name: string): Promise<string> {
  const { record } = await ann.submit("work", { Name, Hold: true });
  await ann.reaches(record.logId, "running");
  return record.logId;
}

/** The Editor dies, its ledger's file is treated, and its next process starts. */
async function crashWith({ editor }: System, treat: () => void): Promise<void> {
  await editor.faults.crash({ keepUnflushed: true });
  treat();
  await editor.faults.restart();
}

/** A new owner says hello: its fence is one more entry on the disk, with what came before, and the store has seen it. */
async function changeOwner(system: System, worker?: Worker): Promise<Worker> {
  await worker?.close();
  const next = await system.addWorker();
  await system.present(system.editor);
  return next;
}

describe("▲10 (c) the Editor's ledger goes back", () => {
  test("schedule L: to when a running call was only accepted: unknown, and not run again", async () => {
    const system = await start({ worker: null });
    const { editor, client, executions } = system;
    const first = await changeOwner(system);
    const ann = client();
    const logId = await sent(system, ann, "a");
    await changeOwner(system, first);
    const copy = `${editor.ledgerFile}.copy`;
    copyFileSync(editor.ledgerFile, copy);
    expect(readFileSync(copy, "utf8")).toContain(logId);
    editor.faults.stallMainThread(0);
    await ann.reaches(logId, "running");
    await crashWith(system, () => copyFileSync(copy, editor.ledgerFile));
    const { record } = await ann.outcome(logId);
    expect(record).toMatchObject({
      state: "interrupted",
      error: { code: "OUTCOME_UNKNOWN", type: "ledger_lost" },
    });
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });

  test("schedule L: nobody heard that it began, but the store has seen later entries", async () => {
    const system = await start({ worker: null });
    const { editor, bench, client, executions } = system;
    const first = await changeOwner(system);
    const ann = client();
    const logId = await sent(system, ann, "a");
    const second = await changeOwner(system, first);
    const copy = `${editor.ledgerFile}.copy`;
    copyFileSync(editor.ledgerFile, copy);
    expect(readFileSync(copy, "utf8")).toContain(logId);
    await changeOwner(system, second);
    editor.faults.silence();
    editor.faults.stallMainThread(0);
    await bench.begins("a");
    expect((await system.record(logId)).state).toBe("dispatched");
    await crashWith(system, () => copyFileSync(copy, editor.ledgerFile));
    expect((await ann.outcome(logId)).record).toMatchObject({ error: { type: "ledger_lost" } });
    expect(executions("a")).toBe(1);
  });

  test("is deleted: what ran is unknown, what waits runs, and the next call too", async () => {
    const system = await start();
    const { editor, bench, client, executions } = system;
    const ann = client();
    const logId = await running(ann, "a");
    const waiting = await ann.submit("work", { Name: "b" });
    await crashWith(system, () => rmSync(editor.ledgerFile));
    expect((await ann.outcome(logId)).record).toMatchObject({
      state: "interrupted",
      error: { type: "ledger_lost" },
    });
    expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");
    const again = await ann.submit("work", { Name: "a", Hold: true }, { force_new: logId });
    expect(again.relation).toBe("created");
    await ann.reaches(again.record.logId, "running");
    bench.finish("a");
    expect((await ann.outcome(again.record.logId)).record.state).toBe("completed");
    expect(executions("b")).toBe(1);
  });

  test("is deleted while a read waits in the Editor: the read is sent again", async () => {
    const system = await start();
    const { editor, client } = system;
    const ann = client();
    editor.faults.stallMainThread(HOUR);
    const { record } = await ann.submit("look", { Name: "a" });
    await ann.reaches(record.logId, "dispatched");
    await crashWith(system, () => rmSync(editor.ledgerFile));
    editor.faults.stallMainThread(0);
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  });

  test("and what ended before keeps its recorded outcome", async () => {
    const system = await start();
    const { editor, client, executions } = system;
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    await crashWith(system, () => rmSync(editor.ledgerFile));
    await system.present(editor);
    expect(await ann.outcome(record.logId)).toMatchObject({
      record: { state: "completed" },
      result: '{"Done":"a"}',
    });
    expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });
});

describe("▲10 (d) the store forgets what the Editor knows", () => {
  test("flushed while it runs: the same log_id goes on, the same call joins it", async () => {
    const system = await start();
    const { editor, bench, client, redis, hand, executions } = system;
    const ann = client();
    const storeId = await hand.get(keys.storeId);
    const logId = await running(ann, "a");
    await redis.flush();
    await system.present(editor);
    const again = await ann.submit("work", { Name: "a", Hold: true });
    expect(again).toMatchObject({ relation: "joined", record: { logId } });
    bench.finish("a");
    expect(await ann.outcome(logId)).toMatchObject({
      record: { state: "completed", principal: "ann", tool: "work" },
      result: '{"Done":"a"}',
    });
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    expect(executions("a")).toBe(1);
    // Its Editors know the store by this.
    expect(await hand.get(keys.storeId)).toBe(storeId);
  });

  test("flushed while nobody worked: the outcome is reported by the Editor, under its log_id", async () => {
    const system = await start({ worker: null });
    const { editor, bench, client, redis, executions } = system;
    const first = await system.addWorker();
    await system.present(editor);
    const ann = client();
    const logId = await running(ann, "a");
    await first.close();
    bench.finish("a");
    await eventually(() => editor.status().unacknowledged.length === 1, "it ended");
    const storeId = system.store.storeId();
    await redis.flush();
    await system.hand.set(keys.storeId, storeId);
    await system.addWorker();
    await system.present(editor);
    expect(await ann.outcome(logId)).toMatchObject({
      record: { state: "completed" },
      result: '{"Done":"a"}',
    });
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });

  test("its record vanishes under the owner that follows it: the outcome brings it back", async () => {
    const system = await start();
    const { bench, client, hand, executions } = system;
    const ann = client();
    const logId = await running(ann, "a");
    const { hash } = await system.record(logId);
    await hand.del(keys.operation(logId), keys.chain(hash), keys.tombstone(logId));
    bench.finish("a");
    await eventually(
      async () => (await system.store.operations.find(logId))?.state === "completed",
      "it ended",
    );
    expect(await ann.outcome(logId)).toMatchObject({ result: '{"Done":"a"}' });
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });

  test("what was made again meanwhile stays the newest of its chain", async () => {
    const { client, store, hand } = await start({ worker: null });
    const ann = client();
    await store.editors.introduce(PROFILE);
    await store.editors.publishTools(PROFILE.editorId, [TOOL]);
    const { record: lost } = await ann.submit("work", { Name: "a" });
    await hand.del(keys.operation(lost.logId), keys.chain(lost.hash), keys.tombstone(lost.logId));
    const { record: newer } = await ann.submit("work", { Name: "a" });
    await hand.set(keys.lease(PROFILE.editorId), "owner");
    const sentBefore = { ...lost, state: "dispatched" as const };
    expect(await store.operations.restore(sentBefore, "other")).toBe(false);
    expect(await store.operations.restore(sentBefore, "owner")).toBe(true);
    expect(await store.operations.restore(sentBefore, "owner")).toBe(false);
    expect(await store.operations.chain(lost.hash, { principal: "ann", caller: null })).toMatchObject({
      newest: newer.logId,
    });
    expect((await ann.submit("work", { Name: "a" })).record.logId).toBe(newer.logId);
    expect((await store.operations.find(lost.logId))?.order).toBe(0);
    for (const { logId } of [lost, newer]) {
      await store.operations.change(logId, (record) => ({ record: { ...record, state: "expired" } }));
    }
    await hand.del(keys.lease(PROFILE.editorId));
  });
});

test("an unknown outcome comes with the Editor's last signs of life", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-editor-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const logPlaces = unityLogPlaces([folder]);
  const system = await start({ editor: { logFile: join(folder, "Editor.log") }, worker: { logPlaces } });
  const { editor, client } = system;
  const ann = client();
  const logId = await running(ann, "a");
  await eventually(
    async () => (await system.store.editors.find(editor.editorId))?.live?.runningOperationId === logId,
    "a heartbeat names it",
  );
  const last = Array.from({ length: 30 }, (_line, index) => `line ${index}`);
  await crashWith(system, () => {
    // As Unity does when it starts again.
    writeFileSync(join(folder, "Editor-prev.log"), `${"x".repeat(9_000)}\n${last.join("\n")}\nCrash!!!\n`);
    writeFileSync(join(folder, "Editor.log"), "A new session\n");
  });
  const { evidence } = answerOf(await ann.outcome(logId));
  expect(evidence).toMatchObject({ editor_phase: "ready", was_running: true });
  expect(evidence?.editor_log).toEqual([...last.slice(-19), "Crash!!!"]);
});

const PROFILE = {
  editorId: "game@1",
  projectName: "game",
  projectPath: "/projects/game",
  unityVersion: "6000.0.1f1",
  pid: 1,
  editorSessionId: "s1",
  generation: 0,
  assetCounter: 0,
};
const TOOL = {
  name: "work",
  description: "",
  inputSchema: { type: "object" as const },
  annotations: {},
  effect: "mutating" as const,
  lane: "main" as const,
  cancellable: false,
  resumable: false,
};
