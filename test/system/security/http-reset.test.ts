/**
 * W16: a client that gives up while it reads resets its connection: what was just written to it was not told. A
 * connection that had another request meanwhile, or was closed in order, has been read.
 */
import { once } from "node:events";
import { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import { toolCall } from "../../harness/mcp/mcp.js";
import { type Served, useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve, http } = useMcpCallers();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** One connection, whose bytes and end the test chooses. */
async function rawConnection({ port }: Served, session?: string, first = "POST /mcp HTTP/1.1", header = "") {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  let text = "";
  let heard: () => void = () => undefined;
  socket.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
    heard();
  });
  return {
    socket,
    send(message: unknown): void {
      const body = JSON.stringify(message);
      const named = session === undefined ? "" : `Mcp-Session-Id: ${session}\r\n`;
      socket.write(
        `${first}\r\nHost: 127.0.0.1\r\n${header}Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n${named}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    },
    /** Resolves when the answer to this request has come whole: the empty chunk ends it. */
    answer: (id: number): Promise<void> =>
      new Promise((resolve) => {
        heard = () => {
          const at = text.indexOf(`"id":${id}`);
          if (at >= 0 && text.includes("\r\n0\r\n\r\n", at)) resolve();
        };
        heard();
      }),
  };
}

async function staged(tool: string, args: Record<string, unknown>, options: SystemOptions = {}) {
  const system = await start(options);
  const served = await serve(system.gateway);
  const { session, settle } = await http(served);
  const connection = await rawConnection(served, session);
  connection.send(toolCall(1, tool, { timeout: 30, ...args }));
  await connection.answer(1);
  const [view] = await system.broker.list("local", 1);
  const logId = view?.record.logId ?? "";
  await settle();
  expect(await isTold(system, logId)).toBe(true);
  return { system, served, session, connection, logId };
}

const isTold = async (system: System, logId: string): Promise<boolean> =>
  (await system.record(logId)).firstDeliveredAt !== undefined;

/** The gateway has seen a connection end: by then it has acted on a later one's reset. */
async function seen({
  system,
  served,
  session,
  connection,
}: Awaited<ReturnType<typeof staged>>): Promise<void> {
  if (!connection.socket.closed) await once(connection.socket, "close");
  const later = await rawConnection(served, session);
  later.send(toolCall(90, "work", { Name: "later", timeout: 30 }));
  await later.answer(90);
  const [view] = await system.broker.list("local", 1);
  const logId = view?.record.logId ?? "";
  await eventually(() => isTold(system, logId), "the later one is told");
  later.socket.resetAndDestroy();
  await eventually(async () => !(await isTold(system, logId)), "the later one's reset has come");
}

describe("W16: right after the answer of a mutating tool", () => {
  const MUTATING = ["work", { Name: "a" }] as const;

  test("W16: a reset takes it back that it was reported, and the call again gets the outcome, however late", async () => {
    const { system, connection, logId, served } = await staged(...MUTATING);
    connection.socket.resetAndDestroy();
    await eventually(async () => !(await isTold(system, logId)), "it counts as not told");
    const later = await http(served);
    expect(await later.call("work", { Name: "a" })).toMatchObject({ log_id: logId, deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test("W16: a reset that came while the gateway stood still takes it back, too", async () => {
    const watched = { gateway: { replay: REPLAY_DEFAULTS } };
    const { system, connection, logId, served } = await staged(...MUTATING, watched);
    connection.socket.resetAndDestroy();
    for (const until = performance.now() + 1_500; performance.now() < until; );
    await eventually(async () => !(await isTold(system, logId)), "it counts as not told");
    expect(await (await http(served)).call("work", { Name: "a" })).toMatchObject({ log_id: logId });
    expect(system.executions("a")).toBe(1);
  });

  test("W16: a client that closes just before it is answered has not been told, either", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const route = "POST /api/v1/operations HTTP/1.1";
    const connection = await rawConnection(served, undefined, route, "X-Client-Id: ci\r\n");
    const { end } = ServerResponse.prototype;
    const crossing = vi.spyOn(ServerResponse.prototype, "end").mockImplementationOnce(function (
      this: ServerResponse,
      ...given: unknown[]
    ) {
      connection.socket.destroy();
      return end.apply(this, given as never);
    });
    connection.send({ tool: "work", arguments: { Name: "a" }, timeout: 30 });
    await once(connection.socket, "close");
    crossing.mockRestore();
    const [view] = await system.broker.list("local", 1);
    const logId = view?.record.logId ?? "";
    await eventually(async () => {
      const { askers = {}, createdBy } = await system.record(logId);
      const asking = askers[createdBy.caller ?? ""];
      return asking !== undefined && asking.deliveredAt === undefined;
    }, "what was noted is taken back");
    const again = await restClient(new URL(served.url).origin).call("work", { Name: "a" });
    expect(again.body).toMatchObject({ log_id: logId, deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test.each([
    ["POST /api/v1/operations HTTP/1.1", "Connection: close\r\n"],
    ["POST /api/v1/operations HTTP/1.0", ""],
  ])(
    "a connection that ends with it (%s, %j) tells of no reset, so nothing of it is read",
    async (first, header) => {
      const system = await start();
      const served = await serve(system.gateway);
      const id = { "x-client-id": "ci" };
      const connection = await rawConnection(served, undefined, first, `${header}X-Client-Id: ci\r\n`);
      connection.socket.pause();
      connection.send({ tool: "work", arguments: { Name: "a" }, timeout: 30 });
      await eventually(async () => (await system.broker.list("local", 1)).length === 1, "it is accepted");
      const [view] = await system.broker.list("local", 1);
      await eventually(() => isTold(system, view?.record.logId ?? ""), "it is told");
      connection.socket.resetAndDestroy();
      const again = await restClient(new URL(served.url).origin, id).call("work", { Name: "a" });
      expect(again.body).toMatchObject({ log_id: view?.record.logId, deduplicated: true });
      expect(system.executions("a")).toBe(1);
    },
  );

  test("a reset behind the connection's next request takes nothing back", async () => {
    const stage = await staged(...MUTATING);
    const { system, connection, logId } = stage;
    connection.send({ jsonrpc: "2.0", id: 2, method: "ping" });
    await connection.answer(2);
    connection.socket.resetAndDestroy();
    await seen(stage);
    expect(await isTold(system, logId)).toBe(true);
  });

  test("a connection that is closed in order takes nothing back", async () => {
    const stage = await staged(...MUTATING);
    const { system, connection, logId } = stage;
    connection.socket.end();
    await seen(stage);
    expect(await isTold(system, logId)).toBe(true);
  });
});

test("a repeatable tool's answer counts as reported, whatever becomes of its connection", async () => {
  const stage = await staged("run-tests", { SimulatedTests: 1, SimulatedSeconds: 0 });
  const { system, connection, logId } = stage;
  connection.socket.resetAndDestroy();
  await seen(stage);
  expect(await isTold(system, logId)).toBe(true);
});
