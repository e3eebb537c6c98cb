import { readFileSync, statSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ToolDetails, ToolDetailsAnswer } from "../../../src/shared/tools/tool.js";
import { EndpointFile, Heartbeat, HelloResult } from "../../../src/shared/wire/wire.js";
import { askProven } from "../../harness/editor/proof.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { createStage, executions, helloRefusal, shakeHands } from "./simulator-client.js";

const stage = createStage();
const now = performance.now.bind(performance);
let passed = 0;
/** On the Editor's monotonic clock, which is this process's. */
function passes(ms: number): void {
  passed += ms;
  vi.spyOn(performance, "now").mockImplementation(() => now() + passed);
}
afterEach(async () => {
  vi.restoreAllMocks();
  passed = 0;
  await stage.clear();
  await expectNoLeak();
});

const block = (seconds: number) => ({
  arguments: { MenuItemPath: `Simulator/Block For ${seconds} Seconds` },
});

describe("hello", () => {
  test("is answered as the wire says, and heartbeats follow", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    expect(HelloResult.parse(owner.hello)).toMatchObject({
      editorId: editor.editorId,
      open: [],
      unacknowledged: [],
    });
    const beat = Heartbeat.parse(await owner.notice("bridge/heartbeat"));
    expect(beat).toMatchObject({ generation: 0, phase: "ready", queued: 0 });
  });

  test("with a wrong token is refused and the connection closed", async () => {
    const editor = await stage.editor();
    const client = await stage.client(editor);
    expect(await helloRefusal(client, { port: editor.port, token: `${editor.token}x` })).toMatchObject({
      code: -32010,
    });
    await client.gone;
    expect(editor.status().ledgerSeq).toBe(2);
  });

  test("nobody who said none may touch operations", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const stranger = await stage.client(editor);
    for (const method of ["operation/submit", "operation/list", "operation/revoke", "operation/ack"]) {
      expect(await stranger.refusal(method, owner.submitParams("op"))).toMatchObject({ code: -32010 });
    }
  });

  test("of a higher epoch takes the seat and closes the older connection; lower and equal ones are fenced", async () => {
    const editor = await stage.editor();
    const first = await stage.owner(editor, { epoch: 3, ownerNonce: "a" });
    const second = await stage.owner(editor, { epoch: 4, ownerNonce: "b" });
    await first.gone;
    expect(await second.submit("op")).toMatchObject({ state: "accepted" });
    for (const fields of [
      { epoch: 3, ownerNonce: "a" },
      { epoch: 4, ownerNonce: "a" },
    ]) {
      const late = await stage.client(editor);
      expect(await helloRefusal(late, editor, fields)).toMatchObject({
        code: -32011,
        data: { highestEpoch: 4 },
      });
    }
    expect(await second.refusal("operation/submit", second.submitParams("op-2", { epoch: 3 }))).toMatchObject(
      {
        code: -32011,
        data: { highestEpoch: 4 },
      },
    );
  });

  test("keeps the fence over a crash", async () => {
    const editor = await stage.editor();
    await stage.owner(editor, { epoch: 9, ownerNonce: "a" });
    await editor.faults.crash();
    await editor.faults.restart();
    const late = await stage.client(editor);
    expect(await helloRefusal(late, editor, { epoch: 8 })).toMatchObject({
      data: { highestEpoch: 9 },
    });
  });

  test("of another store waits for silence or a person", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const foreign = { storeId: "store-2", epoch: 2 };
    const client = await stage.client(editor);
    expect(await helloRefusal(client, editor, foreign)).toMatchObject({
      code: -32019,
      data: { boundTo: "store-1" },
    });
    editor.handOver();
    expect(await shakeHands(client, editor, foreign)).toMatchObject({ editorId: editor.editorId });
    await owner.gone;
  });

  test("of another store waits while the owner is connected, an hour of idleness long, and is told who that is", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const client = await stage.client(editor);
    const foreign = { storeId: "store-2", epoch: 2 };
    passes(3_600_000);
    expect(await helloRefusal(client, editor, foreign)).toMatchObject({
      code: -32019,
      data: { boundTo: "store-1", connected: true, brokerId: "broker-1", version: "test" },
    });
    await owner.request("operation/list", {});
  });

  test("of another store is let in a minute after the owner's connection ended", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const client = await stage.client(editor);
    const foreign = { storeId: "store-2", epoch: 2 };
    passes(3_600_000);
    owner.close();
    await eventually(async () => {
      const { data } = await helloRefusal(client, editor, foreign);
      return (data as { connected?: boolean }).connected === false;
    }, "the end of the connection");
    passes(30_000);
    expect(await helloRefusal(client, editor, foreign)).toMatchObject({ code: -32019 });
    passes(30_000);
    expect(await shakeHands(client, editor, foreign)).toMatchObject({ editorId: editor.editorId });
  });

  test("of the store that a person named has a minute to come, however long the owner before was away", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    owner.close();
    passes(3_600_000);
    const person = await stage.client(editor);
    await askProven(person, editor, "bridge/hand_over", { storeId: "store-3" });
    const client = await stage.client(editor);
    const refused = await helloRefusal(client, editor, { storeId: "store-2", epoch: 2 });
    expect(refused).toMatchObject({ code: -32019, data: { boundTo: "store-3", connected: false } });
    expect(refused.data).not.toHaveProperty("brokerId");
  });

  test("of another store is let in after silence, but not while something is open", async () => {
    const editor = await stage.editor({ foreignSilenceMs: 0 });
    const owner = await stage.owner(editor);
    await owner.submit("op", block(30));
    const client = await stage.client(editor);
    const foreign = { storeId: "store-2", epoch: 2 };
    expect(await helloRefusal(client, editor, foreign)).toMatchObject({ code: -32019 });
    await editor.faults.crash();
    await editor.faults.restart();
    const later = await stage.client(editor);
    expect(await shakeHands(later, editor, foreign)).toMatchObject({ editorId: editor.editorId });
  });
});

describe("an operation", () => {
  test("runs once, is reported running and finished, and is offered until it is acknowledged", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    expect(await owner.submit("op")).toMatchObject({ state: "accepted" });
    await owner.notice("operation/running");
    expect(await owner.finished("op")).toMatchObject({ status: "completed", result: { Success: true } });

    const again = await stage.owner(editor);
    expect(again.hello.unacknowledged).toEqual(["op"]);
    expect(await again.finished("op")).toMatchObject({ status: "completed" });
    expect(await again.submit("op")).toMatchObject({ state: "completed", outcome: { status: "completed" } });
    await again.request("operation/ack", { operationIds: ["op"] });

    const last = await stage.owner(editor);
    expect(last.hello.unacknowledged).toEqual([]);
    expect(await last.request("operation/get", { operationId: "op" })).toMatchObject({ state: "completed" });
    expect(executions(editor)).toEqual({ op: 1 });
  });

  test("submitted again attaches while it is queued, running and done", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const endFirst = await owner.hold("first");
    const work = { tool: "work-cancellable", arguments: { Name: "second", Hold: true } };
    await owner.submit("second", work);
    expect(await owner.submit("second", work)).toMatchObject({ state: "accepted" });
    await endFirst();
    await owner.notice("operation/running", (params) => params.operationId === "second");
    expect(await owner.submit("second", work)).toMatchObject({ state: "running" });
    await owner.request("operation/cancel", { operationId: "second" });
    await owner.finished("second");
    expect(await owner.submit("second", work)).toMatchObject({ state: "cancelled" });
    expect(executions(editor)).toEqual({ first: 1, second: 1 });
  });

  test("of a hash that ran already is the same as that one, and runs only after naming it", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    await owner.submit("one", { hash: "h", after: "gone", acceptedAt: 1000 });
    const outcome = await owner.finished("one");
    expect(await owner.submit("two", { hash: "h" })).toMatchObject({
      state: "same_as",
      operationId: "one",
      stateThere: "completed",
      origin: { principal: "local" },
      acceptedAt: 1000,
      after: "gone",
      startedAt: outcome.startedAt,
      endedAt: outcome.endedAt,
      endedIn: outcome.endedIn,
      outcome,
    });
    expect(await owner.request("operation/get", { operationId: "two" })).toMatchObject({ state: "unknown" });
    expect(await owner.submit("two", { hash: "h", after: "one" })).toMatchObject({ state: "accepted" });
    await owner.finished("two");
    expect(executions(editor)).toEqual({ one: 1, two: 1 });
  });

  test("of a hash with a large result is the same as that one, whose outcome travels without it", async () => {
    const editor = await stage.editor({ inlineResultBytes: 1000 });
    const owner = await stage.owner(editor);
    const work = { tool: "work", hash: "h", arguments: { Name: "x".repeat(2000) } };
    await owner.submit("one", work);
    const outcome = await owner.finished("one");
    expect(outcome.resultBytes).toBeGreaterThan(2000);
    const same = await owner.submit("two", work);
    expect(same).toMatchObject({ state: "same_as", outcome });
    expect(same.outcome).not.toHaveProperty("result");
  });

  test("with the id of another call is a conflict", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    await owner.submit("op");
    const other = owner.submitParams("op", { argumentsHash: "b" });
    expect(await owner.refusal("operation/submit", other)).toMatchObject({ code: -32012 });
  });

  test("revoked before it began never runs; one that began cannot be revoked", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const revoke = (operationId: string) => owner.request("operation/revoke", { operationId });
    const end = await owner.hold("running");
    await owner.submit("queued");
    expect(await revoke("queued")).toMatchObject({ state: "revoked" });
    expect(await revoke("never-seen")).toMatchObject({ state: "revoked" });
    expect(await revoke("running")).toMatchObject({ state: "already_started" });
    await end();
    await owner.finished("running");
    expect(await revoke("running")).toMatchObject({ state: "finished" });
    for (const id of ["queued", "never-seen"]) {
      expect(await owner.refusal("operation/submit", owner.submitParams(id))).toMatchObject({ code: -32021 });
    }
    expect(executions(editor)).toEqual({ running: 1 });
  });

  test("can be cancelled in the queue, and while running only where the tool can", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const cancel = (operationId: string) => owner.request("operation/cancel", { operationId });
    const tests = { tool: "run-tests", arguments: { SimulatedTests: 1000, SimulatedSeconds: 0.01 } };
    await owner.submit("tests", tests);
    await owner.notice("operation/running");
    await owner.submit("queued");
    expect(await cancel("queued")).toMatchObject({ state: "cancelled" });
    const queued = await owner.finished("queued");
    expect(queued.status).toBe("cancelled");
    expect(queued.startedAt).toBeUndefined();
    expect(await cancel("tests")).toMatchObject({ state: "requested" });
    expect((await owner.finished("tests")).status).toBe("cancelled");
    expect(await cancel("tests")).toMatchObject({ state: "finished" });
    await owner.submit("menu", block(3600));
    await owner.notice("operation/running", (params) => params.operationId === "menu");
    expect(await cancel("menu")).toMatchObject({ state: "not_cancellable" });
    expect(executions(editor)).toEqual({ tests: 1, menu: 1 });
  });

  test("that fails says why", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    await owner.submit("op", { arguments: { MenuItemPath: "Simulator/Fail" } });
    expect(await owner.finished("op")).toMatchObject({
      status: "failed",
      error: { type: "menu_item_failed", message: expect.any(String) },
    });
  });

  test("of a refused or unknown tool never begins", async () => {
    const editor = await stage.editor({ deniedTools: ["work"] });
    const owner = await stage.owner(editor);
    const refused = await owner.submit("op", { tool: "work", arguments: { Name: "a" } });
    expect(refused).toMatchObject({ state: "failed", outcome: { error: { type: "security_blocked" } } });
    expect(refused.outcome).not.toHaveProperty("startedAt");
    const unknown = owner.submitParams("op-2", { tool: "no-such-tool" });
    expect(await owner.refusal("operation/submit", unknown)).toMatchObject({ code: -32018 });
    expect(executions(editor)).toEqual({});
  });

  test("one at a time on the main thread in order, pings beside it", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const end = await owner.hold("a");
    await owner.submit("b");
    await owner.submit("c");
    await owner.submit("p", { tool: "ping", arguments: { Message: "hi" } });
    expect(await owner.finished("p")).toMatchObject({ result: { Message: expect.stringContaining("hi") } });
    expect(owner.unread("operation/finished")).toEqual([]);
    const busy = await owner.notice("bridge/heartbeat", (params) => Number(params.queued) === 2);
    expect(busy.runningOperationId).toBe("a");
    expect(busy.mainThreadStallMs).toBeGreaterThan(0);
    await end();
    await owner.finished("c");
    expect(editor.counter().map((line) => line.operationId)).toEqual(["a", "b", "c"]);
  });

  test("test runs tell each test, and the last report always arrives", async () => {
    const editor = await stage.editor({ progressIntervalMs: 60_000 });
    const owner = await stage.owner(editor);
    const args = { SimulatedTests: 8, SimulatedFailures: 1, SimulatedSeconds: 0.001 };
    await owner.submit("op", { tool: "run-tests", arguments: args });
    await owner.finished("op");
    const reports = owner.unread("operation/progress");
    expect(reports.map((report) => report.seq)).toEqual([1, 2]);
    expect(reports.at(-1)).toMatchObject({
      progress: 8,
      total: 8,
      partialResult: {
        completed: 8,
        passed: 7,
        failed: 1,
        failures: [{ name: "Simulated.EditMode.Test001" }],
      },
    });
  });

  test("a result over the limit is handed out in parts", async () => {
    const editor = await stage.editor({ inlineResultBytes: 1000 });
    const owner = await stage.owner(editor);
    await owner.submit("op", { tool: "get-hierarchy", arguments: { SimulatedSize: 50 } });
    const outcome = await owner.finished("op");
    expect(outcome.result).toBeUndefined();
    const parts: Buffer[] = [];
    for (let offset = 0; offset < Number(outcome.resultBytes); ) {
      const part = await owner.request("operation/result", { operationId: "op", offset, length: 5000 });
      parts.push(Buffer.from(String(part.base64), "base64"));
      offset += parts.at(-1)?.length ?? 0;
    }
    expect(JSON.parse(Buffer.concat(parts).toString("utf8"))).toMatchObject({ nodeCount: 50 });
  });
});

describe("the plain surface", () => {
  test("describes the tools so that the broker can read them", async () => {
    const editor = await stage.editor({ plainSurface: true });
    const client = await stage.client(editor);
    const answer = ToolDetailsAnswer.parse(await client.request("get-command-details"));
    const Tools = answer.Tools.map((entry) => ToolDetails.parse(entry));
    expect(Tools.map((tool) => tool.name)).toContain("execute-menu-item");
    for (const tool of Tools) expect(tool.inputSchema, tool.name).toMatchObject({ type: "object" });
    expect(Tools.filter((tool) => tool.lane === "background").map((tool) => tool.name)).toEqual([
      "ping",
      "get-logs",
    ]);
  });

  test("repeating a call whose answer was lost joins it", async () => {
    const editor = await stage.editor({ plainSurface: true });
    const call = { MenuItemPath: "Simulator/Block For 0.1 Seconds" };
    const client = await stage.client(editor);
    await client.request("set-client-name", { ClientName: "plain" });
    editor.faults.dropNextAnswerOf("execute-menu-item");
    await expect(client.request("execute-menu-item", call)).rejects.toThrow("ended");
    const again = await stage.client(editor);
    await again.request("set-client-name", { ClientName: "plain" });
    expect(await again.request("execute-menu-item", call)).toMatchObject({ Success: true });
    expect(editor.counter()).toHaveLength(1);
    expect(await again.request("execute-menu-item", call)).toMatchObject({ Success: true });
    expect(editor.counter()).toHaveLength(2);
  });

  test("is off, and the worker's own calls are operations even where it is on", async () => {
    const editor = await stage.editor();
    const client = await stage.client(editor);
    const open = await stage.editor({ plainSurface: true });
    const served = await stage.owner(open);
    expect(await served.request("ping", { message: "x" })).toMatchObject({ Message: expect.any(String) });
    const owner = await stage.owner(editor);
    for (const caller of [client, owner, served]) {
      expect(await caller.refusal("execute-menu-item", { MenuItemPath: "Assets/Refresh" })).toMatchObject({
        code: -32603,
        data: { type: "security_blocked" },
      });
    }
    expect(executions(editor)).toEqual({});
  });
});

describe("the endpoint file", () => {
  test("is private, right, and gone after close", async () => {
    const editor = await stage.editor();
    expect(statSync(editor.endpointFile).mode & 0o777).toBe(0o600);
    const written = EndpointFile.parse(JSON.parse(readFileSync(editor.endpointFile, "utf8")));
    expect(written).toMatchObject({ editorId: editor.editorId, port: editor.port, token: editor.token });
    await editor.close();
    expect(() => statSync(editor.endpointFile)).toThrow();
  });

  test("a given port that is taken is an error, not another port", async () => {
    const editor = await stage.editor();
    await expect(stage.editor({ port: editor.port })).rejects.toThrow("EADDRINUSE");
  });
});
