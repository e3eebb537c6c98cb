/** MCP for Unity's wire: what its answers mean, and that whatever a peer does with a call, it gets it once at most. */
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readTools, TOOL_LIMITS } from "../../../src/shared/tools/call-rules.js";
import type { Effect } from "../../../src/shared/tools/tool.js";
import type { Outcome, SubmitParams } from "../../../src/shared/wire/wire.js";
import type { Greeting, OwnWire } from "../../../src/worker/bridges/bridge.js";
import {
  createUnityMcpEditor,
  type UnityMcpOptions,
} from "../../../src/worker/bridges/unity-mcp/unity-mcp-editor.js";
import {
  PONG,
  startUnityMcpPeer,
  type UnityMcpPeer,
  type UnityMcpPeerOptions,
  unityFrame,
} from "../../harness/editor/unity-mcp-peer.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { SILENT } from "../../harness/silent.js";

const GREETING = "WELCOME UNITY-MCP 1 FRAMING=1\n";
const PROJECT = "/projects/Shop";
let folder: string;
let peer: UnityMcpPeer;
const wires: OwnWire[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-unity-mcp-"));
});
afterEach(async () => {
  for (const wire of wires.splice(0)) await wire.close();
  await peer.close();
  rmSync(folder, { recursive: true, force: true });
  await expectNoLeak();
});

async function open(given: Partial<UnityMcpPeerOptions> = {}): Promise<void> {
  peer = await startUnityMcpPeer({ folder, projectPath: PROJECT, ...given });
}

function callOf(operationId: string, tool: string, after: string | null = null): SubmitParams {
  return {
    ...{
      operationId,
      hash: `hash of ${tool}`.replaceAll(" ", "-"),
      after,
      acceptedAt: 1,
      tool,
      arguments: {},
    },
    ...{ argumentsHash: "f", origin: { principal: "ann", tool, fingerprint: "f" } },
    ...{ epoch: 1, ownerNonce: "n", ledgerId: "" },
  };
}

/** A worker that connects again and again. */
function worker(options: UnityMcpOptions = {}, effect: Effect = "mutating") {
  const outcomes = new Map<string, Outcome>();
  const editor = createUnityMcpEditor(
    {
      ...{ sentFolder: folder, log: SILENT, effectOf: async () => effect, limits: TOOL_LIMITS },
      identity: { editorId: "shop@1", projectName: "Shop", projectPath: PROJECT },
    },
    { busyPauseMs: 5, ...options },
  );
  const connect = async (): Promise<Greeting & { wire: OwnWire }> => {
    const wire = editor.open({ host: "127.0.0.1", port: peer.port, log: SILENT });
    wires.push(wire);
    await wire.opened;
    const greeting = await wire.greet((method, params) => {
      const { operationId, outcome } = params as { operationId: string; outcome: Outcome };
      if (method === "operation/finished") outcomes.set(operationId, outcome);
    });
    return { wire, ...greeting };
  };
  const ended = async (operationId: string): Promise<Outcome | undefined> => {
    await eventually(() => outcomes.has(operationId), `${operationId} has ended`);
    return outcomes.get(operationId);
  };
  return { connect, ended };
}

type Connected = Awaited<ReturnType<ReturnType<typeof worker>["connect"]>>;

const submit = ({ calls, hello }: Connected, call: SubmitParams) =>
  calls.submit({ ...call, ledgerId: hello.ledgerId });

describe("tools", () => {
  const toolsOf = async ({ calls }: Connected) =>
    new Map(readTools((await calls.toolDetails()).Tools).tools.map((tool) => [tool.name, tool]));

  test("an older bridge lists none: the known ones, with what they do", async () => {
    await open();
    const tools = await toolsOf(await worker().connect());
    const reads = [...tools.values()].filter(({ effect }) => effect === "read_only").map(({ name }) => name);
    expect(reads.sort()).toEqual(["find_gameobjects", "get_editor_state", "get_test_job", "read_console"]);
    expect([...tools.values()].map(({ effect }) => effect)).not.toContain("repeatable");
    expect(tools.get("execute_menu_item")?.inputSchema.required).toEqual(["menuPath"]);
  });

  test("those that are disabled or missing are left out, the project's own are added; none of these reads", async () => {
    const parameters = [{ name: "count", type: "integer", required: true }, { name: "what" }];
    await open({
      tools: [
        { name: "manage_editor", enabled: true, is_built_in: true },
        { name: "manage_scene", enabled: false, is_built_in: true },
        { name: "get-prices", enabled: true, is_built_in: false, description: "Prices", parameters },
        // Replaces the command of that name.
        { name: "find_gameobjects", enabled: true, is_built_in: false },
      ],
    });
    const tools = await toolsOf(await worker().connect());
    expect([...tools.keys()].sort()).toEqual([
      "find_gameobjects",
      "get-prices",
      "get_editor_state",
      "manage_editor",
    ]);
    expect(tools.get("get-prices")).toMatchObject({
      effect: "mutating",
      inputSchema: { properties: { count: { type: "integer" }, what: {} }, required: ["count"] },
    });
    expect(tools.get("find_gameobjects")?.effect).toBe("mutating");
  });
});

describe("an answer", () => {
  const answered = async (text: string): Promise<Outcome | undefined> => {
    await open();
    const { connect, ended } = worker();
    const line = await connect();
    const next = peer.next();
    await submit(line, callOf("one", "manage_editor"));
    (await next).answer(text);
    return ended("one");
  };
  const error = (fields: object) => JSON.stringify({ status: "error", ...fields });

  test.each([
    [
      "the handler's exception",
      { error: "No such tag", command: "Unknown", stackTrace: "" },
      "internal_error",
    ],
    [
      "an unknown command",
      { error: "Unknown or unsupported command type: manage_editor", command: "?" },
      "unknown_tool",
    ],
    [
      "a disabled tool",
      { error: "Tool 'manage_editor' is disabled in the Unity Editor.", command: "?" },
      "security_blocked",
    ],
  ])("%s: it has failed", async (_what, fields, type) => {
    expect(await answered(error(fields))).toMatchObject({ status: "failed", error: { type } });
  });

  test.each([
    ["the bridge's timeout", error({ error: "Command processing timed out after 30000 ms" })],
    ["the eviction from its queue", error({ error: "Command evicted: stuck too long in queue" })],
    ["an error without a text", error({})],
    [
      "a text that the command names, without who says it",
      error({ error: "Unknown or unsupported command type: x" }),
    ],
    ["no JSON", "{{{{"],
    ["not an answer", JSON.stringify({ jsonrpc: "2.0", id: 1, result: 1 })],
    ["a list", "[]"],
  ])("%s: nobody knows how it ended", async (_what, text) => {
    expect(await answered(text)).toMatchObject({ status: "interrupted" });
    expect(peer.begun).toEqual(["manage_editor"]);
  });
});

describe("▲12 a call whose connection is lost", () => {
  test("before it was sent: the next connection sends it, once", async () => {
    await open();
    const { connect, ended } = worker();
    const before = await connect();
    const first = peer.next();
    await submit(before, callOf("one", "manage_editor"));
    const begun = await first;
    await submit(before, callOf("two", "manage_scene"));
    peer.dropConnections();
    await before.wire.closed;
    begun.end();
    peer.free();
    expect(await ended("one")).toMatchObject({ status: "interrupted" });
    const after = await connect();
    expect(await after.calls.get("two")).toMatchObject({ state: "unknown" });
    await submit(after, callOf("two", "manage_scene"));
    expect(await ended("two")).toMatchObject({ status: "completed" });
    expect(peer.begun).toEqual(["manage_editor", "manage_scene"]);
  });

  test.each([
    ["after it was sent", undefined],
    ["in the middle of the answer's length", Buffer.from([0, 0, 0])],
    ["in the middle of the answer", Buffer.from([0, 0, 0, 0, 0, 0, 0, 100, 123, 34])],
  ])("%s: unknown; the same id attaches, the same call is named", async (_when, bytes) => {
    await open();
    const { connect, ended } = worker();
    const before = await connect();
    const next = peer.next();
    await submit(before, callOf("one", "manage_editor"));
    const begun = await next;
    if (bytes) begun.raw(bytes);
    begun.end();
    peer.dropConnections();
    expect(await ended("one")).toMatchObject({ status: "interrupted" });
    peer.free();
    const after = await connect();
    expect(await submit(after, callOf("one", "manage_editor"))).toMatchObject({ state: "interrupted" });
    expect(await submit(after, callOf("again", "manage_editor"))).toMatchObject({
      state: "same_as",
      operationId: "one",
    });
    expect(peer.begun).toEqual(["manage_editor"]);
  });

  test("a read is not sent again either, but is in no chain: the next one runs", async () => {
    await open();
    const { connect, ended } = worker({}, "read_only");
    const before = await connect();
    await before.calls.toolDetails();
    const next = peer.next();
    await submit(before, callOf("one", "read_console"));
    (await next).end();
    peer.dropConnections();
    expect(await ended("one")).toMatchObject({ status: "interrupted" });
    peer.free();
    const after = await connect();
    await after.calls.toolDetails();
    expect(await submit(after, callOf("one", "read_console"))).toMatchObject({ state: "interrupted" });
    await submit(after, callOf("two", "read_console"));
    expect(await ended("two")).toMatchObject({ status: "completed" });
    expect(peer.begun).toEqual(["read_console", "read_console"]);
  });

  test("because no answer came: a late one is taken for nothing", async () => {
    await open();
    const { connect, ended } = worker({ answerTimeoutMs: 50 });
    const before = await connect();
    const next = peer.next();
    await submit(before, callOf("one", "manage_editor"));
    const begun = await next;
    expect(await ended("one")).toMatchObject({ status: "interrupted" });
    expect(await before.wire.closed).toBe("peer_dead");
    begun.finish("late");
    peer.free();
    const after = await connect();
    await submit(after, callOf("two", "manage_scene"));
    expect(await ended("two")).toMatchObject({ status: "completed", result: { data: {} } });
    expect(peer.begun).toEqual(["manage_editor", "manage_scene"]);
  });
});

test("one command at a time, also behind one that the bridge answered before it ended", async () => {
  await open();
  const { connect, ended } = worker();
  const line = await connect();
  const next = peer.next();
  await submit(line, callOf("one", "manage_editor"));
  const begun = await next;
  await submit(line, callOf("two", "manage_scene"));
  begun.timeOut();
  peer.free();
  await eventually(() => peer.busyPings() >= 3, "it asks whether Unity is free");
  expect(peer.begun).toEqual(["manage_editor"]);
  expect(await line.calls.get("one")).toMatchObject({ state: "running" });
  expect(await line.calls.get("two")).toMatchObject({ state: "accepted" });
  begun.end();
  expect(await ended("one")).toMatchObject({ status: "interrupted" });
  expect(await ended("two")).toMatchObject({ status: "completed" });
});

test("one that waits in Unity behind the question whether it is free has not ended with that question's answer", async () => {
  await open();
  const { connect, ended } = worker();
  const line = await connect();
  const next = peer.next();
  await submit(line, callOf("one", "manage_editor"));
  const begun = await next;
  // Unity was busy until now, and takes the question up before the command.
  peer.refuses("ping", PONG, 1);
  begun.timeOut();
  await eventually(() => peer.busyPings() >= 1, "it is asked again");
  expect(await line.calls.get("one")).toMatchObject({ state: "running" });
  begun.end();
  expect(await ended("one")).toMatchObject({ status: "interrupted" });
});

test("a connection that is not used stays, because the bridge closes one that says nothing", async () => {
  await open();
  await worker({ keepAliveMs: 5 }).connect();
  await eventually(() => peer.pings() >= 3, "it says something");
});

describe("the peer is not the Editor that was meant", () => {
  test.each([
    ["another project", { projectRoot: "/projects/Other" }, "WrongEditor"],
    ["no project", { root: "?" }, "UnverifiedEditor"],
  ])("%s: it gets no command", async (_what, projectInfo, name) => {
    await open({ projectInfo });
    await expect(worker().connect()).rejects.toMatchObject({ name });
    expect(peer.begun).toEqual([]);
  });

  test("one that is busy does not say its project yet: nothing is sent", async () => {
    await open();
    peer.refuses("get_project_info", {
      status: "error",
      error: "Command processing timed out after 30000 ms",
    });
    await expect(worker().connect()).rejects.toMatchObject({ name: "UnverifiedEditor" });
  });
});

describe("a hostile peer", () => {
  const flood = (bytes: Buffer | string, pauseMs?: number) => (socket: Socket) => {
    socket.write(bytes);
    if (pauseMs === undefined) return;
    const clock = setInterval(() => socket.write("x"), pauseMs);
    socket.on("close", () => clearInterval(clock));
  };
  const HUGE = Buffer.from([255, 255, 255, 255, 255, 255, 255, 255]);
  const QUICK: UnityMcpOptions = { connection: { greetingTimeoutMs: 100, frameTimeoutMs: 100 } };

  test.each([
    ["says HTTP", flood("HTTP/1.1 400 Bad Request\r\n\r\n"), "malformed_frame"],
    ["asks for another framing", flood("WELCOME UNITY-MCP 1 FRAMING=0\n"), "malformed_frame"],
    ["says a greeting without end", flood("x".repeat(10_000)), "malformed_frame"],
    ["says nothing", flood(""), "frame_timeout"],
    ["says its greeting byte by byte, for ever", flood("", 5), "frame_timeout"],
    ["announces 2^64 bytes", flood(Buffer.concat([Buffer.from(GREETING), HUGE])), "malformed_frame"],
    [
      "answers before it was asked",
      flood(Buffer.concat([Buffer.from(GREETING), unityFrame("{}")])),
      "malformed_frame",
    ],
    [
      "sends frames without content for ever",
      flood(Buffer.concat([Buffer.from(GREETING), Buffer.alloc(8 * 1_001)])),
      "malformed_frame",
    ],
    [
      "begins a frame and goes on byte by byte",
      flood(Buffer.concat([Buffer.from(GREETING), Buffer.from([0, 0, 0, 0, 0, 0, 255, 0])]), 5),
      "frame_timeout",
    ],
  ])("%s: the connection ends, and nothing was sent", async (_what, onConnection, reason) => {
    let received = 0;
    await open({
      onConnection(socket) {
        socket.on("data", (chunk) => {
          if (chunk.includes("manage_")) received += 1;
        });
        onConnection(socket);
      },
    });
    await expect(worker(QUICK).connect()).rejects.toThrow();
    expect(await wires[0]?.closed).toBe(reason);
    expect(received).toBe(0);
  });

  test.each([
    ["an answer of 2^64 bytes", HUGE],
    ["two answers", Buffer.concat([unityFrame('{"status":"error"}'), unityFrame('{"status":"success"}')])],
    ["an answer of more values than are read", unityFrame(`[${"1,".repeat(1_100_000)}1]`)],
  ])("%s: unknown, and sent once", async (_what, bytes) => {
    await open();
    const { connect, ended } = worker();
    const line = await connect();
    const next = peer.next();
    await submit(line, callOf("one", "manage_editor"));
    (await next).raw(bytes);
    expect(await ended("one")).toMatchObject({ status: "interrupted" });
    expect(peer.begun).toEqual(["manage_editor"]);
  });
});
