import { describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { eventually } from "../../harness/eventually.js";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const HOUR = 3_600_000;

/** A call that the Editor has, and has not begun. */
async function sent({ editor }: System, ann: Client, Name: string, stallMs = HOUR): Promise<string> {
  editor.faults.stallMainThread(stallMs);
  const { record } = await ann.submit("work", { Name });
  await eventually(() => editor.status().open.length === 1, "it was sent");
  await ann.reaches(record.logId, "dispatched");
  return record.logId;
}

async function running(ann: Client, tool: string, Name: string): Promise<string> {
  const { record } = await ann.submit(tool, { Name, Hold: true });
  await ann.reaches(record.logId, "running");
  return record.logId;
}

describe("the connection to the Editor is lost", () => {
  test("before the call arrives: it is sent again under the same id", async () => {
    const { client, editor, executions } = await start();
    const ann = client();
    editor.faults.dropNextRequestOf("operation/submit");
    const { record } = await ann.submit("work", { Name: "a" });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("before the answer arrives: the same id attaches", async () => {
    const { client, editor, executions } = await start();
    const ann = client();
    for (const Name of ["a", "b", "c"]) {
      editor.faults.dropNextAnswerOf("operation/submit");
      const { record } = await ann.submit("work", { Name });
      expect((await ann.outcome(record.logId)).record.state).toBe("completed");
      expect(executions(Name)).toBe(1);
    }
  });

  test("while it runs, again and again: it goes on", async () => {
    const { client, editor, bench, executions, present } = await start();
    const ann = client();
    const logId = await running(ann, "work", "a");
    for (let times = 0; times < 5; times += 1) {
      editor.faults.dropConnections();
      await present(editor);
    }
    bench.finish("a");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("in the moment of the end: the outcome is reported after hello", async () => {
    const { client, editor, bench, executions } = await start();
    const ann = client();
    const logId = await running(ann, "work", "a");
    editor.faults.dropConnections();
    bench.finish("a");
    expect((await ann.outcome(logId)).result).toBe('{"Done":"a"}');
    expect(executions("a")).toBe(1);
  });

  test("an Editor that falls silent is called again, and is only slow", async () => {
    const { client, editor, bench, executions, warnings } = await start({
      worker: { link: { heartbeatTimeoutMs: 300, backoff: { stepMs: 10, maxMs: 30 } } },
    });
    const ann = client();
    const logId = await running(ann, "work", "a");
    editor.faults.silence();
    await eventually(
      () => warnings.some((line) => line.includes("heartbeat_lost")),
      "the silence was noticed",
    );
    expect((await ann.until(logId, () => true)).record.state).toBe("running");
    editor.faults.speak();
    bench.finish("a");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("what was asked to stop and cannot goes on after a reconnect", async () => {
    const { client, editor, bench, broker, present } = await start();
    const ann = client();
    const logId = await running(ann, "work", "a");
    await broker.cancel("ann", logId, ann.caller);
    editor.faults.dropConnections();
    await present(editor);
    bench.finish("a");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
  });
});

describe("a domain reload", () => {
  test("interrupts what cannot go on, and says so; what waits runs afterwards", async () => {
    const { client, editor, executions, bench } = await start();
    const ann = client();
    const logId = await running(ann, "work", "a");
    const waiting = await ann.submit("work", { Name: "b" });
    await editor.faults.reload();
    const view = await ann.outcome(logId);
    expect(view.record).toMatchObject({
      state: "interrupted",
      error: { code: "OUTCOME_UNKNOWN", type: "domain_reload" },
    });
    expect(answerOf(view)).toMatchObject({ status: "error", force_new: logId });
    expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");

    // Unknown stays unknown until somebody takes it upon himself.
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
    const forced = await ann.submit("work", { Name: "a", Hold: true }, { force_new: logId });
    await ann.reaches(forced.record.logId, "running");
    bench.finish("a");
    await ann.outcome(forced.record.logId);
    expect(executions("a")).toBe(2);
  });

  test("a resumable operation goes on", async () => {
    const { client, editor, bench, executions } = await start();
    const ann = client();
    const logId = await running(ann, "work-resumable", "a");
    await editor.faults.reload();
    bench.finish("a");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("what was sent and not begun is queued again by the Editor itself", async () => {
    const system = await start();
    const { client, editor, executions } = system;
    const ann = client();
    const logId = await sent(system, ann, "a", 2_500);
    await editor.faults.reload();
    expect(editor.status().open).toMatchObject([{ operationId: logId, state: "accepted" }]);
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });
});

describe("the Editor crashes", () => {
  test("before it began, and remembers the call: it runs in the next session", async () => {
    const system = await start();
    const { client, editor, executions } = system;
    const ann = client();
    const logId = await sent(system, ann, "a");
    await editor.faults.crash({ keepUnflushed: true });
    await editor.faults.restart();
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("before it began, and has forgotten the call: unknown, never called not started", async () => {
    const system = await start();
    const { client, editor, executions } = system;
    const ann = client();
    const logId = await sent(system, ann, "a");
    await editor.faults.crash();
    await editor.faults.restart();
    const { record } = await ann.outcome(logId);
    expect(record).toMatchObject({ state: "interrupted", error: { code: "OUTCOME_UNKNOWN" } });
    expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
    expect(executions("a")).toBe(0);
  });

  test("while it runs: interrupted, and the same call does not run again", async () => {
    const { client, editor, executions } = await start();
    const ann = client();
    const logId = await running(ann, "work", "a");
    const waiting = await ann.submit("work", { Name: "b" });
    await editor.faults.crash();
    await editor.faults.restart();
    expect((await ann.outcome(logId)).record).toMatchObject({
      state: "interrupted",
      error: { code: "OUTCOME_UNKNOWN", type: "editor_exit" },
    });
    expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });

  test("after the end, before the worker heard of it: the next session tells the outcome", async () => {
    const system = await start({ worker: null });
    const { client, editor, bench, executions } = system;
    const worker = await system.addCabledWorker(editor);
    await system.present(editor);
    const ann = client();
    const logId = await running(ann, "work", "a");
    worker.toEditor.deafen();
    bench.finish("a");
    await eventually(() => editor.status().unacknowledged.length === 1, "it ended");
    await editor.faults.crash();
    worker.toEditor.fix();
    await editor.faults.restart();
    expect((await ann.outcome(logId)).result).toBe('{"Done":"a"}');
    expect(executions("a")).toBe(1);
  });

  test("a read that was lost with it is asked again", async () => {
    const { client, editor, bench } = await start();
    const ann = client();
    const logId = await running(ann, "look", "a");
    await editor.faults.crash();
    await editor.faults.restart();
    await eventually(() => bench.begun.length === 2, "it began again");
    bench.finish("a");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
  });
});

describe("acknowledgement", () => {
  test("waits until the outcome is durable, and a new connection does not hurry it", async () => {
    const { client, editor, present } = await start({ worker: { ackDelayMs: HOUR } });
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    editor.faults.dropConnections();
    await present(editor);
    await ann.outcome((await ann.submit("work", { Name: "b" })).record.logId);
    expect(editor.status().unacknowledged.map(({ operationId }) => operationId)).toContain(record.logId);
  });

  test("that is lost is said again, because the Editor names the outcome again", async () => {
    const { client, editor, executions } = await start();
    const ann = client();
    editor.faults.dropNextRequestOf("operation/ack");
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    expect(executions("a")).toBe(1);
  });
});

test("tools that change while hello is still being handled are not missed", async () => {
  const { client, editor, away, present, store } = await start();
  const known = editor.tools.get("work");
  if (!known) throw new Error("no such tool");
  editor.faults.delayAnswers(300);
  editor.faults.dropConnections();
  await away(editor);
  await present(editor);
  // Its tools were asked for, and the answer, which is old by now, is on its way.
  editor.tools.add({ ...known, name: "new-tool" });
  editor.toolsChanged();
  await eventually(
    async () => (await store.editors.tools(editor.editorId)).some(({ name }) => name === "new-tool"),
    "the new tool is published",
  );
  const ann = client();
  const { record } = await ann.submit("new-tool", { Name: "a" });
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
});

test("an Editor whose ledger cannot be written runs nothing", async () => {
  const { client, editor, executions } = await start();
  const ann = client();
  editor.faults.breakLedger(true);
  const { record } = await ann.submit("work", { Name: "a" });
  expect((await ann.outcome(record.logId)).record).toMatchObject({
    state: "failed",
    error: { code: "EDITOR_REFUSED", type: "ledger_unavailable" },
  });
  expect(executions("a")).toBe(0);
});

test("what an owner collects that the one before never heard of is dated by the Editor", async () => {
  const system = await start({ worker: null });
  const { client, editor } = system;
  const { toEditor, crash } = await system.addCabledWorker(editor);
  await system.present(editor);
  const ann = client();
  toEditor.deafen();
  const { record } = await ann.submit("work", { Name: "a" });
  await eventually(() => editor.status().unacknowledged.length === 1, "it ended");
  const endedBy = Date.now();
  crash();
  await system.addWorker();
  const { acceptedAt, startedAt, endedAt } = (await ann.outcome(record.logId)).record;
  expect(startedAt).toBeGreaterThanOrEqual(acceptedAt);
  expect(endedAt).toBeGreaterThanOrEqual(startedAt ?? 0);
  expect(endedAt).toBeLessThanOrEqual(endedBy);
});
