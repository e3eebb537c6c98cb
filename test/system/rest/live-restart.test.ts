/** A gateway process that is killed and started again at its port: who follows goes on, and hears each event once, in order. */
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { type EventStream, openEventStream } from "../../harness/mcp/event-stream.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { type Heard, type SocketClient, useSocketClients } from "../../harness/rest/socket-client.js";

const { connect } = useSocketClients();

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

interface Followed {
  event: string;
  id: string | undefined;
  data: Heard;
}

/** Over one connection after another, each from the last event of the one before. */
interface Follower {
  /** Over all of them. */
  heard(): Followed[];
  connect(): Promise<void>;
  /** Resolves when the connection is lost. */
  lost(): Promise<unknown>;
  leave(): void;
}

const lastOf = (heard: Followed[]): string | undefined => heard.findLast(({ id }) => id !== undefined)?.id;

function bySse(origin: () => string, path: string): Follower {
  const streams: EventStream[] = [];
  const heard = (): Followed[] =>
    streams.flatMap(({ events }) =>
      events.flatMap(({ event, id, message }) => (event === undefined ? [] : [{ event, id, data: message }])),
    );
  return {
    heard,
    async connect() {
      const last = lastOf(heard());
      const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      streams.push(await openEventStream(`${origin()}/api/v1${path}`, headers));
    },
    lost: async () => expect(await streams.at(-1)?.ended).toBe(false),
    leave: () => streams.at(-1)?.cut(),
  };
}

function bySocket(origin: () => string, logId?: string): Follower {
  const clients: SocketClient[] = [];
  const heard = (): Followed[] =>
    clients.flatMap((client) =>
      client.heard.flatMap(({ type, event, event_id: id, data }) =>
        type === "event" ? [{ event, id, data }] : [],
      ),
    );
  return {
    heard,
    async connect() {
      const after = lastOf(heard());
      const client = await connect(origin());
      clients.push(client);
      client.say({ type: "follow", id: 1, ...(logId === undefined ? {} : { log_id: logId }), after });
      expect(await client.answer(1)).toMatchObject({ status: 200 });
    },
    lost: async () => {
      const socket = clients.at(-1)?.socket;
      if (socket && socket.readyState !== socket.CLOSED) await once(socket, "close");
    },
    leave: () => clients.at(-1)?.socket.terminate(),
  };
}

/** They outlast both kills on any machine: the test itself ends them. */
const TESTS = 1_000_000;
const numbers = (heard: Followed[], event: string, of: (data: Heard) => number): number[] =>
  heard.filter((one) => one.event === event).map(({ data }) => of(data));
const isRising = (given: number[]): boolean =>
  given.every((one, at) => at === 0 || one > (given[at - 1] ?? 0));

test("SIGKILL while an operation reports: one operation and everything, over SSE and WebSockets", async () => {
  const second = await world.secondGateway();
  const origin = (): string => new URL(world.url()).origin;
  const elsewhere = restClient(new URL(second.url()).origin);
  const everything = [bySse(origin, "/events"), bySocket(origin)];
  for (const follower of everything) await follower.connect();
  for (const { heard } of everything) await until("it is ready", () => heard().length > 0);
  const asked = {
    tool: "run-tests",
    arguments: { SimulatedTests: TESTS, SimulatedSeconds: 0.15 },
    timeout: 0,
  };
  const { log_id: logId } = (await restClient(origin()).post("/operations", asked)).body;
  const ofOne = [bySse(origin, `/operations/${logId}/events`), bySocket(origin, logId)];
  for (const follower of ofOne) await follower.connect();
  const all = [...everything, ...ofOne];
  const hasEnded = ({ heard }: Follower): boolean => heard().some(({ event }) => event === "ended");
  const done = ({ heard }: Follower): number[] =>
    numbers(heard(), "partial", (data) => data.partial_result.completed);

  const other: string[] = [];
  for (const kill of [1, 2]) {
    const before = ofOne.map((follower) => done(follower).length);
    for (const [at, follower] of ofOne.entries())
      await until("it reports", () => done(follower).length > (before[at] ?? 0));
    await world.editor.do({ do: "log", message: `before kill ${kill}` });
    await world.gateway.kill();
    await Promise.all(all.map((follower) => follower.lost()));
    // What nobody of them could hear.
    await world.editor.do({ do: "log", message: `while it is away, ${kill}` });
    other.push((await elsewhere.call("get-logs", { MaxCount: kill })).body.log_id ?? "");
    await world.gateway.start();
    await Promise.all(all.map((follower) => follower.connect()));
  }
  await elsewhere.post(`/operations/${logId}/cancel`, {});
  for (const follower of ofOne) await until("it has ended", () => hasEnded(follower));

  // What happened, as the store has it.
  const happened = (await world.hand.xrange(keys.events, "-", "+")).map(([id, fields]) => ({
    id,
    logId: fields[fields.indexOf("log_id") + 1] ?? "",
  }));
  expect(happened.map(({ logId: of }) => of)).toEqual(expect.arrayContaining([logId, ...other]));
  const idsOf = ({ heard }: Follower): (string | undefined)[] =>
    heard()
      .filter(({ event }) => event === "operation")
      .map(({ id }) => id);
  for (const follower of everything) {
    await until("it has heard all", () => idsOf(follower).length >= happened.length);
    expect(idsOf(follower)).toEqual(happened.map(({ id }) => id));
    expect(follower.heard().filter(({ event }) => event === "ready")).toHaveLength(1);
    follower.leave();
  }
  const { body: console } = await elsewhere.get(`/operations/${logId}/log`);
  expect(console.lines.length).toBeGreaterThan(0);
  for (const follower of ofOne) {
    const [first, ...rest] = follower.heard();
    expect(first?.event).toBe("snapshot");
    const from = first?.id?.split(".")[0] ?? "";
    const since = happened.slice(happened.findIndex(({ id }) => id === from) + 1);
    const own = since.filter((one) => one.logId === logId).map(({ id }) => id);
    expect(own.length).toBeGreaterThan(0);
    expect(idsOf(follower).map((id) => id?.split(".")[0])).toEqual(own);
    expect(rest.filter(({ event }) => ["snapshot", "gap"].includes(event))).toEqual([]);
    expect(rest.map(({ event }) => event).indexOf("ended")).toBe(rest.length - 1);
    expect(rest.at(-1)?.data).toMatchObject({ log_id: logId, state: "cancelled" });
    expect(isRising(numbers(rest, "progress", (data) => data.seq))).toBe(true);
    expect(isRising(done(follower))).toBe(true);
    const lines = rest.filter(({ event }) => event === "log").flatMap(({ data }) => data.lines);
    expect(lines).toEqual(console.lines);
    follower.leave();
  }
  expect(await world.editor.executions()).toHaveLength(1);
});
