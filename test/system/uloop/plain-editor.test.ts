/** An Editor whose bridge keeps no ledger: whatever happens to a call, it is sent once, and nothing is guessed. */

import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { isFinal, jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { environment } from "../../harness/processes/installation.js";
import { createProcesses, type RunningProcess } from "../../harness/processes/processes.js";
import { layCable } from "../../harness/system/cable.js";
import type { Client } from "../../harness/system/client.js";
import { hasJob } from "../../harness/system/job-state.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const HOUR = 3_600_000;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const plain = (options: SystemOptions = {}) =>
  start({ ...options, editor: { plain: true, ...options.editor } });

/** Work that the Editor has begun and that ends when the test says so. */
async function begun(system: System, client: Client, tool: string, name: string): Promise<string> {
  const { record } = await client.submit(tool, { Name: name, Hold: true });
  await system.bench.begins(name);
  return record.logId;
}

const logOf = ({ sentFolder, editor }: System): string =>
  join(sentFolder, encodeURIComponent(editor.editorId), "sent.log");
const sentIds = (system: System): string[] =>
  readFileSync(logOf(system), "utf8")
    .split("\n")
    .slice(2)
    .flatMap((line) => (line === "" ? [] : [line.split(" ")[0] ?? ""]));

describe("a plain Editor through the broker", () => {
  test("is known by its project, tells its tools, and runs them; the worker names itself once", async () => {
    const { client, editor, store, executions } = await plain();
    const ann = client();
    const known = await store.editors.find(editor.editorId);
    expect(known?.profile).toMatchObject({ plain: true, editorId: editor.editorId });
    const tools = await store.editors.tools(editor.editorId);
    const effects = Object.fromEntries(tools.map(({ name, effect }) => [name, effect]));
    expect(effects).toMatchObject({ "get-hierarchy": "read_only", compile: "repeatable", work: "mutating" });
    const { record } = await ann.submit("work", { Name: "a" });
    const view = await ann.outcome(record.logId);
    expect(view).toMatchObject({ record: { state: "completed" }, result: '{"Done":"a"}' });
    await ann.outcome((await ann.submit("work", { Name: "b" })).record.logId);
    expect([executions("a"), executions("b")]).toEqual([1, 1]);
    expect(editor.clientNames()).toEqual(["unity-job-broker 0.0.0"]);
  });

  test("an identical call is told so, and nobody says whether the Editor has changed since", async () => {
    const { client, executions } = await plain();
    const ann = client();
    await ann.outcome((await ann.submit("work", { Name: "a" })).record.logId);
    const again = await ann.submit("work", { Name: "a" });
    expect(again.relation).toBe("replayed");
    const answer = answerOf(await ann.outcome(again.record.logId), { duplicate: "replayed" });
    expect(answer).toMatchObject({ deduplicated: true });
    expect(answer).not.toHaveProperty("editor_changed_since");
    expect(executions("a")).toBe(1);
  });

  test("a new intent for the same call runs: the chain is the log's", async () => {
    const { client, executions } = await plain();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    const forced = await ann.submit("work", { Name: "a" }, { force_new: record.logId });
    expect((await ann.outcome(forced.record.logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(2);
  });

  test("what its security settings refuse has failed, and never began", async () => {
    const { client, executions } = await plain({ editor: { deniedTools: ["work"] } });
    const ann = client();
    const { record } = await ann.outcome((await ann.submit("work", { Name: "a" })).record.logId);
    expect(record).toMatchObject({
      state: "failed",
      error: { code: "EDITOR_REFUSED", type: "security_blocked" },
    });
    expect(executions("a")).toBe(0);
  });

  test("a tool that failed has failed, one that is gone never began", async () => {
    const system = await plain();
    const { client, editor, bench } = system;
    const ann = client();
    const logId = await begun(system, ann, "work", "a");
    bench.fail("a", "Unknown menu command: File/Nothing");
    expect((await ann.outcome(logId)).record.error).toMatchObject({
      code: "TOOL_FAILED",
      type: "internal_error",
    });
    editor.tools.remove("put");
    const { record } = await ann.outcome((await ann.submit("put", { Name: "b" })).record.logId);
    expect(record.error).toMatchObject({ code: "EDITOR_REFUSED", type: "unknown_tool" });
  });

  test("the largest arguments that a caller may send fit under its limit of 1 MiB", async () => {
    const { client, editor, executions } = await plain();
    const ann = client();
    const large = { Name: "a", Data: { text: "x".repeat(999_900) } };
    expect((await ann.outcome((await ann.submit("work", large)).record.logId)).record.state).toBe(
      "completed",
    );
    expect([executions("a"), editor.clientNames().length]).toEqual([1, 1]);
  });

  test("one call at a time; a running one cannot be cancelled, and that is said", async () => {
    const system = await plain();
    const { client, broker, bench, executions } = system;
    const ann = client();
    const logId = await begun(system, ann, "work", "a");
    const behind = await ann.submit("ping", { Message: "behind" });
    await broker.cancel("ann", logId, ann.caller);
    await eventually(
      async () => (await system.record(logId)).cancel?.answer === "not_cancellable",
      "the cancellation is answered",
    );
    expect((await system.record(behind.record.logId)).state).not.toBe("completed");
    bench.finish("a");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect((await ann.outcome(behind.record.logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });
});

describe("another program than the one that was meant", () => {
  test("a plain bridge where an endpoint file promises one of ours gets nothing", async () => {
    const system = await start({ worker: null });
    const { editor, broker, addEditor, addWorker, client } = system;
    const other = await addEditor({ plain: true, projectPath: "/projects/other" });
    // The Editor is gone, its file is not, and another one took its port.
    const shop = { ...editor.endpoint(), editorId: "shop@1", projectName: "Shop", port: other.port };
    writeFileSync(join(system.sentFolder, "..", "shop@1.json"), JSON.stringify(shop));
    await addWorker();
    await eventually(
      async () => (await broker.editors()).unreached.some(({ code }) => code === "HELLO_REFUSED"),
      "it is said",
    );
    const reported = (await broker.editors()).unreached.find(({ code }) => code === "HELLO_REFUSED");
    expect(reported?.message).toMatch(/plain uLoop bridge answers .* Nothing was sent to it/);
    expect(other.clientNames()).toEqual([]);
    await client()
      .submit("work", { Name: "a" }, { editor: "shop@1" })
      .catch(() => undefined);
    expect(other.counter()).toEqual([]);
  });

  test("a plain Editor compares the project that was meant before it runs anything", async () => {
    const system = await start({ worker: null });
    const { addEditor, addWorker, present, client, broker } = system;
    const editor = await addEditor({ plain: true });
    await addWorker();
    await present(editor);
    const { port } = editor.endpoint();
    await editor.close();
    const other = await addEditor({ plain: true, projectPath: "/projects/other", port });
    const ann = client();
    await ann.submit("work", { Name: "a" }, { editor: editor.editorId });
    await eventually(
      async () =>
        (await broker.editors()).editors.some(({ diagnosis }) => diagnosis?.code === "WRONG_PROJECT"),
      "it is said",
    );
    expect(other.counter()).toEqual([]);
  });
});

describe("▲12 a lost connection", () => {
  test("behind a call that may have changed something: unknown, with evidence, and never sent again", async () => {
    const system = await plain();
    const { client, editor, present, executions } = system;
    const ann = client();
    const logId = await begun(system, ann, "work", "a");
    editor.faults.dropConnections();
    const { record } = await ann.outcome(logId);
    expect(record).toMatchObject({
      state: "interrupted",
      error: { code: "OUTCOME_UNKNOWN", type: "connection_lost" },
    });
    expect(record.error?.message).toMatch(/connection to the Editor ended .* s after it was sent/);
    await present(editor);
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });

  test("a read is sent again", async () => {
    const system = await plain();
    const { client, editor, bench, store } = system;
    const ann = client();
    const known = editor.tools.get("look");
    if (!known) throw new Error("no such tool");
    // Where a bridge says nothing, a tool reads if its name says so.
    editor.tools.add({ ...known, name: "get-look" });
    editor.toolsChanged();
    await eventually(
      async () => (await store.editors.tools(editor.editorId)).some(({ name }) => name === "get-look"),
      "the new tool is published",
    );
    const { record } = await ann.submit("get-look", { Name: "a", Hold: true });
    await bench.begins("a");
    editor.faults.dropConnections();
    // It runs on in the Editor, whose main thread is one.
    bench.finish("a");
    await eventually(() => bench.begun.length === 2, "it began again");
    bench.finish("a");
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(sentIds(system)).toEqual([]);
  });

  test("what waited behind another call was not written down, and runs", async () => {
    const system = await plain();
    const { client, editor, executions } = system;
    const ann = client();
    editor.faults.stallMainThread(HOUR);
    const first = await ann.submit("ping", { Message: "first" });
    await ann.reaches(first.record.logId, "running");
    const waiting = await ann.submit("work", { Name: "b" });
    await ann.reaches(waiting.record.logId, "dispatched");
    expect(sentIds(system)).toEqual([]);
    editor.faults.dropConnections();
    editor.faults.stallMainThread(0);
    expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");
    expect((await ann.outcome(first.record.logId)).record.state).toBe("completed");
    expect(sentIds(system)).toEqual([waiting.record.logId]);
    expect(executions("b")).toBe(1);
  });

  test("by the end of the worker itself: said at once, and not run again", async () => {
    const system = await plain({ worker: null });
    const { client, editor, present, addWorker, executions } = system;
    const worker = await addWorker();
    await present(editor);
    const ann = client();
    const logId = await begun(system, ann, "work", "a");
    await worker.close();
    expect((await system.record(logId)).error).toMatchObject({
      code: "OUTCOME_UNKNOWN",
      type: "connection_lost",
    });
    await addWorker();
    await present(editor);
    expect(executions("a")).toBe(1);
  });

  test("by a domain reload: the worker is back for what waits", async () => {
    const system = await plain();
    const { client, editor, executions } = system;
    const ann = client();
    await editor.faults.reload(100);
    const { record } = await ann.submit("work", { Name: "b" });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(executions("b")).toBe(1);
  });

  test("the answer comes, the connection goes: the outcome stands", async () => {
    const system = await plain({ commandTimeoutMs: 5_000 });
    const { client, editor, executions } = system;
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    editor.faults.dropConnections();
    expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });
});

/** `unity-broker worker` as a process of its own, to be killed. */
async function startProcess(system: System): Promise<RunningProcess> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-plain-"));
  const toRedis = await layCable(() => system.redis.connection);
  const processes = createProcesses();
  closers.push(async () => {
    expect(await processes.close()).toEqual([]);
    await toRedis.close();
    rmSync(folder, { recursive: true });
  });
  const env = environment(folder, {
    REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
    UNITY_BROKER_DATA_DIR: folder,
    UNITY_BROKER_EDITORS_DIR: join(system.sentFolder, ".."),
    UNITY_BROKER_EDITORS: system.editor.endpoint().projectPath,
  });
  const worker = processes.start("worker", ["worker"], env);
  await worker.line(/^Worker for/);
  return worker;
}

describe("▲12 a worker is killed in the middle of a call", () => {
  test("started again, it finds the call in sent.log: unknown, with evidence, not run again", async () => {
    const system = await plain({ worker: null });
    const { client, editor, present, executions } = system;
    const worker = await startProcess(system);
    await present(editor);
    const ann = client();
    const logId = await begun(system, ann, "work", "a");
    await worker.kill("SIGKILL");
    await startProcess(system);
    const { record } = await ann.outcome(logId);
    expect(record).toMatchObject({ state: "interrupted", error: { code: "OUTCOME_UNKNOWN" } });
    expect(record.error?.message).toMatch(/sent at 20.*\(sent\.log\)/);
    expect(executions("a")).toBe(1);
    expect(sentIds(system)).toEqual([logId]);
  });

  test("its sent.log was deleted before, and it had written it again: not run again", async () => {
    const system = await plain({ worker: null });
    const { client, editor, present, executions } = system;
    const worker = await startProcess(system);
    await present(editor);
    const ann = client();
    const first = await ann.submit("work", { Name: "a" });
    await ann.outcome(first.record.logId);
    rmSync(system.sentFolder, { recursive: true });
    const logId = await begun(system, ann, "work", "b");
    expect(sentIds(system)).toEqual([first.record.logId, logId]);
    await worker.kill("SIGKILL");
    await startProcess(system);
    expect((await ann.outcome(logId)).record.error?.message).toMatch(/sent at 20.*\(sent\.log\)/);
    expect([executions("a"), executions("b")]).toEqual([1, 1]);
  });

  test("and sent.log is lost as well: unknown, never called unsent", async () => {
    const system = await plain({ worker: null });
    const { client, editor, present, executions } = system;
    const worker = await startProcess(system);
    await present(editor);
    const ann = client();
    const logId = await begun(system, ann, "work", "a");
    await worker.kill("SIGKILL");
    rmSync(system.sentFolder, { recursive: true });
    await system.addWorker();
    expect((await ann.outcome(logId)).record).toMatchObject({
      state: "interrupted",
      error: { code: "OUTCOME_UNKNOWN" },
    });
    expect(executions("a")).toBe(1);
  });

  /** As if the last seconds of the store were lost: its record and its job are as they were at `then`. */
  async function goBack({ store, hand }: System, then: OperationRecord): Promise<void> {
    await eventually(async () => !(await hasJob(store, then)), "its job has ended");
    for (const key of await hand.keys(`{ujb}:bull:*${jobIdOf(then)}*`)) await hand.del(key);
    await hand.hset(`{ujb}:operation:${then.logId}`, "doc", JSON.stringify(then));
    await store.queues.restore(then);
  }

  async function cutWhileRunning(system: System): Promise<OperationRecord> {
    const ann = system.client();
    const logId = await begun(system, ann, "work", "a");
    const record = await system.record(logId);
    system.editor.faults.dropConnections();
    await ann.outcome(logId);
    system.bench.finish("a");
    return record;
  }

  test("U: and the store forgets that it was sent: the id in sent.log is not sent", async () => {
    const system = await plain({ worker: null });
    const worker = await system.addWorker();
    await system.present(system.editor);
    const {
      sentIn: _sentIn,
      dispatchedAt: _at,
      startedAt: _began,
      ...unsent
    } = await cutWhileRunning(system);
    // What it remembers itself goes with it.
    await worker.close();
    await goBack(system, { ...unsent, state: "queued" });
    await system.addWorker();
    const state = async () => (await system.record(unsent.logId)).state;
    await eventually(async () => isFinal(await state()), "it has ended");
    expect(await state()).toBe("interrupted");
    expect(system.executions("a")).toBe(1);
  });

  test("and the store remembers that it was sent, but its log is another: never called unsent", async () => {
    const system = await plain({ worker: null });
    const worker = await system.addWorker();
    await system.present(system.editor);
    const then = await cutWhileRunning(system);
    await worker.close();
    rmSync(system.sentFolder, { recursive: true });
    await goBack(system, { ...then, state: "dispatched" });
    await system.addWorker();
    const state = async () => (await system.record(then.logId)).state;
    await eventually(async () => (await state()) === "interrupted", "it is called unknown");
    expect(system.executions("a")).toBe(1);
  });

  test("and the store forgets the whole operation: its retry is the same call, and unknown", async () => {
    const system = await plain({ worker: null });
    const { client, editor, present, hand, executions } = system;
    const worker = await system.addWorker();
    await present(editor);
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    // Its outcome was only in the store, and in this worker.
    await worker.close();
    await system.addWorker();
    const ofTheCall = await hand.keys(`{ujb}:*${record.hash}*`);
    await hand.del(...ofTheCall, ...(await hand.keys(`{ujb}:*${record.logId}*`)));
    const retry = await ann.submit("work", { Name: "a" });
    expect(retry.record.logId).not.toBe(record.logId);
    const { record: reported } = await ann.outcome(retry.record.logId);
    expect(reported).toMatchObject({ state: "interrupted", error: { code: "OUTCOME_UNKNOWN" } });
    expect(reported.executedAs).toBeUndefined();
    expect((await ann.submit("work", { Name: "a" })).record.logId).toBe(reported.logId);
    expect(executions("a")).toBe(1);
    expect(editor.counter()).toHaveLength(1);
  });
});

describe("▲12 sent.log", () => {
  test("is this user's alone, and holds what was sent before it was", async () => {
    const system = await plain();
    const ann = system.client();
    const logId = await begun(system, ann, "work", "a");
    expect(sentIds(system)).toEqual([logId]);
    expect(statSync(logOf(system)).mode & 0o777).toBe(0o600);
    system.bench.finish("a");
    await ann.outcome(logId);
  });

  test.skipIf(process.getuid?.() === 0)("cannot be written: the call is not sent", async () => {
    const system = await plain();
    const ann = system.client();
    chmodSync(logOf(system), 0o400);
    const { record } = await ann.outcome((await ann.submit("work", { Name: "a" })).record.logId);
    expect(record.error).toMatchObject({ code: "EDITOR_REFUSED", type: "ledger_unavailable" });
  });

  test("is gone and cannot be written again: the call is not sent, reads are, until it can be", async () => {
    const system = await plain();
    const { client, executions } = system;
    const ann = client();
    const folder = dirname(logOf(system));
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "in the way");
    const { record } = await ann.outcome((await ann.submit("work", { Name: "a" })).record.logId);
    expect(record).toMatchObject({
      state: "failed",
      error: { code: "EDITOR_REFUSED", type: "ledger_unavailable" },
    });
    expect(executions("a")).toBe(0);
    expect((await ann.outcome((await ann.submit("ping", { Message: "x" })).record.logId)).record.state).toBe(
      "completed",
    );
    rmSync(folder);
    const next = await ann.submit("work", { Name: "b" });
    expect((await ann.outcome(next.record.logId)).record.state).toBe("completed");
    expect(sentIds(system)).toEqual([next.record.logId]);
  });

  test("torn by a crash: the next call is written behind it and runs", async () => {
    const system = await plain();
    const { client, editor, present, executions } = system;
    const ann = client();
    appendFileSync(logOf(system), "\nabcdef-torn 1234 17");
    editor.faults.dropConnections();
    await present(editor);
    const { record } = await ann.submit("work", { Name: "a" });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(sentIds(system)).toContain(record.logId);
    expect(executions("a")).toBe(1);
  });
});
