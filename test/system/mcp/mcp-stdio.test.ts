import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import { type StdioService, serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { completeTool, ToolDetails } from "../../../src/shared/tools/tool.js";
import { parameters } from "../../../src/simulator/tool-definition.js";
import {
  cancelOf,
  createHeardLog,
  createLinePeer,
  createPipes,
  createPipeTransport,
  INITIALIZE,
  reported,
  toolCall,
} from "../../harness/mcp/mcp.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const services: StdioService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

/** Nothing is a quick answer here: only naming the log_id proves that an outcome was read. */
const CAREFUL: SystemOptions = {
  gateway: { replay: { ...REPLAY_DEFAULTS, readWithinMs: 0 } },
};
const PROGRESS = { everyMs: 20, minMs: 1 };

function serve(system: System) {
  const pipes = createPipes();
  const log = createHeardLog();
  const service = serveStdio({ gateway: system.gateway, log, version: "0.0.0" }, pipes, {
    progress: PROGRESS,
    listDebounceMs: 10,
  });
  services.push(service);
  return { pipes, log, service };
}

async function rawClient(system: System) {
  const served = serve(system);
  const peer = createLinePeer(served.pipes);
  peer.send(INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" });
  await peer.answer(0);
  return { ...served, ...peer };
}

async function sdkClient(system: System) {
  const served = serve(system);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(createPipeTransport(served.pipes));
  return { ...served, client };
}

const structured = (result: Record<string, unknown>): Answer => result.structuredContent as Answer;

describe("a real client over stdio", () => {
  test("lists the Editor's tools and the broker's, sorted, with the broker's parameters", async () => {
    const { client } = await sdkClient(await start());
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(["work", "get_operation_result", "list_editors"]));
    const work = tools.find(({ name }) => name === "work");
    expect(Object.keys(work?.inputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(["Name", "timeout", "idempotency_key", "force_new"]),
    );
    // What the protocol assumes of a tool is not said again.
    expect(work?.annotations).not.toHaveProperty("readOnlyHint");
    expect(client.getInstructions()).toContain("get_operation_result");
  });

  test("a call ends with a timeout answer, and its result is read by log_id", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    const first = await client.callTool({ name: "work", arguments: { Name: "a", Hold: true, timeout: 0 } });
    const { log_id, ...early } = structured(first);
    expect(early).toMatchObject({ status: "timeout" });
    expect(first.isError).toBeUndefined();
    await system.bench.begins("a");
    const waiting = client.callTool({
      name: "get_operation_result",
      arguments: { log_id, wait: true, timeout: 30 },
    });
    system.bench.finish("a");
    const second = await waiting;
    expect(structured(second)).toMatchObject({ status: "completed", log_id, result: { Done: "a" } });
    expect(JSON.parse((second.content as { text: string }[])[0]?.text ?? "")).toEqual(
      second.structuredContent,
    );
    expect(system.executions("a")).toBe(1);
  });

  test("a failed tool and an unknown log_id are errors of the tool, an unknown tool one of the protocol", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    const failing = client.callTool({ name: "work", arguments: { Name: "a", Hold: true, timeout: 30 } });
    await system.bench.begins("a");
    system.bench.fail("a", "the disk is full");
    const failed = await failing;
    expect(failed.isError).toBe(true);
    expect(structured(failed)).toMatchObject({ status: "error", error_code: "TOOL_FAILED" });
    for (const log_id of ["nonsense", "9f8c1c1e-0000-4000-8000-000000000000"]) {
      for (const name of ["get_operation_result", "get_operation_status", "cancel_operation"]) {
        const missing = await client.callTool({ name, arguments: { log_id } });
        expect(missing.isError).toBe(true);
        expect(structured(missing)).toMatchObject({ status: "not_found", log_id });
      }
    }
    await expect(client.callTool({ name: "wrok", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      data: { error_code: "UNKNOWN_TOOL" },
    });
  });

  test("the broker's lists show operations without results and Editors with their condition", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    const done = await client.callTool({ name: "work", arguments: { Name: "a", timeout: 30 } });
    const listed = await client.callTool({ name: "list_operations", arguments: { limit: 5 } });
    const [operation] = structured(listed).operations as Answer[];
    expect(operation).toMatchObject({ status: "completed", log_id: structured(done).log_id, tool: "work" });
    expect(operation).not.toHaveProperty("result");
    const editors = await client.callTool({ name: "list_editors", arguments: {} });
    expect(structured(editors).editors).toMatchObject([
      { id: system.editor.editorId, connected: true, phase: expect.any(String), queued: expect.any(Number) },
    ]);
    const status = await client.callTool({
      name: "get_operation_status",
      arguments: { log_id: structured(done).log_id },
    });
    expect(structured(status)).toMatchObject({ status: "completed", state: "completed" });
    expect(structured(status)).not.toHaveProperty("result");
  });

  test("cancelling by the tool reaches the Editor", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    const call = await client.callTool({
      name: "work-cancellable",
      arguments: { Name: "a", Hold: true, timeout: 0 },
    });
    await system.bench.begins("a");
    const { log_id } = structured(call);
    const cancelled = await client.callTool({ name: "cancel_operation", arguments: { log_id } });
    expect(["cancelled", "running"]).toContain(structured(cancelled).status);
    const end = await client.callTool({
      name: "get_operation_result",
      arguments: { log_id, wait: true, timeout: 30 },
    });
    expect(structured(end)).toMatchObject({ status: "cancelled" });
  });

  test("a cancellation that finds the end says so; one that makes it does not", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    const call = async (name: string, args: Record<string, unknown>): Promise<Answer> =>
      structured(await client.callTool({ name, arguments: args }));
    const { log_id } = await call("work", { Name: "a", timeout: 30 });
    const late = await call("cancel_operation", { log_id });
    expect(late).toMatchObject({ status: "completed", log_id, result: { Done: "a" } });
    expect(late.message).toMatch(/^It had already ended; nothing was cancelled\. Operation completed\./);
    await call("work", { Name: "block", Hold: true, timeout: 0 });
    await system.bench.begins("block");
    const waits = { log_id: (await call("work", { Name: "b", timeout: 0 })).log_id };
    expect((await call("cancel_operation", waits)).message).toMatch(/^Operation cancelled before it started/);
    expect((await call("cancel_operation", waits)).message).toMatch(/^It had already ended; /);
    system.bench.finish("block");
  });

  test("progress comes while it waits, always growing, and never after the answer", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    const notes: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    let heard: () => void = () => undefined;
    const until = (count: number): Promise<void> =>
      new Promise((resolve) => {
        heard = () => notes.length >= count && resolve();
        heard();
      });
    const call = client.callTool(
      { name: "work", arguments: { Name: "a", Hold: true, timeout: 60 } },
      undefined,
      {
        onprogress(note) {
          notes.push(note);
          heard();
        },
      },
    );
    await system.bench.begins("a");
    system.bench.report("a", { progress: 1, total: 3, message: "one of three" });
    await until(5);
    system.bench.report("a", { progress: 0.5, total: 3, message: "it went back" });
    await until(8);
    system.bench.finish("a");
    expect(structured(await call)).toMatchObject({ status: "completed" });
    const shown = notes.map(({ progress }) => progress);
    expect(shown).toEqual([...new Set(shown)].sort((a, b) => a - b));
    expect(notes.some(({ message, total }) => message?.includes("one of three") && total === 3)).toBe(true);
    expect(notes.at(-1)?.message).toContain("it went back");
    const { length } = notes;
    await client.ping();
    expect(notes).toHaveLength(length);
  });

  test("a changed tool list is reported once, and only when its content changed", async () => {
    const system = await start();
    const { client } = await sdkClient(system);
    let changes = 0;
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        changes += 1;
        resolve();
      });
    });
    const { editors } = system.store;
    const { editorId } = system.editor;
    await client.listTools();
    const added = completeTool(ToolDetails.parse({ name: "brand-new", description: "New." }));
    await editors.publishTools(editorId, [...(await editors.tools(editorId)), added]);
    await changed;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("brand-new");
    expect(changes).toBe(1);
  });
});

describe("bad input creates nothing", () => {
  test("timeouts, arguments and depth are refused with path and reason", async () => {
    const system = await start();
    const { client, send, answer } = {
      client: (await sdkClient(system)).client,
      ...(await rawClient(system)),
    };
    const refused = async (name: string, args: Record<string, unknown>): Promise<Answer> => {
      const result = await client.callTool({ name, arguments: args });
      expect(result.isError).toBe(true);
      return structured(result);
    };
    for (const timeout of [-1, "one", [], { a: 1 }]) {
      expect(await refused("work", { Name: "a", timeout })).toMatchObject({ error_code: "INVALID_TIMEOUT" });
    }
    expect(await refused("work", {})).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
    expect(await refused("get_operation_result", { log_id: 7 })).toMatchObject({
      error_code: "INVALID_ARGUMENTS",
      faults: [{ path: "/log_id", reason: expect.any(String) }],
    });
    expect(await refused("list_operations", { limit: 0 })).toMatchObject({ error_code: "INVALID_ARGUMENTS" });

    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const call = (id: number, params: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
    const tooDeep = { error: { code: -32602, message: expect.stringContaining("deeper") } };
    send(call(1, `{"name":"work","arguments":{"Name":"a","Data":${deep}}}`));
    expect(await answer(1)).toMatchObject(tooDeep);
    send(call(2, `{"name":"work","arguments":{"Name":"a"},"_meta":{"timeout":${deep}}}`));
    expect(await answer(2)).toMatchObject(tooDeep);
    const deepest = `${"[".repeat(205)}${"]".repeat(205)}`;
    send(call(3, `{"name":"work","arguments":{"Name":"a","Data":${deepest}}}`));
    expect(reported(await answer(3))).toMatchObject({ status: "error", error_code: "ARGUMENTS_TOO_DEEP" });
    send("this is not JSON", '{"jsonrpc":"2.0","id":4}', { jsonrpc: "2.0", id: 5, method: "ping" });
    expect(await answer(5)).toMatchObject({ result: {} });
    expect(system.executions("a")).toBe(0);
  });
});

describe("one client, in order", () => {
  test("calls are accepted in the order in which they came, and no wait holds up another message", async () => {
    const system = await start();
    const { send, answer } = await rawClient(system);
    const names = ["block", "b", "c", "d", "e", "f"];
    send(
      ...names.map((Name, at) => toolCall(at + 1, "work", { Name, Hold: Name === "block", timeout: 50 })),
      { jsonrpc: "2.0", id: 99, method: "ping" },
    );
    await answer(99);
    await system.bench.begins("block");
    system.bench.finish("block");
    for (const at of names.keys())
      expect(reported(await answer(at + 1))).toMatchObject({ status: "completed" });
    expect(system.bench.begun).toEqual(names);
  });

  test("giving a call up detaches its wait only: no answer, and the retry joins", async () => {
    const system = await start();
    const { send, answer, received, log } = await rawClient(system);
    send(toolCall(1, "work", { Name: "a", Hold: true, timeout: 50 }));
    await system.bench.begins("a");
    send(cancelOf(1));
    await log.said("this answer is no longer wanted");
    send(toolCall(2, "work", { Name: "a", Hold: true, timeout: 50 }));
    send({ jsonrpc: "2.0", id: 3, method: "ping" });
    await answer(3);
    system.bench.finish("a");
    expect(reported(await answer(2))).toMatchObject({ status: "completed", deduplicated: true });
    expect(received.some(({ id }) => id === 1)).toBe(false);
    expect(system.executions("a")).toBe(1);
  });

  test("a call is given up however many requests came after it", async () => {
    const system = await start();
    const { send, answer, received, log } = await rawClient(system);
    send(toolCall(1, "work", { Name: "a", Hold: true, timeout: 50 }));
    await system.bench.begins("a");
    for (let at = 0; at < 250; at += 1) send({ jsonrpc: "2.0", id: `ping ${at}`, method: "ping" });
    await answer("ping 249");
    send(cancelOf(1));
    await log.said("the client cancelled a request");
    system.bench.finish("a");
    await log.said("this answer is no longer wanted");
    send(toolCall(2, "work", { Name: "a", timeout: 30, Hold: true }));
    expect(reported(await answer(2))).toMatchObject({ status: "completed", deduplicated: true });
    expect(received.some(({ id }) => id === 1)).toBe(false);
    expect(system.executions("a")).toBe(1);
  });

  test("a call that is given up before its turn does not begin", async () => {
    const system = await start();
    const { send, answer, received } = await rawClient(system);
    send(toolCall(1, "work", { Name: "a", timeout: 50 }), cancelOf(1), toolCall(2, "list_operations"));
    expect(reported(await answer(2)).operations).toEqual([]);
    expect(received.some(({ id }) => id === 1)).toBe(false);
    send(toolCall(3, "work", { Name: "a", timeout: 30 }));
    expect(reported(await answer(3))).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(1);
  });
});

describe("who has read an answer on stdio", () => {
  const run = async (system: System, ...between: ((logId: string) => unknown)[]) => {
    const client = await rawClient(system);
    const { send, answer } = client;
    send(toolCall(10, "work", { Name: "a", timeout: 30 }));
    const { log_id = "" } = reported(await answer(10));
    // In one process a client sees an answer before the gateway knows that it was written: between two, never.
    await eventually(
      async () => (await system.record(log_id)).firstDeliveredAt !== undefined,
      "the answer counts as delivered",
    );
    for (const message of between) send(message(log_id));
    send(toolCall(20, "work", { Name: "a", timeout: 30 }));
    return { ...client, logId: log_id, again: reported(await answer(20)) };
  };

  test("▲7 an identical call right after a quick answer is a new call", async () => {
    const system = await start();
    const { again, logId } = await run(system);
    expect(again).toMatchObject({ status: "completed", force_new: again.log_id });
    expect(again.log_id).not.toBe(logId);
    expect(again).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test.for([
    ["nothing", undefined],
    ["a ping", { jsonrpc: "2.0", id: 11, method: "ping" }],
    ["tools/list", { jsonrpc: "2.0", id: 11, method: "tools/list" }],
    ["another call", toolCall(11, "look", { Name: "b" })],
    ["a broker tool", toolCall(11, "list_editors")],
  ] as const)("▲7 behind a slow answer %s in between proves nothing", async ([, message]) => {
    const system = await start(CAREFUL);
    const { again, logId } = await run(system, ...(message ? [() => message] : []));
    expect(again).toMatchObject({ log_id: logId, deduplicated: true, force_new: logId });
    expect(again.message).toMatch(/^Not run again: /);
    expect(system.executions("a")).toBe(1);
  });

  test.for(["get_operation_result", "get_operation_status", "explain_operation"] as const)(
    "▲7 behind a slow answer %s with its log_id proves that it was read",
    async (verb) => {
      const system = await start(CAREFUL);
      const { again, logId } = await run(system, (log_id) => toolCall(11, verb, { log_id }));
      expect(again).toMatchObject({ status: "completed" });
      expect(again.log_id).not.toBe(logId);
      expect(again).not.toHaveProperty("deduplicated");
      expect(system.executions("a")).toBe(2);
    },
  );

  test("a cancellation behind the answer takes nothing back of what was read at once", async () => {
    const system = await start();
    const { again } = await run(system, () => cancelOf(10));
    expect(again).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test("nor of what was named", async () => {
    const system = await start(CAREFUL);
    const naming = (log_id: string) => toolCall(11, "get_operation_status", { log_id });
    const { again } = await run(system, naming, () => cancelOf(10));
    expect(again).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test("schedule B: arrival orders the calls, not their ids", async () => {
    const system = await start(CAREFUL);
    const { send, answer, logId } = await run(system);
    send(toolCall(21, "get_operation_result", { log_id: logId }));
    await answer(21);
    // In one process a client sees an answer before the gateway knows that it was written: behind a ping it does.
    send({ jsonrpc: "2.0", id: 30, method: "ping" });
    await answer(30);
    send(toolCall(5, "work", { Name: "a", timeout: 30 }));
    const again = reported(await answer(5));
    expect(again.log_id).not.toBe(logId);
    expect(again).not.toHaveProperty("deduplicated");
    send(toolCall(22, "work", { Name: "a", timeout: 30 }));
    expect(reported(await answer(22))).toMatchObject({ log_id: again.log_id, deduplicated: true });
    expect(system.executions("a")).toBe(2);
  });
});

describe("large results", () => {
  const giving = (Data: string) => ({
    // CallAnswer whole, however large.
    gateway: { maxResultTokens: Number.MAX_SAFE_INTEGER },
    editor: {
      tools: [
        {
          name: "give",
          description: "Gives much.",
          inputSchema: parameters({}, []),
          effect: "mutating" as const,
          lane: "main" as const,
          resumable: false,
          cancellable: false,
          executionClass: "medium" as const,
          blocksMainThread: true,
          label: () => "give",
          run: async () => ({ Data }),
        },
      ],
    },
  });

  test("above 256 kB an answer is sent once, as text", async () => {
    const Data = "x".repeat(300_000);
    const { client } = await sdkClient(await start(giving(Data)));
    const result = await client.callTool({ name: "give", arguments: { timeout: 30 } });
    expect(result.structuredContent).toBeUndefined();
    const [{ text }] = result.content as [{ text: string }];
    expect(JSON.parse(text)).toMatchObject({ status: "completed", result: { Data } });
  });

  test("what would not fit into 8 MiB, escaping counted, is reported as too large and stays stored", async () => {
    // A quote takes 2 bytes in the answer's JSON and 4 in the message around it: 3 MB become 12.
    const Data = '"'.repeat(3_000_000);
    const system = await start(giving(Data));
    const { client } = await sdkClient(system);
    const result = await client.callTool({ name: "give", arguments: { timeout: 50 } });
    expect(result.isError).toBe(true);
    const { log_id = "", ...answer } = structured(result);
    expect(answer).toMatchObject({ status: "error", error_code: "RESULT_TOO_LARGE", state: "completed" });
    expect(answer).not.toHaveProperty("result");
    expect(JSON.parse((await system.store.operations.resultOf(log_id)) ?? "")).toEqual({ Data });
  });
});

describe("the end of stdio", () => {
  test("the end of input answers open waits, does not count them as read, and ends", async () => {
    const system = await start(CAREFUL);
    const { send, answer, pipes, service, log } = await rawClient(system);
    send(toolCall(1, "work", { Name: "a", Hold: true, timeout: 50 }));
    await system.bench.begins("a");
    pipes.stdin.end();
    expect(reported(await answer(1))).toMatchObject({ status: "timeout" });
    expect(await service.closed).toBe("input_ended");
    system.bench.finish("a");
    expect(log.lines.filter(({ message }) => message.includes("failed"))).toEqual([]);
  });

  test("a closed output ends it, and the outcome counts as untold", async () => {
    const system = await start(CAREFUL);
    const { send, pipes, service } = await rawClient(system);
    send(toolCall(1, "work", { Name: "a", Hold: true, timeout: 50 }));
    await system.bench.begins("a");
    pipes.stdout.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    expect(await service.closed).toBe("output_failed");
    system.bench.finish("a");
    const [operation] = await system.broker.list("local", 1);
    const view = await system.client("local").outcome(operation?.record.logId ?? "");
    expect(view.record.firstDeliveredAt).toBeUndefined();
    expect(view.record).not.toHaveProperty("askers");
  });

  test("close answers open waits too", async () => {
    const system = await start();
    const { send, answer, service } = await rawClient(system);
    send(toolCall(1, "work", { Name: "a", Hold: true, timeout: 50 }));
    await system.bench.begins("a");
    const closing = service.close();
    expect(reported(await answer(1))).toMatchObject({ status: "timeout" });
    await closing;
    expect(await service.closed).toBe("closed");
    system.bench.finish("a");
  });
});
