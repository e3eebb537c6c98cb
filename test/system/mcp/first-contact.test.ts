/** On a fresh store, a client that starts with its broker finds the tools of the Editor that runs, and calls one. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ReadCall, withFirstContact } from "../../../src/gateway/call-reader.js";
import { createFirstContact } from "../../../src/gateway/editors/first-contact.js";
import { singleRequest } from "../../../src/gateway/exchange.js";
import { createGateway, GATEWAY_DEFAULTS } from "../../../src/gateway/gateway.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { BrokerError } from "../../../src/shared/errors.js";
import { isLongForm } from "../../harness/long-form.js";
import { createLinePeer, createPipes, INITIALIZE, reported, toolCall } from "../../harness/mcp/mcp.js";
import { environment } from "../../harness/processes/installation.js";
import { openHttpClient, openStdioClient, type TestClient } from "../../harness/processes/process-clients.js";
import { createProcesses, type Processes } from "../../harness/processes/processes.js";
import { layRedisLine, type RedisLine } from "../../harness/redis/process-redis.js";
import { sharedTestRedis, type TestRedis } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";
import { useSystem } from "../../harness/system/system.js";

const TIMES = isLongForm ? 20 : 1;

describe("with a running Editor", () => {
  let redis: TestRedis;
  let processes: Processes;
  let line: RedisLine;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeEach(async () => {
    redis = await sharedTestRedis();
    processes = createProcesses();
    folder = mkdtempSync(join(tmpdir(), "ujb-first-"));
    line = await layRedisLine(redis.connection);
    env = environment(folder, { REDIS_URL: line.url });
  });
  const openEditor = () =>
    processes.start("editor", ["simulate", "--port", "0"], env).line(/^Simulated Unity Editor (\S+)/);
  afterEach(async () => {
    expect(await processes.close()).toEqual([]);
    await line.close();
    rmSync(folder, { recursive: true, force: true });
    await redis.flush();
  });

  const clients: Record<string, (time: number) => Promise<TestClient>> = {
    stdio: (time) => openStdioClient(processes.start(`mcp ${time}`, ["mcp"], env)),
    async HTTP(time) {
      const up = processes.start(`up ${time}`, ["up", "--port", "0", "--insecure-local"], env);
      const [url] = await up.line(/http:\S+\/mcp/);
      const client = await openHttpClient(() => url);
      return { ...client, close: () => client.close().finally(() => up.kill("SIGTERM")) };
    },
  };

  for (const [transport, open] of Object.entries(clients)) {
    test(`the first list over ${transport} has its tools, and the first call runs`, async () => {
      await openEditor();
      for (let time = 1; time <= TIMES; time += 1) {
        await redis.flush();
        const client = await open(time);
        const { tools } = await client.request("tools/list");
        const names = (tools as { name: string }[]).map(({ name }) => name);
        expect(names, `${transport}, time ${time}`).toContain("execute-menu-item");
        await client.close();
        await redis.flush();
        const caller = await open(TIMES + time);
        const answer = await caller.call("get-hierarchy", {});
        expect(answer.status, `${transport}, time ${time}: ${JSON.stringify(answer)}`).toBe("completed");
        await caller.close();
      }
    });
  }

  test("an Editor is selected right behind its start", async () => {
    const client = await openStdioClient(processes.start("mcp", ["mcp"], env));
    const [, editor = ""] = await openEditor();
    const answer = await client.call("select_editor", { editor });
    expect(answer, JSON.stringify(answer)).not.toHaveProperty("error_code");
    await client.close();
  });

  test("a call right behind the Editor's start runs", async () => {
    const client = await openStdioClient(processes.start("mcp", ["mcp"], env));
    expect(await client.call("get-hierarchy", {})).toMatchObject({ error_code: "NO_EDITOR" });
    await openEditor();
    expect(await client.call("get-hierarchy", {})).toMatchObject({ status: "completed" });
    await client.close();
  });
});

describe("an Editor that runs and is not reached", () => {
  const notifier = { on: () => () => undefined, close: () => undefined };
  const editors = { ids: async () => [], tools: async () => [], diagnoses: async () => new Map() };
  const nothing = { editors, operations: { now: async () => 0 } };

  test("is waited for once", async () => {
    const contact = createFirstContact(
      { ...nothing, notifier, running: async () => ["game-1"] },
      { waitMs: 20 },
    );
    expect(await contact.awaited()).toBe(true);
    expect(await contact.awaited()).toBe(false);
  });

  test.each([
    ["COMPILE_ERRORS", true],
    ["FOREIGN_BROKER", false],
    ["WRONG_PROJECT", false],
    ["HELLO_REFUSED", false],
  ] as const)("with %s is waited for: %s", async (code, isAwaited) => {
    const diagnosis = { code, message: "", next: "", project: "Game", at: 0 };
    const contact = createFirstContact(
      {
        ...nothing,
        editors: { ...editors, diagnoses: async () => new Map([["game-1", diagnosis]]) },
        notifier,
        running: async () => ["game-1"],
      },
      { waitMs: 20 },
    );
    expect(await contact.awaited()).toBe(isAwaited);
  });

  test("is waited for no longer than its time, whatever memory is collected meanwhile", async () => {
    const contact = createFirstContact(
      { ...nothing, notifier, running: async () => ["game-1"] },
      { waitMs: 300 },
    );
    setFlagsFromString("--expose-gc");
    const collect = setInterval(runInNewContext("gc"), 20);
    expect(await contact.awaited()).toBe(true);
    clearInterval(collect);
  });

  test("is not waited for on behalf of a client that has given up its call", async () => {
    const given = new AbortController();
    let reads = 0;
    const problem = new BrokerError("NO_EDITOR", "None.");
    const read = async () => {
      reads += 1;
      return { problem } as ReadCall;
    };
    const awaited = async () => {
      given.abort();
      return true;
    };
    const calls = withFirstContact({ read }, { awaited });
    const call = {
      principal: "ann",
      caller: singleRequest("http"),
      requestId: null,
      tool: "work",
      arguments: {},
    };
    expect((await calls.read({ ...call, signal: given.signal })).problem).toBe(problem);
    expect(reads).toBe(1);
  });

  test("is waited for no longer than its gateway serves", async () => {
    const contact = createFirstContact(
      { ...nothing, notifier, running: async () => ["game-1"] },
      { waitMs: 3_600_000 },
    );
    const waiting = contact.awaited();
    contact.close();
    expect(await waiting).toBe(true);
  });
});

describe("a client that ends while it waits", () => {
  const { start } = useSystem();

  test("has its answers first, without the Editor's tools", async () => {
    const { store } = await start({ worker: null });
    const gateway = createGateway(
      { store, log: SILENT, running: async () => ["coming@12345678"] },
      { ...GATEWAY_DEFAULTS, firstContactMs: 3_600_000 },
    );
    const pipes = createPipes();
    const service = serveStdio({ gateway, log: SILENT, version: "0.0.0" }, pipes);
    const { send, answer } = createLinePeer(pipes);
    send(INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" });
    await answer(0);
    send({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { jsonrpc: "2.0", id: 3, method: "ping" });
    // The list was taken up before; messages behind a call would wait for it.
    await answer(3);
    send(toolCall(2, "look", {}));
    pipes.stdin.end();
    expect((await answer(1)).result).toHaveProperty("tools");
    expect(reported(await answer(2))).toMatchObject({ error_code: "NO_EDITOR" });
    await service.closed;
    await gateway.close();
  });
});
