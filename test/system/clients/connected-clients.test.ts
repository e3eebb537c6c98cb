/** Which MCP clients list_editors shows: those whose sessions live, to whom may see them. */
import { expect, test } from "vitest";
import type { ShownClients } from "../../../src/gateway/mcp/tools/shown-clients.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { post } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { serve, http, stdio } = useMcpCallers();
const { open } = useTokenGateway(start);

const CURSOR = { name: "cursor", version: "2.0" };
const CLAUDE = { name: "claude-code", version: "1.0.3" };

const clientsOf = (answer: Answer) => (answer as unknown as ShownClients).clients;
const namesOf = (answer: Answer) => clientsOf(answer).map(({ name }) => name);

test("clients over both transports are listed while they are connected, and the one that asks knows itself", async () => {
  const { gateway } = await start();
  const before = Date.now();
  const [claude, cursor] = [await stdio(gateway, { info: CLAUDE }), await http(gateway, CURSOR)];
  await eventually(async () => namesOf(await claude.call("list_editors")).length === 2, "both are noted");
  const answer = await claude.call("list_editors");
  expect(clientsOf(answer).toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
    { ...CLAUDE, transport: "stdio", since: expect.any(String), self: true },
    { ...CURSOR, transport: "http", since: expect.any(String) },
  ]);
  expect(answer.message).toContain("2 MCP client(s) connected");
  for (const { since } of clientsOf(answer)) expect(Date.parse(since)).toBeGreaterThanOrEqual(before);
  // A session's id lets others speak for it.
  expect(JSON.stringify(answer)).not.toContain(cursor.session.slice(0, 8));

  await claude.leave();
  await eventually(
    async () => namesOf(await cursor.call("list_editors")).join() === "cursor",
    "the client that left is no longer listed",
  );
  await cursor.leave();
  await eventually(async () => (await gateway.store.clients.all()).length === 0, "nobody is left");
});

test("a principal sees its own clients, and one with the role operate those of all, with their names", async () => {
  const { tokens, connect, system } = await open();
  const [ann, ben, olga] = [
    await connect(await tokens.create("ann")),
    await connect(await tokens.create("ben", { role: "read" })),
    await connect(await tokens.create("olga", { role: "operate" })),
  ];
  await eventually(async () => (await system.store.clients.all()).length === 3, "all are noted");
  const seenBy = async (client: typeof ann) => {
    const answer = await client.callTool({ name: "list_editors", arguments: {} });
    return clientsOf(answer.structuredContent as Answer).map(({ principal, self }) => principal ?? self);
  };
  expect(await seenBy(ann)).toEqual([true]);
  expect(await seenBy(ben)).toEqual([true]);
  expect((await seenBy(olga)).map(String).sort()).toEqual(["ann", "ben", "true"]);
});

test("the clients of a gateway that was killed leave by themselves, those of others stay", async () => {
  const system = await start({ worker: null, clientLifeMs: 600 });
  const cabled = await system.addCabledGateway();
  await Promise.all([stdio(cabled.gateway, { info: CURSOR }), stdio(system.gateway, { info: CLAUDE })]);
  const listed = async () =>
    (await system.broker.clients("local"))
      .map(({ name }) => name)
      .sort()
      .join();
  await eventually(async () => (await listed()) === "claude-code,cursor", "both are noted");
  const [first] = await system.broker.clients("local");
  cabled.toRedis.cut();
  await eventually(async () => (await listed()) === "claude-code", "the killed one's is gone");
  // As if it had slept.
  cabled.toRedis.fix();
  await eventually(async () => (await listed()) === "claude-code,cursor", "it notes its client again");
  expect((await system.broker.clients("local")).map(({ since }) => since)).toContain(first?.since);
});

test("a client over HTTP that says nothing and holds no stream is not listed, until it speaks again", async () => {
  const system = await start({ worker: null, clientLifeMs: 300 });
  const served = await serve(system.gateway, { quietMs: 200 });
  const isListed = async () => (await system.broker.clients("local")).length === 1;
  const quiet = await http(served, CURSOR);
  await eventually(isListed, "it is noted");
  const [first] = await system.broker.clients("local");
  await eventually(async () => !(await isListed()), "it is quiet");
  await quiet.settle();
  await eventually(isListed, "it spoke");
  expect(await system.broker.clients("local")).toEqual([first]);

  const stream = new AbortController();
  const headers = { accept: "text/event-stream", "mcp-session-id": quiet.session };
  await fetch(served.url, { headers, signal: stream.signal });
  const openedAt = await system.store.operations.now();
  const notedAt = async () => Number((await system.hand.zrange(keys.clients, 0, "-1", "WITHSCORES"))[1]);
  await eventually(
    async () => (await notedAt()) > openedAt + 600,
    "it is noted for as long as it holds a stream",
  );
  stream.abort();
  await eventually(async () => !(await isListed()), "its stream ended");
});

test("a client that came while the store was away is noted once it is back", async () => {
  const system = await start({ worker: null, clientLifeMs: 600, commandTimeoutMs: 200 });
  const { gateway, toRedis } = await system.addCabledGateway();
  toRedis.cut();
  await stdio(gateway, { info: CURSOR });
  const isSaid = () => system.warnings.some((line) => line.includes("connected clients not noted"));
  await eventually(isSaid, "it could not be noted");
  const before = Date.now();
  toRedis.fix();
  await eventually(async () => (await system.broker.clients("local")).length === 1, "it is noted");
  const [client] = await system.broker.clients("local");
  expect(client?.since).toBeGreaterThanOrEqual(before - 1_000);
});

test("a session that another gateway takes over is connected there, under the same name", async () => {
  const { gateway, addGateway, store } = await start();
  const first = await serve(gateway);
  const { session } = await http(first, CURSOR);
  await eventually(async () => (await store.clients.all()).length === 1, "it is noted");
  await first.close();
  await eventually(async () => (await store.clients.all()).length === 0, "its gateway ended");

  const second = await serve(await addGateway());
  await post(second.url, { jsonrpc: "2.0", id: 9, method: "ping" }, { session });
  await eventually(async () => (await store.clients.all()).length === 1, "it is noted again");
  expect(await store.clients.all()).toMatchObject([{ ...CURSOR, id: `mcp:${session}`, transport: "http" }]);
});
