/**
 * Clients of revision 2026-07-28 send a lost request again under another id: a call runs once, whichever gateway gets the
 * copy, and its outcome is told as what it is.
 */
import { afterEach, describe, expect, test } from "vitest";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { answerTo, ask, connectStateless } from "../../harness/mcp/stateless.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const tokenGateway = useTokenGateway(start);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const CALL = { Name: "a", timeout: 30 };
const HELD = { ...CALL, Hold: true };

/** Calls, and loses the connection once the Editor has begun. */
async function lose(system: System, url: string, tool = "work"): Promise<void> {
  const connection = new AbortController();
  const lost = ask(url, "tools/call", { name: tool, arguments: HELD }, { id: 1, signal: connection.signal });
  await system.bench.begins("a");
  connection.abort();
  await expect(lost).rejects.toThrow();
}

const newest = async (system: System) => {
  const [view] = await system.broker.list("local", 1);
  if (!view) throw new Error("no operation");
  return system.record(view.record.logId);
};

/** To how many callers the outcome was delivered. */
const told = async (system: System) =>
  Object.values((await newest(system)).askers ?? {}).filter(({ deliveredAt }) => deliveredAt).length;

describe("a stream closed in mid-call", () => {
  test("ends the wait and not the operation; the same call under a new id joins it", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    await lose(system, url);
    const again = answerTo(url, "work", HELD, { id: 2 });
    await eventually(
      async () => (await system.store.operations.duplicatesOf((await newest(system)).logId)).length > 0,
      "the second call joined",
    );
    system.bench.finish("a");
    expect(await again).toMatchObject({ status: "completed", deduplicated: true, result: { Done: "a" } });
    expect(system.executions("a")).toBe(1);
  });

  test("while it waits in the queue leaves it there: a client that lost its connection does the same", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const first = answerTo(url, "work", { ...HELD, Name: "first" });
    await system.bench.begins("first");
    const connection = new AbortController();
    const lost = ask(url, "tools/call", { name: "work", arguments: CALL }, { signal: connection.signal });
    await eventually(async () => (await system.broker.list("local", 9)).length === 2, "it waits");
    connection.abort();
    await expect(lost).rejects.toThrow();
    const { logId } = await newest(system);
    expect((await system.record(logId)).abandonedAt).toBeUndefined();
    system.bench.finish("first");
    await first;
    await eventually(async () => (await system.record(logId)).state === "completed", "it ran");
    expect(await answerTo(url, "work", CALL, { id: 2 })).toMatchObject({ log_id: logId, deduplicated: true });
  });
});

describe("an answer that was lost", () => {
  test("of a mutating tool is answered again, plainly, and runs nothing", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    await lose(system, url);
    system.bench.finish("a");
    await eventually(async () => (await newest(system)).state === "completed", "it ended");
    expect(await told(system)).toBe(0);
    const first = await answerTo(url, "work", HELD, { id: 2 });
    expect(first).toMatchObject({ status: "completed", deduplicated: true, result: { Done: "a" } });
    expect(first.message).toMatch(/^Not run again: this call ran at /);
    await eventually(async () => (await told(system)) === 1, "the answer is noted");
    expect(await answerTo(url, "work", HELD, { id: 3 })).toMatchObject({ deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test("of a repeatable tool is answered to the next call; the one after that runs again", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    await lose(system, url, "put");
    system.bench.finish("a");
    await eventually(async () => (await newest(system)).state === "completed", "it ended");
    expect(await answerTo(url, "put", HELD, { id: 2 })).toMatchObject({ deduplicated: true });
    const fresh = answerTo(url, "put", HELD, { id: 3 });
    await eventually(() => system.executions("a") === 2, "it runs again");
    system.bench.finish("a");
    expect(await fresh).not.toHaveProperty("deduplicated");
  });

  test("of a repeatable tool counts as told before its first byte", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const call = answerTo(url, "put", HELD);
    await system.bench.begins("a");
    const { logId } = await newest(system);
    system.bench.finish("a");
    expect(await call).toMatchObject({ status: "completed" });
    // The write that the answer waited for is there with it.
    expect(JSON.parse((await system.hand.hget(keys.operation(logId), "doc")) ?? "{}")).toHaveProperty(
      "firstDeliveredAt",
    );
  });

  test("that came to its client within 10 s leaves nobody that is owed it: the same call runs again", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    for (const id of [1, 2])
      expect(await answerTo(url, "work", CALL, { id })).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test("that a slow client need not have got answers for the window, and then the same call runs again", async () => {
    const system = await start({ gateway: { replay: { ...REPLAY_DEFAULTS, readWithinMs: 0 } } });
    const { url } = await serve(system.gateway);
    const { log_id: logId = "", ...first } = await answerTo(url, "work", CALL, { id: 1 });
    expect(first).not.toHaveProperty("deduplicated");
    await eventually(async () => (await told(system)) === 1, "it is delivered");
    expect(await answerTo(url, "work", CALL, { id: 2 })).toMatchObject({ deduplicated: true });
    await system.store.operations.change(logId, (record) => ({ record: { ...record, replayWindowMs: 0 } }));
    expect(await answerTo(url, "work", CALL, { id: 3 })).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test("answers for the window of the gateway that accepted the call, whatever another one is configured to", async () => {
    const replay = { ...REPLAY_DEFAULTS, readWithinMs: 0 };
    const system = await start({ gateway: { replay } });
    const [a, b] = [
      await serve(system.gateway),
      await serve(await system.addGateway({ replay: { ...replay, replayWindowMs: 0 } })),
    ];
    expect(await answerTo(a.url, "work", CALL, { id: 1 })).not.toHaveProperty("deduplicated");
    await eventually(async () => (await told(system)) === 1, "it is delivered");
    expect(await answerTo(b.url, "work", CALL, { id: 2 })).toMatchObject({ deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });
});

test("two gateways: the one that has the call dies, and the same call on the other finds it", async () => {
  const system = await start();
  const [a, b] = [await system.addCabledGateway(), await serve(await system.addGateway())];
  const first = await serve(a.gateway);
  const lost = ask(first.url, "tools/call", { name: "work", arguments: HELD }).catch(() => "lost");
  await system.bench.begins("a");
  a.toRedis.cut();
  const again = answerTo(b.url, "work", HELD, { id: 2 });
  await eventually(
    async () => (await system.store.operations.duplicatesOf((await newest(system)).logId)).length > 0,
    "the second call joined",
  );
  system.bench.finish("a");
  expect(await again).toMatchObject({ status: "completed", deduplicated: true });
  expect(system.executions("a")).toBe(1);
  a.toRedis.fix();
  await lost;
});

test("the SDK's client: calls at once, and one after the other, of one principal run once; another principal's runs for itself", async () => {
  const { bearer, url, system } = await tokenGateway.open();
  const [one, two] = [await bearer("one"), await bearer("two")];
  const [first, second] = [await connectStateless(url, {}, one), await connectStateless(url, {}, one)];
  const other = await connectStateless(url, {}, two);
  closers.push(...[first, second, other].map((client) => () => client.close()));
  const call = { name: "work", arguments: CALL };
  const answers = await Promise.all([first.callTool(call), second.callTool(call)]);
  const structured = answers.map(({ structuredContent }) => structuredContent as unknown as Answer);
  expect(structured.filter(({ deduplicated }) => deduplicated)).toHaveLength(1);
  expect(new Set(structured.map(({ log_id }) => log_id)).size).toBe(1);
  expect(system.executions("a")).toBe(1);
  const others = (await other.callTool(call)).structuredContent as unknown as Answer;
  expect(others).not.toHaveProperty("deduplicated");
  expect(system.executions("a")).toBe(2);
  const logId = structured[0]?.log_id ?? "";
  const peek = { name: "get_operation_result", arguments: { log_id: logId } };
  expect((await other.callTool(peek)).structuredContent).toMatchObject({ status: "not_found" });
});
