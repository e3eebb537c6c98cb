/** Live events: nothing is left out and nothing comes twice, over lost connections, other gateways and a Redis that was away. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { followAll } from "../../../src/gateway/events/event-feed.js";
import { channels, keys } from "../../../src/shared/store/keys.js";
import { type EventStream, openEventStream, type ServerEvent } from "../../harness/mcp/event-stream.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { type RestClient, restClient } from "../../harness/rest/rest-client.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const tokenGateway = useTokenGateway(start);

interface Open {
  system: System;
  origin: string;
  rest: RestClient;
  /** At the first gateway, or another one. */
  follow(path: string, headers?: Record<string, string>, at?: string): Promise<EventStream>;
  another(): Promise<string>;
}

async function open(options: Parameters<typeof start>[0] = {}): Promise<Open> {
  const system = await start(options);
  const first = new URL((await serve(system.gateway)).url).origin;
  return {
    system,
    origin: first,
    rest: restClient(first),
    follow: (path, headers = {}, at = first) => openEventStream(`${at}/api/v1${path}`, headers),
    another: async () => new URL((await serve(await system.addGateway())).url).origin,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the server says; the tests compare it.
const dataOf = ({ message }: ServerEvent): any => message;
const named = (stream: EventStream, event: string): ServerEvent[] =>
  stream.events.filter((one) => one.event === event);
const happened = (...streams: EventStream[]): string[] =>
  streams.flatMap((stream) => named(stream, "operation").map((one) => dataOf(one).event));
const idsOf = (...streams: EventStream[]): (string | undefined)[] =>
  streams.flatMap(({ events }) => events.flatMap(({ id }) => (id === undefined ? [] : [id])));
const is = (event: string) => (one: ServerEvent) => dataOf(one)?.event === event;
const held = (name: string) => ({ tool: "work", arguments: { Name: name, Hold: true }, timeout: 0 });
const lastId = (stream: EventStream): Record<string, string> => ({
  "last-event-id": idsOf(stream).at(-1) ?? "",
});

async function submit({ rest }: Pick<Open, "rest">, name: string): Promise<string> {
  return (await rest.post("/operations", held(name))).body.log_id;
}

test("of one operation: as it is, what happens, how far it is, and its end as the last event", async () => {
  const opened = await open();
  const { system, follow } = opened;
  const id = await submit(opened, "a");
  await system.bench.begins("a");
  const stream = await follow(`/operations/${id}/events`);
  expect(dataOf(await stream.next((one) => one.event === "snapshot"))).toMatchObject({ log_id: id });
  system.bench.report("a", { progress: 0.5, message: "half" });
  expect(dataOf(await stream.next((one) => one.event === "progress"))).toMatchObject({ message: "half" });
  system.bench.finish("a");
  expect(await stream.ended).toBe(true);
  expect(dataOf(stream.events.at(-1) ?? {})).toMatchObject({ state: "completed" });
  expect(stream.events.at(-1)).toMatchObject({ event: "ended" });
  // The result is read where its delivery is noted.
  expect(dataOf(stream.events.at(-1) ?? {})).not.toHaveProperty("result");
  const after = await follow(`/operations/${id}/events`, lastId(stream));
  expect(after.status).toBe(204);
});

test("a lost connection is taken up at another gateway: each event once", async () => {
  const opened = await open();
  const { system, follow, another } = opened;
  const id = await submit(opened, "a");
  await system.bench.begins("a");
  const before = await follow(`/operations/${id}/events`);
  await before.next((one) => one.event === "snapshot");
  system.bench.report("a", { progress: 0.1, message: "one" });
  await before.next((one) => dataOf(one)?.message === "one");
  before.cut();
  await before.ended;
  system.bench.report("a", { progress: 0.2, message: "two" });
  const next = await follow(`/operations/${id}/events`, lastId(before), await another());
  await next.next((one) => dataOf(one)?.message === "two");
  system.bench.finish("a");
  expect(await next.ended).toBe(true);
  expect(named(next, "snapshot")).toEqual([]);
  const said = [before, next].flatMap((stream) =>
    named(stream, "progress").map((one) => dataOf(one).message),
  );
  expect(said).toEqual(["one", "two"]);
  // That it started may be stored after its first report.
  expect(happened(next).filter((event) => event !== "started")).toEqual(["completed"]);
  const ids = idsOf(before, next);
  expect(new Set(ids).size).toBe(ids.length);
});

test("of everything: over a lost connection and another gateway each event once, in order", async () => {
  const opened = await open();
  const { system, follow, another, rest } = opened;
  const before = await follow("/events");
  await before.next((one) => one.event === "ready");
  await rest.call("work", { Name: "a" });
  await before.next(is("completed"));
  before.cut();
  await before.ended;
  await rest.call("work", { Name: "b" });
  const after = await follow("/events", lastId(before), await another());
  await rest.call("work", { Name: "c" });
  await after.next((one) => is("completed")(one) && happened(after).length >= 6);
  const once = ["accepted", "sent"];
  const all = happened(before, after).filter((event) => event !== "started");
  expect(all).toEqual([...once, "completed", ...once, "completed", ...once, "completed"]);
  const ids = idsOf(before, after);
  expect(new Set(ids).size).toBe(ids.length);
  after.cut();
  expect(system.executions("a")).toBe(1);
});

test("the first event of a stream is a place to go on from, even if nothing happened", async () => {
  const opened = await open();
  const before = await opened.follow("/events");
  await before.next((one) => one.event === "ready");
  before.cut();
  await opened.rest.call("work", { Name: "a" });
  const after = await opened.follow("/events", lastId(before));
  await after.next(is("completed"));
  after.cut();
});

test("from before the first event on, those that were dropped are a gap", async () => {
  const { system, follow } = await open();
  const script =
    "for n = 1, 10300 do redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', 'event', 'x') end";
  await system.hand.eval(script, 1, keys.events);
  const stream = await follow("/events?after=0-0");
  await stream.next((one) => one.event === "gap");
  stream.cut();
});

test("what is not kept any more is a gap, and says so", async () => {
  const opened = await open();
  const { system, follow, rest } = opened;
  await rest.call("work", { Name: "a" });
  const before = await follow("/events?after=0-0");
  await before.next(is("completed"));
  before.cut();
  await rest.call("work", { Name: "b" });
  await system.hand.xtrim(keys.events, "MAXLEN", 1);
  const after = await follow("/events", lastId(before));
  expect(dataOf(await after.next((one) => one.event === "gap")).message).toMatch(/Read again what you show/);
  await rest.call("work", { Name: "c" });
  await after.next(is("completed"));
  after.cut();
});

test("filters leave out what they name", async () => {
  const opened = await open();
  const stream = await opened.follow("/events?tool=look&state=completed");
  await stream.next((one) => one.event === "ready");
  await opened.rest.call("work", { Name: "a" });
  await opened.rest.call("look", { Name: "b" });
  await stream.next(is("completed"));
  expect(named(stream, "operation").map((one) => dataOf(one).tool)).toEqual(["look"]);
  stream.cut();
});

test.each([
  ["/events?state=done", {}, 400],
  ["/events?colour=red", {}, 400],
  ["/events", { "last-event-id": "yesterday" }, 400],
  ["/operations/00000000-0000-4000-8000-000000000000/events", {}, 404],
])("%s %j is refused with %i, not with a stream", async (path, headers: Record<string, string>, status) => {
  const { rest } = await open();
  const { headers: answered, ...said } = await rest.get(path, { headers });
  expect(said).toMatchObject({ status, body: { status } });
  expect(answered.get("content-type")).toContain("application/problem+json");
});

test("others' operations: an operator sees that they happen, and not what they say", async () => {
  const { origin, bearer, system } = await tokenGateway.open();
  const [ann, bob, eve] = await Promise.all([
    bearer("ann"),
    bearer("bob"),
    bearer("eve", { role: "operate" }),
  ]);
  const follow = (path: string, who: { authorization: string }) =>
    openEventStream(`${origin}/api/v1${path}`, who);
  const all = await follow("/events?principal=*", eve);
  await all.next((one) => one.event === "ready");
  expect((await follow("/events?principal=*", bob)).status).toBe(403);
  const { log_id: id } = (await restClient(origin, ann).post("/operations", held("a"))).body;
  await system.bench.begins("a");
  system.bench.report("a", { progress: 0.5, message: "half", partialResult: { secret: 1 } });
  await all.next(is("accepted"));
  expect((await follow(`/operations/${id}/events`, bob)).status).toBe(404);
  const one = await follow(`/operations/${id}/events`, eve);
  await one.next((event) => event.event === "snapshot");
  system.bench.finish("a");
  expect(await one.ended).toBe(true);
  expect(named(one, "partial")).toEqual([]);
  expect(JSON.stringify(one.events)).not.toContain("secret");
  all.cut();
});

test("Redis that was away is waited for", async () => {
  const opened = await open({ commandTimeoutMs: 500 });
  const { system, follow, rest } = opened;
  const { gateway, toRedis } = await system.addCabledGateway();
  const at = new URL((await serve(gateway)).url).origin;
  const stream = await follow("/events", {}, at);
  await stream.next((one) => one.event === "ready");
  toRedis.cut();
  await rest.call("work", { Name: "a" });
  toRedis.fix();
  await stream.next(is("completed"));
  expect(happened(stream).filter((event) => event !== "started")).toEqual(["accepted", "sent", "completed"]);
  stream.cut();
});

test("a follower whose look at Redis has failed looks again", async () => {
  const { system } = await open({ commandTimeoutMs: 300 });
  const { gateway, toRedis } = await system.addCabledGateway();
  const ended = new AbortController();
  toRedis.cut();
  const everybody = { isWanted: () => true, sees: () => true, signal: ended.signal };
  const events = followAll(gateway.store, everybody);
  const first = events.next();
  first.catch(() => undefined);
  // What was asked after it has failed.
  await expect(gateway.store.operations.now()).rejects.toThrow();
  toRedis.fix();
  expect((await first).value).toMatchObject({ event: "ready" });
  ended.abort();
  expect(await events.next()).toMatchObject({ done: true });
});

test("a client that leaves before the first event leaves no follower behind", async () => {
  const opened = await open();
  const { system, origin } = opened;
  const id = await submit(opened, "a");
  await system.bench.begins("a");
  const { port } = new URL(origin);
  for (let at = 0; at < 20; at += 1) {
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    const gone = once(socket, "close");
    socket.write(`GET /api/v1/operations/${id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, () =>
      socket.resetAndDestroy(),
    );
    await gone;
  }
  // Behind all of them.
  const stream = await opened.follow(`/operations/${id}/events`);
  await stream.next((one) => one.event === "snapshot");
  stream.cut();
  await eventually(async () => {
    const [, followers] = (await system.hand.pubsub("NUMSUB", channels.changed)) as [string, number];
    return followers === 0;
  }, "no follower");
  system.bench.finish("a");
});

test("an operator who is none any more, or may not use an Editor any more, sees no more of others", async () => {
  const { system, origin, bearer, tokens } = await tokenGateway.open();
  const ann = await bearer("ann", { role: "submit" });
  const rest = restClient(origin, ann);
  const op = await bearer("op", { role: "operate" });
  const everything = await openEventStream(`${origin}/api/v1/events?principal=*`, op);
  await everything.next((one) => one.event === "ready");
  const { log_id: first } = (await rest.post("/operations", held("a"))).body;
  await everything.next((one) => dataOf(one)?.log_id === first);
  await system.bench.begins("a");
  const one = await openEventStream(`${origin}/api/v1/operations/${first}/events`, op);
  await one.next(({ event }) => event === "snapshot");
  await tokens.grant("op", { editors: { allow: ["*"], deny: ["game-1*"] } });
  system.bench.finish("a");
  await one.ended;
  expect(named(one, "ended")).toEqual([]);
  await tokens.grant("op", { role: "read" });
  const { log_id: second } = (await rest.post("/operations", held("b"))).body;
  await everything.ended;
  expect(everything.events.filter((event) => dataOf(event)?.event === "completed")).toEqual([]);
  expect(everything.events.filter((event) => dataOf(event)?.log_id === second)).toEqual([]);
  await system.bench.begins("b");
  system.bench.finish("b");
});
