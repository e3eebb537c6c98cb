/** Real clients that give a call up: their operation goes on, runs once, and its result is read, over HTTP and over standard streams. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { afterEach, describe, expect, test } from "vitest";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import { createHeardLog, createPipes, createPipeTransport } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const PROGRESS = { everyMs: 50, minMs: 1 };
/** What the client allows, ms. */
const LIMIT = 500;
/** The same where a machine that is busy for a moment must not end the call. */
const LONG_LIMIT = 2_000;
const WORK = { name: "work", arguments: { Name: "a", Hold: true, timeout: 50 } };

interface Impatient {
  call(options: RequestOptions): Promise<Answer>;
  read(log_id: string): Promise<Answer>;
  /** Loses the way on which the call's answer would come. */
  drop(): Promise<unknown>;
}

const WAYS: Record<string, (system: System) => Promise<Impatient>> = {
  async HTTP({ gateway }) {
    const { url } = await serve(gateway, { progress: PROGRESS });
    return clientOf(() => new StreamableHTTPClientTransport(new URL(url)));
  },
  async stdio({ gateway }) {
    return clientOf(() => {
      const pipes = createPipes();
      const deps = { gateway, log: createHeardLog(), version: "0" };
      closers.push(serveStdio(deps, pipes, { progress: PROGRESS }).close);
      return createPipeTransport(pipes);
    });
  },
};

async function clientOf(transport: () => Parameters<Client["connect"]>[0]): Promise<Impatient> {
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: "impatient", version: "1" });
    await client.connect(transport());
    closers.push(() => client.close());
    return client;
  };
  let client = await connect();
  return {
    call: async (options) => answerIn(await client.callTool(WORK, undefined, options)),
    read: async (log_id) => {
      const args = { log_id, wait: true, timeout: 30 };
      return answerIn(await client.callTool({ name: "get_operation_result", arguments: args }));
    },
    async drop() {
      await client.close();
      client = await connect();
    },
  };
}

/**
 * A call whose limit ends while it runs. Where the machine stands still it may end before the call is accepted, which then never begins:
 * it is made again.
 */
async function outlasts(
  { bench, broker }: System,
  client: Impatient,
  options: RequestOptions,
): Promise<void> {
  do await expect(client.call(options)).rejects.toThrow(/timeout|timed out/i);
  while ((await broker.list("local", 1)).length === 0);
  await bench.begins("a");
}

/** The call ended without an answer: its operation runs, once, and its result is read under its log_id. */
async function goesOn(system: System, client: Impatient): Promise<void> {
  const [view] = await system.broker.list("local", 9);
  const logId = view?.record.logId ?? "";
  await eventually(async () => (await system.record(logId)).state === "running", "it runs");
  const reading = client.read(logId);
  system.bench.finish("a");
  expect(await reading).toMatchObject({ status: "completed", log_id: logId, result: { Done: "a" } });
  expect(await system.broker.list("local", 9)).toHaveLength(1);
  expect(system.executions("a")).toBe(1);
}

describe.each(Object.entries(WAYS))("a client over %s", (_way, connect) => {
  test("whose own limit is half a second", async () => {
    const system = await start();
    const client = await connect(system);
    await outlasts(system, client, { timeout: LIMIT });
    await goesOn(system, client);
  });

  test("that is shown progress waits longer than its limit, and gets its answer", async () => {
    const system = await start();
    const client = await connect(system);
    let shown = 0;
    const onprogress = (): void => {
      shown += 1;
    };
    const call = client.call({ timeout: LONG_LIMIT, resetTimeoutOnProgress: true, onprogress });
    // So many that the limit has passed in between.
    await eventually(() => shown > (1.5 * LONG_LIMIT) / PROGRESS.everyMs, "it is shown progress");
    system.bench.finish("a");
    expect(await call).toMatchObject({ status: "completed", result: { Done: "a" } });
    expect(system.executions("a")).toBe(1);
  });

  test("that waits longer while it is shown progress, up to a limit for all of it", async () => {
    const system = await start();
    const client = await connect(system);
    const limits = { timeout: LIMIT, resetTimeoutOnProgress: true, maxTotalTimeout: 2 * LIMIT };
    await outlasts(system, client, { ...limits, onprogress: () => undefined });
    await goesOn(system, client);
  });

  test("that cancels", async () => {
    const system = await start();
    const client = await connect(system);
    const aborter = new AbortController();
    const ended = expect(client.call({ signal: aborter.signal })).rejects.toThrow(/not wanted/);
    await system.bench.begins("a");
    aborter.abort("not wanted");
    await ended;
    await goesOn(system, client);
  });

  test("that drops its connection", async () => {
    const system = await start();
    const client = await connect(system);
    const call = client.call({});
    await system.bench.begins("a");
    const lost = expect(call).rejects.toThrow();
    await client.drop();
    await lost;
    await goesOn(system, client);
  });

  test("that calls again after its limit joins what goes on", async () => {
    const system = await start();
    const client = await connect(system);
    await outlasts(system, client, { timeout: LIMIT });
    const before = await duplicates(system);
    const again = client.call({});
    await eventually(async () => (await duplicates(system)) > before, "it has joined");
    system.bench.finish("a");
    expect(await again).toMatchObject({ deduplicated: true, result: { Done: "a" } });
    expect(system.executions("a")).toBe(1);
  });
});

async function duplicates({ broker }: System): Promise<number> {
  const [view] = await broker.list("local", 1);
  const explained = await broker.explain("local", view?.record.logId ?? "");
  return typeof explained === "object" ? explained.duplicates.length : 0;
}
