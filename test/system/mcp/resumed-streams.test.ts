/** Last-Event-ID: a client that lost a request's stream takes it up again, at this gateway or another one of the store. */
import { describe, expect, test } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { writeCursor } from "../../../src/gateway/mcp/revision-2025/stream-cursor.js";
import { type EventStream, openEventStream, type ServerEvent } from "../../harness/mcp/event-stream.js";
import { cancelOf, INITIALIZE, post, type RpcAnswer, reported, toolCall } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();

const REVISION = "2025-11-25";
const HELD = { Name: "a", Hold: true, timeout: 30 };

const isAnswer = ({ message }: ServerEvent): boolean =>
  message?.method === undefined && message !== undefined;
const answers = ({ events }: EventStream): RpcAnswer[] =>
  events.filter(isAnswer).map(({ message }) => message ?? {});

/** What a proxy adds: what it took is not known to have been read. */
const PROXIED = { "x-forwarded-for": "203.0.113.7" };

/** A session of this revision, and ways to its gateway. */
async function session(gateway: Gateway, revision = REVISION, way: Record<string, string> = {}) {
  const { url } = await serve(gateway, { progress: { everyMs: 20, minMs: 1 } });
  const params = { ...INITIALIZE.params, protocolVersion: revision };
  const id = (await post(url, { ...INITIALIZE, params })).sessionId ?? "";
  return { ...at(url, id, revision, way), id };
}

function at(url: string, id: string, revision = REVISION, way: Record<string, string> = {}) {
  const headers = { "mcp-session-id": id, "mcp-protocol-version": revision, ...way };
  return {
    send: (message: unknown) => post(url, message, { session: id, headers }),
    open: (message: unknown) => openEventStream(url, headers, message),
    resume: (event: ServerEvent) => openEventStream(url, { ...headers, "last-event-id": event.id ?? "" }),
    settle: () => post(url, { jsonrpc: "2.0", id: "settle", method: "ping" }, { session: id, headers }),
  };
}

/** The event after which the client knows that its operation is under way. */
const underWay = async (stream: EventStream): Promise<ServerEvent> =>
  stream.next((event) => stream.events.filter(({ id }) => id !== undefined).indexOf(event) === 1);

const deliveries = async (system: System): Promise<number> => {
  const [view] = await system.broker.list("local", 1);
  return Object.keys(view?.record.askers ?? {}).length;
};

describe("a call whose connection was lost", () => {
  test.each(["the same gateway", "another gateway"])(
    "is answered once by %s, and ran once",
    async (where) => {
      const system = await start();
      const first = await session(system.gateway);
      const stream = await first.open(toolCall(1, "work", HELD));
      const last = await underWay(stream);
      await system.bench.begins("a");
      stream.cut();
      const there =
        where === "the same gateway" ? first : at((await serve(await system.addGateway())).url, first.id);
      const resumed = await there.resume(last);
      expect(resumed.status).toBe(200);
      system.bench.finish("a");
      expect(await resumed.ended).toBe(true);
      const [answer, ...more] = answers(resumed);
      expect(more).toEqual([]);
      expect(answer?.id).toBe(1);
      expect(reported(answer)).toMatchObject({ status: "completed", result: { Done: "a" } });
      expect(reported(answer)).not.toHaveProperty("deduplicated");
      await there.settle();
      expect(await deliveries(system)).toBe(1);
      expect(system.executions("a")).toBe(1);
    },
  );

  test("may have been given up meanwhile: its outcome answers the same call, until the client names it", async () => {
    const system = await start();
    const { open, send, resume } = await session(system.gateway);
    const stream = await open(toolCall(1, "work", HELD));
    const last = await underWay(stream);
    await system.bench.begins("a");
    stream.cut();
    system.bench.finish("a");
    const resumed = await resume(last);
    expect(await resumed.ended).toBe(true);
    const { log_id } = reported(answers(resumed)[0]);
    const [again] = (await send(toolCall(2, "work", HELD))).messages;
    expect(reported(again)).toMatchObject({ status: "completed", log_id, deduplicated: true });
    await send(toolCall(3, "get_operation_status", { log_id }));
    const [accepted] = (await send(toolCall(4, "work", { ...HELD, timeout: 0 }))).messages;
    expect(reported(accepted).log_id).not.toBe(log_id);
    await eventually(() => system.executions("a") === 2, "it runs again");
    system.bench.finish("a");
  });

  test("before the client heard of its operation: the request's operation is found", async () => {
    const system = await start();
    const first = await session(system.gateway);
    const stream = await first.open(toolCall(1, "work", HELD));
    const opening = await stream.next(({ id }) => id !== undefined);
    expect(opening).toEqual({ id: expect.any(String), retry: expect.any(Number) });
    await system.bench.begins("a");
    stream.cut();
    const resumed = await first.resume(opening);
    system.bench.finish("a");
    expect(reported((await resumed.next(isAnswer)).message)).toMatchObject({ result: { Done: "a" } });
    expect(system.executions("a")).toBe(1);
  });

  test("before it became an operation: the client is told to send it again", async () => {
    const system = await start();
    const first = await session(system.gateway);
    const stream = await first.open(toolCall(1, "work", { Nam: "a" }));
    const opening = await stream.next(({ id }) => id !== undefined);
    await stream.ended;
    const resumed = await first.resume(opening);
    const { message } = await resumed.next(isAnswer);
    expect(message?.error?.message).toContain("Send it again");
    expect(await system.broker.list("local", 9)).toEqual([]);
  });

  test("whose id an earlier call had: it is not answered with that one's outcome", async () => {
    const system = await start();
    const first = await session(system.gateway, REVISION, PROXIED);
    const earlier = await first.send(toolCall(1, "work", { Name: "a", timeout: 30 }));
    expect(reported(earlier.messages.at(-1))).toMatchObject({ result: { Done: "a" } });
    for (const again of [
      toolCall(1, "work", { Nam: "b" }),
      toolCall(1, "work", { Name: "a", timeout: 30 }),
    ]) {
      const stream = await first.open(again);
      const opening = await stream.next(({ id }) => id !== undefined);
      await stream.ended;
      const resumed = await first.resume(opening);
      const { message } = await resumed.next(isAnswer);
      expect(message?.error?.message).toContain("Send it again");
    }
    expect(system.executions("a")).toBe(1);
  });

  test("and lost again, on the stream that was taken up", async () => {
    const system = await start();
    const first = await session(system.gateway);
    const stream = await first.open(toolCall(1, "work", HELD));
    const last = await underWay(stream);
    stream.cut();
    const second = await first.resume(last);
    const again = await second.next(({ id }) => id !== undefined);
    expect(again.id).not.toBe(last.id);
    second.cut();
    const third = await first.resume(again);
    await system.bench.begins("a");
    system.bench.finish("a");
    expect(reported((await third.next(isAnswer)).message)).toMatchObject({ result: { Done: "a" } });
  });

  test("waits no longer than the call would have, and shows its progress as before", async () => {
    const system = await start();
    const first = await session(system.gateway);
    await first.send(toolCall(1, "work", { ...HELD, timeout: 0 }));
    await system.bench.begins("a");
    const [view] = await system.broker.list("local", 1);
    const waited = { logId: view?.record.logId ?? "", relation: "created", seconds: 50 } as const;
    const over = writeCursor(first.id, { at: "operation", id: 1, stream: "s", ...waited, until: 0 });
    const resumed = await first.resume({ id: String(over) });
    const timedOut = reported((await resumed.next(isAnswer)).message);
    expect(timedOut).toMatchObject({ status: "timeout", message: expect.stringContaining("of 50 s ended") });
    const long = await first.open(toolCall(2, "work", HELD, { progressToken: "other" }));
    const joined = await underWay(long);
    long.cut();
    const after = await first.resume(joined);
    system.bench.report("a", { progress: 1, total: 2, message: "half" });
    const shown = await after.next(({ message }) => message?.method === "notifications/progress");
    expect(shown.message?.params).toMatchObject({ progressToken: "other" });
    system.bench.finish("a");
    expect(reported((await after.next(isAnswer)).message)).toMatchObject({ deduplicated: true });
  });

  test("a repeatable tool's outcome counts as told as soon as it is sent, and only to this request", async () => {
    const system = await start();
    const first = await session(system.gateway);
    const stream = await first.open(toolCall(1, "put", HELD));
    const last = await underWay(stream);
    await system.bench.begins("a");
    stream.cut();
    system.bench.finish("a");
    const resumed = await first.resume(last);
    expect(reported((await resumed.next(isAnswer)).message)).toMatchObject({ result: { Done: "a" } });
    const again = first.send(toolCall(2, "put", HELD));
    await eventually(() => system.executions("a") === 2, "it runs again");
    system.bench.finish("a");
    expect(reported((await again).messages.at(-1))).not.toHaveProperty("deduplicated");
  });
});

describe("what a stream was answered", () => {
  test("is not sent a second time: its last event says that nothing follows", async () => {
    const system = await start();
    const first = await session(system.gateway);
    const stream = await first.open(toolCall(1, "work", { Name: "a", timeout: 30 }));
    const answer = await stream.next(isAnswer);
    expect(answer.id).toBeDefined();
    const resumed = await first.resume(answer);
    expect(resumed.status).toBe(204);
    const wrong = await first.open(toolCall(2, "nothing"));
    const refusal = await wrong.next(isAnswer);
    expect(refusal.message?.error).toBeDefined();
    expect((await first.resume(refusal)).status).toBe(204);
  });

  test("but never arrived is sent again, and proves nothing of what was read", async () => {
    const system = await start();
    const first = await session(system.gateway, REVISION, PROXIED);
    const stream = await first.open(toolCall(1, "work", { Name: "a", timeout: 30 }));
    const last = await underWay(stream);
    await stream.ended;
    await first.settle();
    const resumed = await first.resume(last);
    expect(reported((await resumed.next(isAnswer)).message)).toMatchObject({ result: { Done: "a" } });
    await first.settle();
    const again = await first.send(toolCall(2, "work", { Name: "a", timeout: 30 }));
    expect(reported(again.messages.at(-1))).toMatchObject({ deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test("a request that reads is read again, and does not prove that its own answer was read", async () => {
    const system = await start();
    const first = await session(system.gateway, REVISION, PROXIED);
    await first.send(toolCall(1, "work", { Name: "a", Hold: true, timeout: 0 }));
    const [view] = await system.broker.list("local", 1);
    const log_id = view?.record.logId;
    await system.bench.begins("a");
    system.bench.finish("a");
    const reads = await first.open(toolCall(2, "get_operation_result", { log_id, wait: true, timeout: 30 }));
    const opening = await reads.next(({ id }) => id !== undefined);
    await reads.ended;
    await first.settle();
    const resumed = await first.resume(opening);
    expect(reported((await resumed.next(isAnswer)).message)).toMatchObject({ result: { Done: "a" } });
    await first.settle();
    const again = await first.send(toolCall(3, "work", HELD));
    expect(reported(again.messages.at(-1))).toMatchObject({ deduplicated: true });
  });
});

test("a request that its client cancelled is not answered where it is taken up again, however often, and nobody counts as told", async () => {
  const system = await start();
  const first = await session(system.gateway);
  const stream = await first.open(toolCall(1, "work", HELD));
  const last = await underWay(stream);
  await system.bench.begins("a");
  await first.send(cancelOf(1));
  await stream.ended;
  expect((await first.resume(stream.events.at(-1) ?? {})).status).toBe(204);
  const earlier = [await first.resume(last), await first.resume(last)];
  system.bench.finish("a");
  for (const each of earlier) {
    await each.ended;
    expect(answers(each)).toEqual([]);
  }
  await first.settle();
  expect(await deliveries(system)).toBe(0);
});

describe("an event's id", () => {
  test("of another session, or of none, is refused", async () => {
    const system = await start();
    const [mine, other] = [await session(system.gateway), await session(system.gateway)];
    const stream = await mine.open(toolCall(1, "work", HELD));
    const last = await underWay(stream);
    expect((await other.resume(last)).status).toBe(400);
    for (const id of ["nothing", "e30.AAAAAAAAAAAA", `A${last.id}`, "."])
      expect((await mine.resume({ id })).status).toBe(400);
    await system.bench.begins("a");
    system.bench.finish("a");
    await stream.ended;
  });

  test("is sent to no client of an earlier revision, which does not take events without data", async () => {
    const system = await start();
    const first = await session(system.gateway, "2025-06-18");
    const stream = await first.open(toolCall(1, "work", { Name: "a", timeout: 30 }));
    await stream.ended;
    expect(stream.events).toEqual([{ message: expect.objectContaining({ id: 1 }) }]);
  });
});

test("a call with a task whose answer was lost has its task", async () => {
  const system = await start();
  const first = await session(system.gateway);
  const call = { ...toolCall(1, "work", HELD), params: { ...toolCall(1, "work", HELD).params, task: {} } };
  const stream = await first.open(call);
  const opening = await stream.next(({ id }) => id !== undefined);
  await stream.ended;
  const resumed = await first.resume(opening);
  const { message } = await resumed.next(isAnswer);
  const [view] = await system.broker.list("local", 1);
  expect(message?.result?.task).toMatchObject({ taskId: view?.record.logId });
  await eventually(() => system.bench.begun.length === 1, "it has begun");
  system.bench.finish("a");
});
