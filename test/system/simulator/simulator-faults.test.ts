import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { createControl } from "../../../src/simulator/fault-commands.js";
import {
  type OpenOperation,
  planRecovery,
  type RecoveryAction,
  type RecoveryCause,
} from "../../../src/simulator/wire/editor-session.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { createStage, executions, helloRefusal, type Owner } from "./simulator-client.js";

const stage = createStage();
afterEach(async () => {
  await stage.clear();
  await expectNoLeak();
});

const block = (seconds: number) => ({
  arguments: { MenuItemPath: `Simulator/Block For ${seconds} Seconds` },
});
const began = (owner: Owner, id: string) =>
  owner.notice("operation/running", (params) => params.operationId === id);
const stateOf = async (owner: Owner, operationId: string) =>
  (await owner.request("operation/get", { operationId })).state;

describe("recovery follows the golden table", () => {
  const golden = JSON.parse(readFileSync(new URL("../../golden/recovery.json", import.meta.url), "utf8")) as {
    cases: { name: string; cause: RecoveryCause; operations: OpenOperation[]; expected: RecoveryAction[] }[];
  };
  test.each(golden.cases.map((entry) => [entry.name, entry] as const))("%s", (_name, entry) => {
    expect(planRecovery(entry.cause, entry.operations)).toEqual(entry.expected);
  });
});

describe("a crash", () => {
  test("leaves running interrupted, accepted lost or not started, and nothing runs again by itself", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    await before.submit("running", block(30));
    await began(before, "running");
    await before.submit("queued");
    await editor.faults.crash({ keepUnflushed: true });
    await editor.faults.restart();
    const after = await stage.owner(editor);
    expect(after.hello.editorSessionId).not.toBe(before.hello.editorSessionId);
    expect(after.hello.ledgerId).toBe(before.hello.ledgerId);
    expect(after.hello.previousSession).toMatchObject({ editorSessionId: before.hello.editorSessionId });
    expect(await after.finished("running")).toMatchObject({
      status: "interrupted",
      error: { type: "editor_exit" },
    });
    expect(await stateOf(after, "queued")).toBe("not_started");
    expect(await after.submit("running", block(30))).toMatchObject({ state: "interrupted" });
    expect(executions(editor)).toEqual({ running: 1 });
    expect(await after.submit("queued")).toMatchObject({ state: "accepted" });
    await after.finished("queued");
    expect(executions(editor)).toEqual({ running: 1, queued: 1 });
  });

  test("may lose what was only accepted, and the durable ledgerSeq never goes back", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    editor.faults.stallMainThread(60_000);
    const { ledgerSeq } = await before.submit("queued");
    await editor.faults.crash();
    await editor.faults.restart();
    const after = await stage.owner(editor);
    expect(await stateOf(after, "queued")).toBe("unknown");
    expect(Number(after.hello.ledgerSeq)).toBeGreaterThan(Number(ledgerSeq));
    const previous = after.hello.previousSession as { ledgerSeq: number };
    expect(previous.ledgerSeq).toBeGreaterThanOrEqual(Number(ledgerSeq));
  });

  test("keeps outcomes that nobody acknowledged, and the chain", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    await before.submit("op", { hash: "h" });
    await before.finished("op");
    await editor.faults.crash();
    await editor.faults.restart();
    const after = await stage.owner(editor);
    expect(await after.finished("op")).toMatchObject({ status: "completed", result: { Success: true } });
    expect(await after.submit("again", { hash: "h" })).toMatchObject({ state: "same_as", operationId: "op" });
    expect(executions(editor)).toEqual({ op: 1 });
  });

  test("in the middle of a line: the torn tail is cut, what is before it counts", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    await before.submit("op");
    await before.finished("op");
    await editor.faults.crash();
    const good = readFileSync(editor.ledgerFile, "utf8");
    appendFileSync(
      editor.ledgerFile,
      '0badc0de {"seq":99,"kind":"revoked","operationId":"op"}\n12345678 {"se',
    );
    await editor.faults.restart();
    const after = await stage.owner(editor);
    expect(await after.submit("op")).toMatchObject({ state: "completed" });
    expect(readFileSync(editor.ledgerFile, "utf8").startsWith(good)).toBe(true);
    expect(readFileSync(editor.ledgerFile, "utf8")).not.toContain("0badc0de");
    expect(executions(editor)).toEqual({ op: 1 });
  });

  test("with a ledger restored from an older copy: the numbers tell", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    copyFileSync(editor.ledgerFile, `${editor.ledgerFile}.old`);
    await before.submit("op");
    await before.finished("op");
    const seen = editor.status().ledgerSeq;
    await editor.faults.crash();
    copyFileSync(`${editor.ledgerFile}.old`, editor.ledgerFile);
    await editor.faults.restart();
    const after = await stage.owner(editor);
    expect((after.hello.previousSession as { ledgerSeq: number }).ledgerSeq).toBeLessThan(seen);
    expect(await stateOf(after, "op")).toBe("unknown");
  });

  test("with the ledger gone: another ledger id, and submits for the old one are refused", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    await editor.faults.crash();
    writeFileSync(editor.ledgerFile, "");
    await editor.faults.restart();
    const after = await stage.owner(editor);
    const late = after.submitParams("op", { ledgerId: before.hello.ledgerId });
    expect(await after.refusal("operation/submit", late)).toMatchObject({ code: -32013 });
  });
});

describe("a domain reload", () => {
  test("interrupts what cannot resume, lets the others go on, and queues accepted ones again in order", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    await before.submit("menu", block(30));
    await began(before, "menu");
    for (const id of ["b", "c"]) await before.submit(id);
    await editor.faults.reload(0);
    await before.gone;
    const after = await stage.owner(editor);
    expect(after.hello).toMatchObject({ editorSessionId: before.hello.editorSessionId, generation: 1 });
    expect(await after.finished("menu")).toMatchObject({
      status: "interrupted",
      error: { type: "domain_reload" },
    });
    await after.finished("c");
    expect(editor.counter().map((line) => line.operationId)).toEqual(["menu", "b", "c"]);
  });

  test("does not end a test run", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    const args = { SimulatedTests: 30, SimulatedSeconds: 0.01 };
    await before.submit("tests", { tool: "run-tests", arguments: args });
    await before.notice("operation/progress");
    await editor.faults.reload(0);
    const after = await stage.owner(editor);
    expect(await after.finished("tests")).toMatchObject({ status: "completed", result: { completed: 30 } });
    expect(executions(editor)).toEqual({ tests: 1 });
  });

  test("forgets reads, which may be asked again", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    const look = { tool: "look", arguments: { Name: "a", Hold: true } };
    await before.submit("read", look);
    await began(before, "read");
    await editor.faults.reload(0);
    const after = await stage.owner(editor);
    expect(await stateOf(after, "read")).toBe("unknown");
    expect(await after.submit("read", { ...look, arguments: { Name: "a" } })).toMatchObject({
      state: "accepted",
    });
    expect((await after.finished("read")).status).toBe("completed");
  });

  test("follows a compilation that asks for one, and the push channel tells it", async () => {
    const editor = await stage.editor({ reloadMs: 0 });
    const push = await pushServer();
    const before = await stage.owner(editor);
    await before.request("set-client-name", {
      ClientName: "worker",
      PushNotificationEndpoint: `127.0.0.1:${push.port}`,
    });
    expect(await push.next()).toBe("CONNECTION_ESTABLISHED");
    const args = { SimulatedSeconds: 0, SimulatedReload: true };
    await before.submit("compile", { tool: "compile", arguments: args });
    await before.gone;
    expect(await push.next()).toBe("DOMAIN_RELOAD");
    expect(await push.next()).toBe("CONNECTION_ESTABLISHED");
    expect(await push.next()).toBe("DOMAIN_RELOAD_RECOVERED");
    const after = await stage.owner(editor);
    expect(await after.finished("compile")).toMatchObject({ status: "completed", result: { Success: true } });
    editor.toolsChanged();
    await after.notice("notifications/tools/list_changed");
    expect(await push.next()).toBe("TOOLS_CHANGED");
    await push.close();
  });
});

describe("a ledger that cannot be written", () => {
  test("refuses submits, and does not invoke what it accepted before", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const end = await owner.hold("running");
    await owner.submit("accepted");
    editor.faults.breakLedger(true);
    expect(await owner.refusal("operation/submit", owner.submitParams("late"))).toMatchObject({
      code: -32014,
      message: `The ledger cannot be written: the disk reports an error (EIO). Check the disk of ${dirname(editor.ledgerFile)}; nothing has to be restarted.`,
    });
    expect(await owner.refusal("operation/revoke", { operationId: "other" })).toMatchObject({ code: -32014 });
    await end();
    const outcome = await owner.finished("accepted");
    expect(outcome).toMatchObject({ status: "failed", error: { type: "ledger_unavailable" } });
    expect(outcome).not.toHaveProperty("startedAt");
    const client = await stage.client(editor);
    expect(await helloRefusal(client, editor, { epoch: 2 })).toMatchObject({
      code: -32014,
    });
    expect(executions(editor)).toEqual({ running: 1 });
  });

  test("tells an outcome at once, frees the lane, and writes the outcome when it can", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const end = await owner.hold("op");
    const seq = editor.status().ledgerSeq;
    editor.faults.breakLedger(true);
    await end();
    expect(await owner.finished("op")).toMatchObject({ status: "cancelled" });
    await owner.submit("read", { tool: "get-hierarchy", arguments: {} });
    expect(await owner.finished("read")).toMatchObject({ status: "completed" });
    expect(editor.status().ledgerSeq).toBe(seq);
    editor.faults.breakLedger(false);
    await owner.notice("bridge/heartbeat", ({ ledgerSeq }) => Number(ledgerSeq) > seq);
    await editor.faults.crash();
    await editor.faults.restart();
    const after = await stage.owner(editor);
    expect(await after.request("operation/get", { operationId: "op" })).toMatchObject({ state: "cancelled" });
    expect(executions(editor)).toEqual({ op: 1 });
  });

  test("and cannot be read: the Editor does not start with an empty one", async () => {
    const editor = await stage.editor();
    const before = await stage.owner(editor);
    await editor.faults.crash();
    const journal = readFileSync(editor.ledgerFile);
    rmSync(editor.ledgerFile);
    mkdirSync(editor.ledgerFile);
    await expect(editor.faults.restart()).rejects.toThrow(
      /The ledger cannot be read: .+start the Editor again/,
    );
    rmSync(editor.ledgerFile, { recursive: true });
    writeFileSync(editor.ledgerFile, journal);
    await editor.faults.restart();
    expect((await stage.owner(editor)).hello).toMatchObject({ ledgerId: before.hello.ledgerId });
  });
});

describe("the wire", () => {
  test("a lost answer, a lost request, a lost connection: the same id still runs once", async () => {
    const editor = await stage.editor();
    const first = await stage.owner(editor);
    editor.faults.dropNextAnswerOf("operation/submit");
    await expect(first.submit("op")).rejects.toThrow("ended");
    const second = await stage.owner(editor);
    await second.submit("op");
    editor.faults.dropNextRequestOf("operation/submit");
    await expect(second.submit("op-2")).rejects.toThrow("ended");
    const third = await stage.owner(editor);
    expect(await stateOf(third, "op-2")).toBe("unknown");
    editor.faults.dropConnections();
    await third.gone;
    const last = await stage.owner(editor);
    expect((await last.finished("op")).status).toBe("completed");
    expect(executions(editor)).toEqual({ op: 1 });
  });

  test("frames in pieces of a byte arrive whole", async () => {
    const editor = await stage.editor();
    editor.faults.splitFrames(1);
    const owner = await stage.owner(editor);
    await owner.submit("op");
    expect((await owner.finished("op")).status).toBe("completed");
  });

  test("a silent Editor goes on and says everything later, in order", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    editor.faults.silence();
    const submitted = owner.submit("op");
    const watcher = setInterval(() => {
      if (executions(editor).op === 1) editor.faults.speak();
    }, 5);
    expect(await submitted).toMatchObject({ state: "accepted" });
    clearInterval(watcher);
    await owner.finished("op");
  });

  test("delayed answers come after the notifications", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    editor.faults.delayAnswers(300);
    const answered = owner
      .submit("op", { arguments: { MenuItemPath: "Assets/Refresh" } })
      .then(() => "answer");
    const running = began(owner, "op").then(() => "running");
    expect(await Promise.race([answered, running])).toBe("running");
    editor.faults.delayAnswers(0);
    await answered;
  });

  test("garbage from the Editor is malformed to the client", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    editor.faults.garbage();
    await owner.gone;
  });

  test("a web page's POST is told off and cut; nothing of it is a frame", async () => {
    const editor = await stage.editor();
    const client = await stage.client(editor);
    client.raw("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\n");
    client.raw('{"jsonrpc":"2.0","id":1,"method":"compile"}\n');
    expect(await client.gone).toMatchObject([{ code: -32700 }]);
  });

  test("an over-long frame is refused and the connection stays", async () => {
    const editor = await stage.editor({ maxFrameBytes: 2000 });
    const owner = await stage.owner(editor);
    const stray = owner.request("ping", { Message: "x".repeat(3000) });
    expect(await owner.request("ping", {})).toMatchObject({ Message: expect.any(String) });
    owner.close();
    await expect(stray).rejects.toThrow("ended");
    expect(await owner.gone).toMatchObject([{ code: -32015 }]);
  });
});

describe("forgetting", () => {
  test("retires what may have been forgotten, the latest of a hash included", async () => {
    const editor = await stage.editor({ keepOperations: 0, forgetAfterMs: 0 });
    const owner = await stage.owner(editor);
    for (const [id, after, acceptedAt] of [
      ["one", null, 1000],
      ["two", "one", 2000],
      ["three", "two", 3000],
    ] as const) {
      await owner.submit(id, { hash: "h", after, acceptedAt });
      await owner.finished(id);
    }
    // The latest is not acknowledged: it is named as before.
    await owner.request("operation/ack", { operationIds: ["one", "two"] });
    expect(await stateOf(owner, "one")).toBe("unknown");
    expect(await owner.submit("late", { hash: "h", acceptedAt: 4000 })).toMatchObject({
      state: "same_as",
      operationId: "three",
    });
    await owner.request("operation/ack", { operationIds: ["three"] });
    for (const [id, acceptedAt] of [
      ["one", 1000],
      ["two", 2000],
      ["three", 3000],
    ] as const) {
      const again = owner.submitParams(id, { hash: "h", acceptedAt });
      expect(await owner.refusal("operation/submit", again)).toMatchObject({ code: -32020 });
    }
    expect(await owner.list()).toEqual([]);
    expect(await owner.submit("four", { hash: "h", after: "three", acceptedAt: 4000 })).toMatchObject({
      state: "accepted",
    });
    await owner.finished("four");
    expect(executions(editor)).toEqual({ one: 1, two: 1, three: 1, four: 1 });
  });
});

test("the control channel drives the faults and tells the state", async () => {
  const editor = await stage.editor();
  const owner = await stage.owner(editor);
  const input = new PassThrough();
  const output = new PassThrough();
  const control = createControl({ editor }, { input, output });
  const answers = createInterface({ input: output })[Symbol.asyncIterator]();
  const tell = async (command: unknown) => {
    input.write(`${typeof command === "string" ? command : JSON.stringify(command)}\n`);
    return JSON.parse((await answers.next()).value ?? "null");
  };
  await owner.submit("op", block(30));
  await began(owner, "op");
  expect(await tell({ do: "status" })).toMatchObject({
    ok: true,
    open: [{ operationId: "op", state: "running" }],
    executions: [{ operationId: "op", what: "Simulator/Block For 30 Seconds" }],
    endpoint: { port: editor.port },
  });
  expect(await tell({ do: "reload", downMs: 0 })).toEqual({ ok: true, generation: 1 });
  expect(await tell({ do: "crash" })).toEqual({ ok: true });
  expect(await tell({ do: "restart" })).toMatchObject({ ok: true, editorSessionId: expect.any(String) });
  expect(await tell({ do: "dance" })).toMatchObject({ ok: false });
  expect(await tell("{")).toEqual({ ok: false, error: "not JSON" });
  expect(await tell({ do: "quit" })).toEqual({ ok: true });
  await control.ended;
});

/** A worker's push server: the types of the lines, in order. */
async function pushServer() {
  const types: string[] = [];
  const takers: ((type: string) => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    createInterface({ input: socket }).on("line", (line) => {
      const { type } = JSON.parse(line) as { type: string };
      const taker = takers.shift();
      if (taker) taker(type);
      else types.push(type);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    next: () =>
      new Promise<string>((resolve) => {
        const type = types.shift();
        if (type === undefined) takers.push(resolve);
        else resolve(type);
      }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
