/** The WebSocket of the REST API: calls and events over one connection. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { channels } from "../../../src/shared/store/keys.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSocketClients } from "../../harness/rest/socket-client.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const tokenGateway = useTokenGateway(start);
const { connect } = useSocketClients();

async function open() {
  const system = await start();
  const { origin } = new URL((await serve(system.gateway)).url);
  return { system, origin };
}

const held = (name: string) => ({ tool: "work", arguments: { Name: name, Hold: true }, timeout: 0 });

test.each(["/ws", "/react/ws/async"])("%s: a call, its events, its outcome", async (path) => {
  const { system, origin } = await open();
  const client = await connect(origin, {}, path);
  client.say({ type: "submit", id: 1, follow: true, ...held("a") });
  const { status, body } = await client.answer(1);
  expect({ status, body }).toMatchObject({ status: 202, body: { status: "timeout", tool: "work" } });
  await system.bench.begins("a");
  system.bench.report("a", { progress: 0.5, message: "half" });
  expect(await client.event("progress")).toMatchObject({ log_id: body.log_id, data: { message: "half" } });
  system.bench.finish("a");
  await client.event("ended");
  client.say({ type: "read", id: "r", log_id: body.log_id });
  expect(await client.answer("r")).toMatchObject({ status: 200, body: { result: { Done: "a" } } });
  expect(system.executions("a")).toBe(1);
});

test("a connection that is lost ends nothing; the next one goes on, at another gateway too", async () => {
  const { system, origin } = await open();
  const before = await connect(origin);
  before.say({ type: "submit", id: 1, follow: true, ...held("a") });
  const { body } = await before.answer(1);
  await system.bench.begins("a");
  system.bench.report("a", { progress: 0.1, message: "one" });
  const { event_id: after } = await before.event("progress");
  before.socket.terminate();
  const elsewhere = new URL((await serve(await system.addGateway())).url).origin;
  const next = await connect(elsewhere);
  system.bench.report("a", { progress: 0.2, message: "two" });
  next.say({ type: "follow", id: 2, log_id: body.log_id, after });
  await next.event("progress", ({ data }) => data.message === "two");
  system.bench.finish("a");
  await next.event("ended");
  expect(next.heard.filter(({ event }) => event === "progress")).toHaveLength(1);
  expect(next.heard.filter(({ event }) => event === "snapshot")).toEqual([]);
  expect(system.executions("a")).toBe(1);
});

test("follows several, and everything, and stops", async () => {
  const { system, origin } = await open();
  const client = await connect(origin);
  client.say({ type: "follow", id: "all", filter: { state: "completed" } });
  await client.event("ready");
  for (const name of ["a", "b"]) client.say({ type: "submit", id: name, follow: true, ...held(name) });
  const ids = [(await client.answer("a")).body.log_id, (await client.answer("b")).body.log_id];
  await system.bench.begins("a");
  client.say({ type: "unfollow", id: "no", log_id: ids[0] });
  await client.answer("no");
  system.bench.finish("a");
  await system.bench.begins("b");
  system.bench.finish("b");
  await client.event("ended", ({ log_id }) => log_id === ids[1]);
  await client.event("operation", ({ log_id, data }) => log_id === undefined && data.log_id === ids[1]);
  expect(client.heard.some(({ event, log_id }) => event === "ended" && log_id === ids[0])).toBe(false);
});

test("cancels", async () => {
  const { system, origin } = await open();
  const client = await connect(origin);
  client.say({ type: "submit", id: 1, tool: "work", arguments: { Name: "first", Hold: true }, timeout: 0 });
  await client.answer(1);
  await system.bench.begins("first");
  client.say({ type: "submit", id: 2, ...held("second") });
  const { body } = await client.answer(2);
  client.say({ type: "cancel", id: 3, log_id: body.log_id });
  expect(await client.answer(3)).toMatchObject({ status: 200, body: { state: "cancelled" } });
  system.bench.finish("first");
  expect(system.executions("second")).toBe(0);
});

test.each([
  ["no JSON", "{", 400],
  ["no such type", { type: "run" }, 400],
  ["a field too many", { type: "cancel", log_id: "a", colour: "red" }, 400],
  ["an unknown tool", { type: "submit", tool: "unknown-tool" }, 404],
  ["another's operation", { type: "read", log_id: "00000000-0000-4000-8000-000000000000" }, 404],
  ["nothing to follow", { type: "follow", log_id: "00000000-0000-4000-8000-000000000000" }, 404],
  ["a made up place", { type: "follow", after: "yesterday" }, 400],
])("%s is answered as REST answers it, and the connection stays", async (_what, message, status) => {
  const { origin } = await open();
  const client = await connect(origin);
  client.say(message);
  expect(await client.next(({ type }) => type === "answer", "an answer")).toMatchObject({
    status,
    body: { status, error_code: expect.any(String) },
  });
  client.say({ type: "unfollow", id: "alive" });
  expect(await client.answer("alive")).toMatchObject({ status: 200 });
});

test("a page of another origin, a stranger and a token that was revoked have no connection", async () => {
  const { origin, bearer, tokens } = await tokenGateway.open({ routeGuard: { revokedMs: 50 } });
  await expect(connect(origin)).rejects.toThrow("401");
  const ann = await bearer("ann");
  for (const page of ["http://evil.example", "http://127.0.0.1:1", "null"])
    await expect(connect(origin, { ...ann, origin: page })).rejects.toThrow("403");
  await connect(origin, { ...ann, origin });
  const client = await connect(origin, ann);
  client.say({ type: "unfollow", id: 1 });
  await client.answer(1);
  const closed = once(client.socket, "close");
  await tokens.revoke("ann");
  await closed;
});

/** Followers of a gateway listen to this channel, and nobody else does in these tests. */
const followers = async (system: System): Promise<number> => {
  const [, count] = (await system.hand.pubsub("NUMSUB", channels.changed)) as [string, number];
  return Number(count);
};

test("a client that has left before its answer leaves no follower behind", async () => {
  const { system, origin } = await open();
  const client = await connect(origin);
  client.say({ type: "submit", follow: true, ...held("a"), timeout: 30 });
  await system.bench.begins("a");
  client.socket.terminate();
  const other = await connect(origin);
  other.say({ type: "follow", id: 1 });
  await other.answer(1);
  other.say({ type: "unfollow", id: 2 });
  await other.answer(2);
  await eventually(async () => (await followers(system)) === 0, "no follower");
  system.bench.finish("a");
});

test("a follower that could not begin does not hide the one that replaced it", async () => {
  const { system, origin } = await open();
  const client = await connect(origin);
  client.say({ type: "submit", id: 0, ...held("a") });
  const { log_id: logId } = (await client.answer(0)).body;
  client.say({ type: "follow", id: 1, log_id: logId, after: "yesterday" });
  client.say({ type: "follow", id: 2, log_id: logId });
  await client.answer(1);
  await client.answer(2);
  client.say({ type: "unfollow", id: 3, log_id: logId });
  await client.answer(3);
  await eventually(async () => (await followers(system)) === 0, "no follower");
  await system.bench.begins("a");
  system.bench.finish("a");
});

test("of very many messages the last ones wait in the connection, and are answered", async () => {
  const { system, origin } = await open();
  const client = await connect(origin);
  client.say({ type: "submit", id: 0, ...held("a") });
  const { log_id: logId } = (await client.answer(0)).body;
  await system.bench.begins("a");
  for (let at = 1; at <= 256; at += 1) client.say({ type: "read", id: at, log_id: logId, wait: 30 });
  // More than what is read from a connection at once.
  const late = (at: number): string => `${at}${"x".repeat(190)}`;
  for (let at = 0; at < 3_000; at += 1) client.say({ type: "unfollow", id: late(at) });
  const other = await connect(origin);
  other.say({ type: "unfollow", id: 1 });
  await other.answer(1);
  expect(client.heard.length).toBeLessThan(1_500);
  system.bench.finish("a");
  await client.answer(late(2_999));
  await client.answer(256);
});
