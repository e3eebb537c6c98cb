import { once } from "node:events";
import { connect } from "node:net";
import { createMCPClient } from "@ai-sdk/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import {
  createHttpGateway,
  type HttpGateway,
  type HttpGatewayOptions,
} from "../../../src/gateway/http/http.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { completeTool, ToolDetails } from "../../../src/shared/tools/tool.js";
import {
  cancelOf,
  createHeardLog,
  INITIALIZE,
  type Posted,
  post,
  reported,
  toolCall,
} from "../../harness/mcp/mcp.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const structured = (result: Record<string, unknown>): Answer => result.structuredContent as Answer;

type Served = HttpGateway & { gateway: Gateway };

async function serve(gateway: Gateway, options: Partial<HttpGatewayOptions> = {}) {
  const log = createHeardLog();
  const http = await createHttpGateway(
    { gateway, log, version: "0.0.0" },
    { host: "127.0.0.1", port: 0, listDebounceMs: 10, ...options },
  );
  closers.push(http.close);
  return { ...http, gateway, log, port: Number(new URL(http.url).port) };
}

async function sdkClient(url: string) {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  closers.push(() => client.close());
  return { client, transport };
}

/** A session whose messages and ids a test chooses. */
async function rawSession({ url, gateway }: Served, headers: Record<string, string> = {}) {
  const opened = await post(url, INITIALIZE, { headers });
  const session = opened.sessionId ?? "";
  const send = (message: unknown, signal?: AbortSignal): Promise<Posted> =>
    post(url, message, { session, headers, ...(signal ? { signal } : {}) });
  await send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return {
    session,
    send,
    /** A later message is handled once everything that came from earlier ones is stored. */
    async settle() {
      await send({ jsonrpc: "2.0", id: "settle", method: "ping" });
      await gateway.broker.noted();
    },
    /** Calls a tool and reads its answer. */
    async call(id: number, name: string, args: Record<string, unknown>): Promise<Answer> {
      return reported((await send(toolCall(id, name, args))).messages.at(-1));
    },
  };
}

async function onlyOperation(system: System): Promise<string> {
  const [operation] = await system.broker.list("local", 1);
  if (!operation) throw new Error("no operation");
  return operation.record.logId;
}

describe("real clients over HTTP", () => {
  test("a timed-out call is joined by a second session, and replayed to a third", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const [first, second, third] = [await sdkClient(url), await sdkClient(url), await sdkClient(url)];
    const call = { name: "work", arguments: { Name: "a", Hold: true, timeout: 0 } };
    const early = structured(await first.client.callTool(call));
    expect(early.status).toBe("timeout");
    await system.bench.begins("a");
    const joined = second.client.callTool({ ...call, arguments: { ...call.arguments, timeout: 30 } });
    await eventually(
      async () => (await system.broker.list("local", 9)).length === 1,
      "one operation is there",
    );
    system.bench.finish("a");
    expect(structured(await joined)).toMatchObject({
      status: "completed",
      log_id: early.log_id,
      deduplicated: true,
      result: { Done: "a" },
    });
    const replayed = structured(await third.client.callTool(call));
    expect(replayed).toMatchObject({ status: "completed", log_id: early.log_id, deduplicated: true });
    expect(replayed.message).toMatch(/^Not run again: this call ran at /);
    expect(system.executions("a")).toBe(1);
  });

  test("an independent client lists, calls and reads", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const client = await createMCPClient({ transport: { type: "http", url } });
    closers.push(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["work", "list_editors"]));
    const set = await client.tools();
    const execute = set.work?.execute;
    if (!execute) throw new Error("no such tool");
    const result = (await execute({ Name: "a", timeout: 30 }, { toolCallId: "1", messages: [] })) as Record<
      string,
      unknown
    >;
    expect(structured(result)).toMatchObject({ status: "completed", result: { Done: "a" } });
  });

  test("progress comes on the call's own stream", async () => {
    const system = await start();
    const { url } = await serve(system.gateway, { progress: { everyMs: 20, minMs: 1 } });
    const { client } = await sdkClient(url);
    const shown: number[] = [];
    let several: () => void = () => undefined;
    const shownSeveral = new Promise<void>((resolve) => {
      several = resolve;
    });
    const call = client.callTool(
      { name: "work", arguments: { Name: "a", Hold: true, timeout: 30 } },
      undefined,
      {
        onprogress({ progress }) {
          shown.push(progress);
          if (shown.length === 4) several();
        },
      },
    );
    await Promise.all([system.bench.begins("a"), shownSeveral]);
    system.bench.finish("a");
    expect(structured(await call).status).toBe("completed");
    expect(shown).toEqual([...new Set(shown)].sort((a, b) => a - b));
  });

  test("a changed tool list is reported to every session, across gateways", async () => {
    const system = await start();
    const other = await serve(await system.addGateway());
    const own = await serve(system.gateway);
    const changes = [];
    for (const { url } of [own, other]) {
      const { client } = await sdkClient(url);
      // The stream for notifications is opened after the answer to `initialized`: a call comes later.
      await client.listTools();
      changes.push(
        new Promise<void>((resolve) =>
          client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
        ),
      );
    }
    const { editors } = system.store;
    const { editorId } = system.editor;
    let at = 0;
    let reported = false;
    const all = Promise.all(changes).then(() => {
      reported = true;
    });
    // A client's stream may open at any time after `initialized`: change until both have heard of one.
    await eventually(async () => {
      at += 1;
      const added = completeTool(ToolDetails.parse({ name: `new-${at}` }));
      await editors.publishTools(editorId, [...(await editors.tools(editorId)), added]);
      return reported;
    }, "both clients hear of a change");
    await all;
  });
});

/** As a proxy on this machine sends it on. */
const PROXIED = { "x-forwarded-for": "10.0.0.7" };

describe("who has read an answer over HTTP", () => {
  test("what comes within 10 s over a direct connection is read: the same call runs again, in every session", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const [one, two] = [await rawSession(served), await rawSession(served)];
    const args = { Name: "a", timeout: 30 };
    for (const [id, { call }] of [
      [1, one],
      [2, one],
      [1, two],
    ] as const) {
      const answer = await call(id, "work", args);
      expect(answer).toMatchObject({ status: "completed" });
      expect(answer).not.toHaveProperty("deduplicated");
    }
    expect(system.executions("a")).toBe(3);
  });

  test("a call that failed runs again once its cause is fixed", async () => {
    const system = await start();
    const { call } = await rawSession(await serve(system.gateway));
    const args = { MenuItemPath: "Simulator/Fail", timeout: 30 };
    const [first, again] = [
      await call(1, "execute-menu-item", args),
      await call(2, "execute-menu-item", args),
    ];
    for (const answer of [first, again]) {
      expect(answer).toMatchObject({ status: "error", error_code: "TOOL_FAILED" });
      expect(answer).not.toHaveProperty("deduplicated");
    }
    expect(again.log_id).not.toBe(first.log_id);
  });

  test.each([PROXIED, { forwarded: "for=10.0.0.7" }, { via: "1.1 proxy" }, { "x-forwarded-proto": "https" }])(
    "what a proxy took (%o) is read once its log_id is named",
    async (headers) => {
      const system = await start();
      const { call, settle } = await rawSession(await serve(system.gateway), headers);
      const args = { Name: "a", timeout: 30 };
      const { log_id: logId = "" } = await call(10, "work", args);
      await settle();
      expect(Object.values((await system.record(logId)).askers ?? {})).toEqual([
        { deliveredAt: expect.any(Number) },
      ]);
      const told = await call(11, "work", args);
      expect(told).toMatchObject({ log_id: logId, deduplicated: true });
      expect(told.message).toMatch(/^Not run again: /);
      await call(12, "list_editors", {});
      expect(await call(13, "work", args)).toMatchObject({ log_id: logId, deduplicated: true });
      await call(14, "get_operation_status", { log_id: logId });
      const again = await call(15, "work", args);
      expect(again.log_id).not.toBe(logId);
      expect(again).not.toHaveProperty("deduplicated");
      expect(system.executions("a")).toBe(2);
    },
  );

  test("through a proxy, who asked by log_id for a result has read it at the next naming, not by that answer", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const [first, second] = [await rawSession(served, PROXIED), await rawSession(served, PROXIED)];
    const args = { Name: "a", timeout: 30 };
    const { log_id: logId = "" } = await first.call(1, "work", args);
    await second.call(1, "get_operation_result", { log_id: logId });
    expect(await second.call(2, "work", args)).toMatchObject({ log_id: logId, deduplicated: true });
    await second.call(3, "get_operation_status", { log_id: logId });
    const again = await second.call(4, "work", args);
    expect(again.log_id).not.toBe(logId);
    expect(again).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test("force_new names the operation: it runs once more, and once only", async () => {
    const system = await start();
    const { call } = await rawSession(await serve(system.gateway));
    const { log_id = "" } = await call(1, "work", { Name: "a", timeout: 30 });
    const forced = await call(2, "work", { Name: "a", timeout: 30, force_new: log_id });
    expect(forced.log_id).not.toBe(log_id);
    const retried = await call(3, "work", { Name: "a", timeout: 30, force_new: log_id });
    expect(retried).toMatchObject({ log_id: forced.log_id, deduplicated: true });
    expect(system.executions("a")).toBe(2);
  });

  test("a client that left before the end was told nothing, and its retry gets the outcome", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const { send, call } = await rawSession(served);
    const args = { Name: "a", Hold: true, timeout: 50 };
    const leaving = new AbortController();
    const left = send(toolCall(1, "work", args), leaving.signal).catch((error: Error) => error.name);
    await system.bench.begins("a");
    leaving.abort();
    expect(await left).toBe("AbortError");
    await served.log.said("this answer is no longer wanted");
    system.bench.finish("a");
    const logId = await onlyOperation(system);
    const { record } = await system.client("local").outcome(logId);
    expect(record).not.toHaveProperty("askers");
    expect(record.firstDeliveredAt).toBeUndefined();
    expect(await call(2, "work", args)).toMatchObject({ status: "completed", log_id: logId });
    expect(system.executions("a")).toBe(1);
  });

  test("schedule A: an answer that a proxy took, and nobody read, proves nothing", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const { session, call, send } = await rawSession(served);
    const args = { Name: "a", Hold: true, timeout: 50 };
    const body = JSON.stringify(toolCall(1, "work", args));
    const halfOpen = connect(served.port, "127.0.0.1");
    closers.push(async () => halfOpen.destroy());
    await once(halfOpen, "connect");
    halfOpen.pause();
    halfOpen.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nVia: 1.1 proxy\r\nMcp-Session-Id: ${session}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await system.bench.begins("a");
    system.bench.finish("a");
    const logId = await onlyOperation(system);
    await eventually(
      async () => (await system.record(logId)).firstDeliveredAt !== undefined,
      "it counts as delivered",
    );
    await send({ jsonrpc: "2.0", id: 2, method: "ping" });
    await call(3, "list_operations", {});
    expect(await call(4, "work", args)).toMatchObject({
      status: "completed",
      log_id: logId,
      deduplicated: true,
    });
    expect(system.executions("a")).toBe(1);
  });

  test.each([undefined, "AbortError"])(
    "a cancellation of an answered request (%s) takes nothing back",
    async (reason) => {
      const system = await start();
      const { send, call, settle } = await rawSession(await serve(system.gateway));
      for (const [id, tool, args] of [
        [1, "work", { Name: "a", timeout: 30 }],
        [3, "work", { Name: "a", timeout: 30 }],
        [5, "run-tests", { SimulatedTests: 1, SimulatedSeconds: 0, timeout: 30 }],
        [7, "run-tests", { SimulatedTests: 1, SimulatedSeconds: 0, timeout: 30 }],
      ] as const) {
        expect(await call(id, tool, args)).not.toHaveProperty("deduplicated");
        expect((await send(cancelOf(id, reason))).status).toBe(202);
        await settle();
      }
      expect(system.executions("a")).toBe(2);
    },
  );

  test("giving a request up ends its stream without an answer, and nothing else", async () => {
    const system = await start();
    const { send, call } = await rawSession(await serve(system.gateway));
    const args = { Name: "a", Hold: true, timeout: 50 };
    const given = send(toolCall(1, "work", args));
    await system.bench.begins("a");
    await send(cancelOf(1));
    expect(await given).toMatchObject({ status: 200, messages: [] });
    const joined = call(2, "work", args);
    await send({ jsonrpc: "2.0", id: 3, method: "ping" });
    system.bench.finish("a");
    expect(await joined).toMatchObject({ status: "completed", deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test("a request that a proxy sends again under its id is answered where it asked last", async () => {
    const system = await start();
    const { send } = await rawSession(await serve(system.gateway));
    const message = toolCall(1, "work", { Name: "a", Hold: true, timeout: 50 });
    const older = send(message);
    await system.bench.begins("a");
    const newer = send(message);
    expect(await older).toMatchObject({ status: 200, messages: [] });
    system.bench.finish("a");
    expect(reported((await newer).messages[0])).toMatchObject({ status: "completed", deduplicated: true });
    await send({ jsonrpc: "2.0", id: 2, method: "ping" });
    const record = await system.record(await onlyOperation(system));
    expect(Object.keys(record.askers ?? {})).toEqual([record.createdBy.caller]);
    expect(system.executions("a")).toBe(1);
  });
});

describe("sessions", () => {
  test("a gateway that closes answers open waits, and the next one takes its sessions over", async () => {
    const system = await start();
    const first = await serve(system.gateway);
    const { client, transport } = await sdkClient(first.url);
    const call = { name: "work", arguments: { Name: "a", Hold: true, timeout: 30 } };
    const open = client.callTool(call);
    await system.bench.begins("a");
    await first.close();
    const early = structured(await open);
    expect(early).toMatchObject({ status: "timeout", tool: "work" });

    const second = await serve(await system.addGateway(), { port: first.port });
    const again = client.callTool(call);
    await second.log.said("took over a session of an earlier gateway");
    system.bench.finish("a");
    expect(structured(await again)).toMatchObject({ status: "completed", log_id: early.log_id });
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    await client.ping();
    const record = await system.record(early.log_id ?? "");
    expect(Object.keys(record.askers ?? {})).toEqual([`mcp:${transport.sessionId}`]);
    expect(record.createdBy.caller).toBe(`mcp:${transport.sessionId}`);
    expect(system.executions("a")).toBe(1);
  });

  test("requests that find an unknown session at the same time take it over once", async () => {
    const system = await start();
    const first = await serve(system.gateway);
    const { session } = await rawSession(first);
    const second = await serve(await system.addGateway());
    const answers = await Promise.all(
      [1, 2, 3, 4].map((id) => post(second.url, { jsonrpc: "2.0", id, method: "ping" }, { session })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(second.log.lines.filter(({ message }) => message.startsWith("took over"))).toHaveLength(1);
  });

  test("many sessions that come to another gateway at once are all found there", async () => {
    const system = await start();
    const first = await serve(system.gateway);
    const opened = await Promise.all(Array.from({ length: 130 }, () => post(first.url, INITIALIZE)));
    const second = await serve(await system.addGateway());
    for (let round = 1; round <= 3; round += 1) {
      const call = (name: number) => toolCall(round, "work", { Name: `${round} ${name}`, timeout: 10 });
      const answers = await Promise.all(
        opened.map(({ sessionId }, name) => post(second.url, call(name), { session: sessionId ?? "" })),
      );
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    }
  });

  test("a session is taken over beside a hundred that are in use", async () => {
    const system = await start();
    const first = await serve(system.gateway);
    const { session } = await rawSession(first);
    const busy = await Promise.all(Array.from({ length: 100 }, () => post(first.url, INITIALIZE)));
    const second = await serve(await system.addGateway());
    const stop = new AbortController();
    closers.push(async () => stop.abort());
    for (const { sessionId } of busy) {
      const headers = { accept: "text/event-stream", "mcp-session-id": sessionId ?? "" };
      expect((await fetch(second.url, { signal: stop.signal, headers })).status).toBe(200);
    }
    for (const id of [1, 2])
      expect((await post(second.url, { jsonrpc: "2.0", id, method: "ping" }, { session })).status).toBe(200);
  });

  test("an unused session is closed, and comes back when it is used again", async () => {
    const system = await start();
    const served = await serve(system.gateway, { idleMs: 20 });
    const { call } = await rawSession(served);
    await served.log.said("closing an unused session");
    expect(await call(1, "work", { Name: "a", timeout: 30 })).toMatchObject({ status: "completed" });
  });

  test("a deleted or unknown session is not found, a missing one is a bad request", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const { session, send } = await rawSession(served);
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const deleted = await fetch(served.url, { method: "DELETE", headers: { "mcp-session-id": session } });
    expect(deleted.status).toBe(200);
    expect((await send(ping)).status).toBe(404);
    const unknown = await post(served.url, ping, { session: "9f8c1c1e-0000-4000-8000-000000000000" });
    expect(unknown).toMatchObject({ status: 404, messages: [{ error: { code: -32001 } }] });
    expect((await post(served.url, ping)).status).toBe(400);
  });
});

describe("the address", () => {
  test("only loopback names are served, as Host and as Origin", async () => {
    const { gateway } = await start();
    const served = await serve(gateway);
    const status = async (host: string, origin?: string): Promise<string> => {
      const socket = connect(served.port, "127.0.0.1");
      const chunks: Buffer[] = [];
      socket.on("data", (chunk) => chunks.push(chunk));
      const more = origin === undefined ? "" : `Origin: ${origin}\r\n`;
      socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);
      await once(socket, "close");
      return Buffer.concat(chunks).toString();
    };
    for (const host of ["127.0.0.1", `localhost:${served.port}`, "[::1]:80"]) {
      expect(await status(host)).toContain(" 200 ");
    }
    for (const host of [
      "evil.example",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "192.168.0.1",
      "a@b",
    ]) {
      const refused = await status(host);
      expect(refused).toContain(" 403 ");
      expect(JSON.parse(refused.split("\r\n\r\n")[1] ?? "")).toMatchObject({ jsonrpc: "2.0", error: {} });
    }
    expect(await status("localhost", "http://localhost:3000")).toContain(" 200 ");
    for (const origin of ["http://evil.example", "null", "file://"]) {
      expect(await status("localhost", origin)).toContain(" 403 ");
    }
  });

  test("other addresses are refused at the start, and a taken port is said", async () => {
    const { gateway } = await start();
    const deps = { gateway, log: createHeardLog(), version: "0" };
    for (const host of ["0.0.0.0", "::", "192.168.0.1", "example.com"]) {
      await expect(createHttpGateway(deps, { host, port: 0 })).rejects.toMatchObject({
        code: "ADDRESS_REFUSED",
      });
    }
    const { port } = await serve(gateway);
    await expect(createHttpGateway(deps, { host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
    });
  });
});

test("a gateway that closes refuses what comes meanwhile, and says what to do", async () => {
  const { gateway } = await start();
  let isStored: () => void = () => undefined;
  const stored = new Promise<void>((resolve) => {
    isStored = resolve;
  });
  // What was answered is being stored.
  const served = await serve({ ...gateway, broker: { ...gateway.broker, noted: () => stored } });
  const closing = served.close();
  try {
    const { status, messages } = await post(served.url, INITIALIZE);
    expect(status).toBe(503);
    expect(messages).toMatchObject([
      {
        error: {
          message: expect.stringContaining("Send the call again"),
          data: { error_code: "BROKER_ENDED" },
        },
      },
    ]);
  } finally {
    isStored();
    await closing;
  }
});

describe("bad requests", () => {
  test("each gets its JSON-RPC error, and the gateway goes on", async () => {
    const system = await start();
    const served = await serve(system.gateway, { bodyLimit: 1_000_000 });
    const { session, send, call } = await rawSession(served);
    expect(await send("{")).toMatchObject({ status: 400, messages: [{ error: { code: -32700 } }] });
    expect(await send([toolCall(1, "work")])).toMatchObject({ status: 400, messages: [{ error: {} }] });
    expect(await send('{"jsonrpc":"2.0"}')).toMatchObject({ status: 400, messages: [{ error: {} }] });
    expect(await send(`"${"x".repeat(1_000_001)}"`)).toMatchObject({
      status: 413,
      messages: [{ error: {} }],
    });
    const text = await post(served.url, "hello", { session, headers: { "content-type": "text/plain" } });
    expect(text).toMatchObject({ status: 415, messages: [{ error: {} }] });
    expect((await post(served.url, INITIALIZE, { headers: { accept: "text/html" } })).status).toBe(406);

    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const deepCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{"Name":"a","Data":${deep}}}}`;
    expect((await send(deepCall)).messages[0]).toMatchObject({
      id: 1,
      error: { code: -32602, message: expect.stringContaining("deeper than 210 levels. Flatten") },
    });
    const opening = (nested: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":{"y":${nested}}}},"clientInfo":{"name":"x","version":"1"}}}`;
    expect(await post(served.url, opening(deep))).toMatchObject({
      status: 200,
      messages: [{ error: { code: -32602 } }],
    });
    expect((await post(served.url, opening(`"${"x".repeat(70_000)}"`))).status).toBe(413);
    expect(await call(2, "list_operations", {})).toMatchObject({ operations: [] });
  });

  test("while Redis is away a call says so, and the same call is accepted afterwards", async () => {
    const system = await start({ commandTimeoutMs: 300, worker: null });
    const { editors } = system.store;
    await editors.introduce({
      editorId: "game@1",
      projectName: "game",
      projectPath: "/projects/game",
      unityVersion: "6000.0.1f1",
      pid: 1,
      editorSessionId: "s",
      generation: 1,
      assetCounter: 1,
    });
    await editors.publishTools("game@1", [completeTool(ToolDetails.parse({ name: "work" }))]);
    const { call } = await rawSession(await serve(system.gateway));
    await system.redis.kill();
    expect(await call(1, "work", { timeout: 0 })).toMatchObject({
      status: "error",
      error_code: "STORE_UNAVAILABLE",
    });
    await system.redis.restart();
    await eventually(
      async () => (await call(2, "work", { timeout: 0 })).state === "queued",
      "the call is accepted",
    );
    expect(await call(3, "list_operations", {})).toMatchObject({ operations: [{ tool: "work" }] });
    expect(await call(4, "list_editors", {})).toMatchObject({
      editors: [{ id: "game@1", connected: false }],
    });
  });
});
