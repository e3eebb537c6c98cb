/** An answer that a proxy took and its client never got has not been read: whoever is owed that outcome gets it, and nothing runs again. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { INITIALIZE, post, reported, toolCall } from "../../harness/mcp/mcp.js";
import { type Served, useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { BEHIND_A_PROXY } from "../../harness/processes/process-clients.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const HELD = { Name: "a", Hold: true };

/** A session behind a proxy that keeps some answers for itself. */
async function proxied({ url, port }: Served) {
  const session = (await post(url, INITIALIZE, { headers: BEHIND_A_PROXY })).sessionId ?? "";
  const send = (message: unknown) => post(url, message, { session, headers: BEHIND_A_PROXY });
  await send({ jsonrpc: "2.0", method: "notifications/initialized" });
  let lastId = 0;
  const next = (args: object) => {
    lastId += 1;
    return toolCall(lastId, "work", { ...HELD, timeout: 30, ...args });
  };
  return {
    call: async (args: object = {}): Promise<Answer> => reported((await send(next(args))).messages.at(-1)),
    /** Its answer goes into a connection that nobody reads. */
    async lose(): Promise<void> {
      const body = JSON.stringify(next({}));
      const proxy = connect(port, "127.0.0.1");
      closers.push(() => proxy.destroy());
      await once(proxy, "connect");
      proxy.pause();
      const headers = {
        ...{ host: "127.0.0.1", accept: "application/json, text/event-stream", ...BEHIND_A_PROXY },
        ...{ "content-type": "application/json", "mcp-session-id": session, "content-length": body.length },
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      proxy.write(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    },
  };
}

async function stage() {
  const system = await start({ gateway: { replay: { ...REPLAY_DEFAULTS } } });
  const served = await serve(system.gateway);
  const [one, other, third] = [await proxied(served), await proxied(served), await proxied(served)];
  return { system, one, other, third };
}

const only = async (system: System): Promise<string> => {
  const [view] = await system.broker.list("local", 1);
  return view?.record.logId ?? "";
};
const isDelivered = (system: System, logId: string): Promise<void> =>
  eventually(async () => (await system.record(logId)).firstDeliveredAt !== undefined, "it was delivered");

/** The window counts for at least twice the time that the execution took. */
async function windowEnds({ hand, record }: System, logId: string): Promise<void> {
  await eventually(async () => {
    const { firstDeliveredAt = Number.NaN, executionMs = 0 } = await record(logId);
    const [seconds, microseconds] = await hand.time();
    return Number(seconds) * 1_000 + Number(microseconds) / 1_000 >= firstDeliveredAt + 2 * executionMs;
  }, "the window has ended");
}

function expectRecorded(answer: Answer, logId: string): void {
  expect(answer).toMatchObject({ status: "completed", deduplicated: true, log_id: logId });
  expect(answer.message).toMatch(/^Not run again: this call ran at /);
}

test("the same session sends the call again: it gets the recorded outcome, however often", async () => {
  const { system, one } = await stage();
  await one.lose();
  await system.bench.begins("a");
  system.bench.finish("a");
  const logId = await only(system);
  await isDelivered(system, logId);
  for (const _time of [1, 2]) expectRecorded(await one.call(), logId);
  expect(system.executions("a")).toBe(1);
});

test("a session that asked and never got it gets it after the window too; one that never asked runs it again", async () => {
  const { system, one, other, third } = await stage();
  expect(await one.call({ timeout: 0 })).toMatchObject({ status: "timeout" });
  await system.bench.begins("a");
  await other.lose();
  const logId = await only(system);
  await eventually(
    async () => (await system.store.operations.duplicatesOf(logId)).length === 1,
    "the other one joined",
  );
  system.bench.finish("a");
  await isDelivered(system, logId);
  await system.store.operations.change(logId, (record) => ({ record: { ...record, replayWindowMs: 0 } }));
  await windowEnds(system, logId);
  expectRecorded(await one.call(), logId);
  expect(system.executions("a")).toBe(1);
  const fresh = await third.call({ timeout: 0 });
  expect(fresh).not.toHaveProperty("deduplicated");
  expect(fresh.log_id).not.toBe(logId);
  await eventually(() => system.executions("a") === 2, "it runs again");
  system.bench.finish("a");
});
