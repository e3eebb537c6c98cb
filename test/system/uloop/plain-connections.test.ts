/** A bridge without a ledger whose connection ends while a call is being accepted. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TOOL_LIMITS } from "../../../src/shared/tools/call-rules.js";
import type { SubmitParams } from "../../../src/shared/wire/wire.js";
import type { PlainEditorDeps } from "../../../src/worker/bridges/plain-editor.js";
import { openSentLog } from "../../../src/worker/bridges/sent-log.js";
import { createUloopEditor } from "../../../src/worker/bridges/uloop-editor.js";
import { type Connection, createConnection } from "../../../src/worker/transport/connection.js";
import { startTcpPeer, type TcpPeer } from "../../harness/editor/tcp-peer.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { SILENT } from "../../harness/silent.js";

let peer: TcpPeer;
let folder: string;
const lines: Connection[] = [];

beforeEach(async () => {
  peer = await startTcpPeer();
  folder = mkdtempSync(join(tmpdir(), "ujb-plain-"));
});

afterEach(async () => {
  for (const line of lines.splice(0)) await line.close();
  await peer.close();
  rmSync(folder, { recursive: true, force: true });
  await expectNoLeak();
});

const CALL: SubmitParams = {
  ...{ operationId: "one", hash: "h", after: null, acceptedAt: 1, tool: "work", arguments: { Name: "a" } },
  ...{ argumentsHash: "f", origin: { principal: "ann", tool: "work", fingerprint: "f" } },
  ...{ epoch: 1, ownerNonce: "n", ledgerId: "l" },
};

/** A worker that connects again and again. */
function stage(given: Partial<PlainEditorDeps>) {
  const reported: string[] = [];
  const editor = createUloopEditor({
    ...{ sentFolder: folder, log: SILENT, effectOf: async () => "mutating" as const, limits: TOOL_LIMITS },
    identity: { editorId: "game@1", projectName: "Game", projectPath: undefined },
    ...given,
  });
  const open = async () => {
    const line = createConnection({ host: "127.0.0.1", port: peer.port, log: SILENT, onNotification() {} });
    lines.push(line);
    await line.opened;
    const there = await peer.accept();
    return { line, there, greeting: editor.greet(line, (method) => reported.push(method)) };
  };
  const connect = async () => {
    const { greeting, ...connection } = await open();
    return { ...connection, ...(await greeting) };
  };
  return { open, connect, reported };
}

/** What happens at the first time happens when the test says so. */
function first(): { waits(): Promise<void>; let(): void } {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let times = 0;
  return {
    async waits() {
      times += 1;
      if (times === 1) await held;
    },
    let: () => release(),
  };
}

test("it was not sent there, says so, and the next connection sends it", async () => {
  const store = first();
  const effectOf = async (): Promise<"mutating"> => {
    await store.waits();
    return "mutating";
  };
  const { connect } = stage({ effectOf });
  const before = await connect();
  const left = before.calls.submit(CALL);
  const refused = expect(left).rejects.toMatchObject({ name: "ConnectionLost", sent: false });
  before.there.end();
  await before.line.closed;
  const after = await connect();
  store.let();
  await refused;
  expect(await after.calls.submit(CALL)).toMatchObject({ state: "accepted" });
  const { id, params } = await after.there.nextRequest("work");
  expect(params).toMatchObject({ Name: "a" });
  after.there.reply(id, {});
});

test("the slow disk of a connection that is gone ends no call of the next one", async () => {
  const disk = first();
  let asked: () => void = () => undefined;
  const entering = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let answered: Promise<boolean> | undefined;
  const { connect, reported } = stage({
    async openLog(path) {
      const log = await openSentLog(path);
      const enter: typeof log.enter = (call) => {
        asked();
        const answer = disk.waits().then(() => log.enter(call));
        answered ??= answer;
        return answer;
      };
      return Object.assign(Object.create(log) as typeof log, { enter });
    },
  });
  const before = await connect();
  await before.calls.submit(CALL);
  await entering;
  before.there.end();
  await before.line.closed;
  const after = await connect();
  await after.calls.submit(CALL);
  const { id } = await after.there.nextRequest("work");
  disk.let();
  expect(await answered).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await after.calls.get(CALL.operationId)).toMatchObject({ state: "running" });
  after.there.reply(id, { Done: "a" });
  await eventually(() => reported.includes("operation/finished"), "it ends");
  expect(await after.calls.get(CALL.operationId)).toMatchObject({ state: "completed" });
});

test("a sent.log that is deleted, before this connection or on it, is written again under its id", async () => {
  const { connect } = stage({});
  const before = await connect();
  await before.calls.submit(CALL);
  await before.there.nextRequest("work");
  before.there.end();
  await before.line.closed;
  rmSync(folder, { recursive: true });
  const after = await connect();
  expect(after.hello.ledgerId).toBe(before.hello.ledgerId);
  await after.calls.ack([CALL.operationId]);
  const again = { ...CALL, hash: "other" };
  const expectKnown = async () =>
    expect(await after.calls.submit(again)).toMatchObject({ outcome: { status: "interrupted" } });
  await expectKnown();
  rmSync(folder, { recursive: true });
  await expectKnown();
  await after.calls.submit({ ...CALL, operationId: "two", hash: "h2" });
  after.there.reply((await after.there.nextRequest("work")).id, {});
  const written = await openSentLog(join(folder, encodeURIComponent("game@1")));
  expect(written.entries().map(({ operationId }) => operationId)).toEqual(["one", "two"]);
});

test("a sent.log that is another one now is refused, until a person does what the message says", async () => {
  const { connect } = stage({});
  const { calls, there } = await connect();
  const logs = join(folder, encodeURIComponent("game@1"));
  rmSync(logs, { recursive: true });
  await openSentLog(logs);
  const refusal = await calls.submit(CALL).catch((error: Error) => error.message);
  expect(refusal).toContain(`Remove ${logs}: this worker then writes`);
  expect(refusal).not.toContain("restarted");
  rmSync(logs, { recursive: true });
  expect(await calls.submit(CALL)).toMatchObject({ state: "accepted" });
  there.reply((await there.nextRequest("work")).id, {});
});

test("a call that the bridge could not read never began: its answer has no id", async () => {
  const { connect, reported } = stage({});
  const { calls, there } = await connect();
  await calls.submit(CALL);
  await there.nextRequest("work");
  const data = { type: "internal_error", message: "The reader's MaxDepth of 64 has been exceeded." };
  there.fail(null, -32603, "Internal error", data);
  await eventually(() => reported.includes("operation/finished"), "it ends");
  const { outcome } = await calls.get(CALL.operationId);
  expect(outcome).toMatchObject({ status: "failed", error: { type: "invalid_arguments" } });
  expect(outcome).not.toHaveProperty("startedAt");
});

describe("the project's own settings", () => {
  /** What a bridge is asked first, of a project whose settings say this. */
  const asked = async (fields: object) => {
    mkdirSync(join(folder, "UserSettings"), { recursive: true });
    const text = JSON.stringify({ customPort: peer.port, ...fields });
    writeFileSync(join(folder, "UserSettings", "UnityMcpSettings.json"), text);
    const identity = { editorId: "game@1", projectName: "Game", projectPath: folder };
    const { greeting, there } = await stage({ identity }).open();
    greeting.catch(() => undefined);
    return { greeting, there };
  };
  const running = { projectRootPath: "C:/Game", serverSessionId: "s1" };

  test("tell project and session, both of which the bridge compares with each request", async () => {
    const { greeting, there } = await asked(running);
    const first = await there.nextRequest("get-tool-details");
    there.reply(first.id, { Tools: [] });
    const { calls } = await greeting;
    await calls.submit(CALL);
    const call = await there.nextRequest("work");
    there.reply(call.id, {});
    const guard = { expectedProjectRoot: "C:/Game", expectedServerSessionId: "s1" };
    expect([first.guard, call.guard]).toEqual([guard, guard]);
  });

  test("of a version before 2.0 name no session: nothing is compared", async () => {
    const { greeting, there } = await asked({});
    const { calls } = await greeting;
    await calls.submit(CALL);
    expect((await there.nextRequest("work")).guard).toBeUndefined();
  });

  test.each([
    ["Connected Unity instance belongs to a different project.", { name: "WrongEditor" }],
    ["Unity CLI Loop server session changed. Retry the command.", { name: "RpcFailure" }],
  ])("that do not fit what answers: %s", async (message, error) => {
    const { greeting, there } = await asked(running);
    const { id } = await there.nextRequest("get-tool-details");
    there.fail(id, -32603, message, { type: "internal_error", message: "" });
    await expect(greeting).rejects.toMatchObject(error);
  });

  test("of a server that does not run: who answers there is another one, and is sent nothing", async () => {
    const { greeting, there } = await asked({ ...running, serverSessionId: "" });
    await expect(greeting).rejects.toMatchObject({ name: "UnverifiedEditor" });
    there.end();
    await expect(there.nextMessage()).rejects.toThrow("the connection ended");
  });
});
