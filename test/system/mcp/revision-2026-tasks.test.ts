/** The extension io.modelcontextprotocol/tasks: a call whose wait ends goes on as a task, for clients that know tasks. */
import { expect, test } from "vitest";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import { createHeardLog, createLinePeer, createPipes, type RpcAnswer } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import {
  answerTo,
  ask,
  askTool,
  type StatelessOptions,
  statelessRequest,
  TASKS,
} from "../../harness/mcp/stateless.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const tokenGateway = useTokenGateway(start);

const KNOWS = { capabilities: { extensions: { [TASKS]: {} } } };
const HELD = { Name: "a", Hold: true, timeout: 0 };

const task = async (
  url: string,
  what: "get" | "cancel" | "update",
  taskId: unknown,
  options: StatelessOptions = {},
): Promise<RpcAnswer | undefined> =>
  (
    await ask(
      url,
      `tasks/${what}`,
      { taskId, ...(what === "update" ? { inputResponses: {} } : {}) },
      { ...KNOWS, ...options },
    )
  ).messages[0];

test("a call becomes a task, which ends with the result that the call would have had", async () => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const made = await askTool(url, "work", HELD, KNOWS);
  expect(made.result).toMatchObject({
    resultType: "task",
    status: "working",
    taskId: expect.any(String),
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    ttlMs: expect.any(Number),
    pollIntervalMs: expect.any(Number),
    statusMessage: expect.any(String),
  });
  expect(made.result).not.toHaveProperty("content");
  const { taskId } = made.result as { taskId: string };
  await system.bench.begins("a");
  const working = await task(url, "get", taskId);
  expect(working?.result).toMatchObject({ resultType: "complete", taskId, status: "working" });
  system.bench.finish("a");
  await eventually(async () => (await system.record(taskId)).state === "completed", "it ended");
  expect((await system.record(taskId)).firstDeliveredAt).toBeUndefined();
  const done = await task(url, "get", taskId);
  expect(done?.result).toMatchObject({ resultType: "complete", status: "completed", taskId });
  expect(done?.result).not.toHaveProperty("pollIntervalMs");
  expect(answerIn<Answer>(done?.result?.result)).toMatchObject({
    ...{ status: "completed", log_id: taskId, result: { Done: "a" } },
  });
  await eventually(
    async () => (await system.record(taskId)).firstDeliveredAt !== undefined,
    "its result counts as told",
  );
  expect(await task(url, "cancel", taskId)).toMatchObject({ result: { resultType: "complete" } });
  expect(await task(url, "update", taskId)).toMatchObject({ result: { resultType: "complete" } });
  expect((await task(url, "get", taskId))?.result).toMatchObject({ status: "completed" });
  expect(system.executions("a")).toBe(1);
});

test("a quick call, and a client that does not know tasks, get the answer as ever", async () => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const quick = await askTool(url, "work", { Name: "quick", timeout: 30 }, KNOWS);
  expect(quick.result).toMatchObject({ resultType: "complete", content: expect.any(Array) });
  expect(await answerTo(url, "work", HELD)).toMatchObject({ status: "timeout" });
  await system.bench.begins("a");
  system.bench.finish("a");
});

test("the same call again gets a task of the same operation, and is told so, with the outcome too", async () => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const [first, second] = [
    await askTool(url, "work", HELD, KNOWS),
    await askTool(url, "work", HELD, { ...KNOWS, id: 2 }),
  ];
  const [taskId, joinedId] = [String(first.result?.taskId), String(second.result?.taskId)];
  expect(second.result?.statusMessage).toMatch(/^Joined /);
  await system.bench.begins("a");
  expect((await task(url, "get", joinedId))?.result).toMatchObject({ taskId: joinedId, status: "working" });
  expect(await task(url, "update", joinedId)).toMatchObject({ result: { resultType: "complete" } });
  system.bench.finish("a");
  await eventually(async () => (await system.record(taskId)).state === "completed", "it ended");
  const outcomes = [await task(url, "get", taskId), await task(url, "get", joinedId)];
  expect(outcomes.map((each) => each?.result)).toMatchObject([{ taskId }, { taskId: joinedId }]);
  const [own, joined] = outcomes.map((each) => answerIn<Answer>(each?.result?.result));
  expect(own).not.toHaveProperty("deduplicated");
  expect(joined).toMatchObject({ status: "completed", deduplicated: true, log_id: taskId });
  expect(second.result?.statusMessage).toContain(taskId);
  expect(system.executions("a")).toBe(1);
});

test("a tool's failure completes the task with a result that says so; a cancelled task is cancelled", async () => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const failed = await askTool(url, "work", HELD, KNOWS);
  await system.bench.begins("a");
  system.bench.fail("a", "it broke");
  const failedId = String(failed.result?.taskId);
  await eventually(async () => (await system.record(failedId)).state === "failed", "it failed");
  expect((await task(url, "get", failedId))?.result).toMatchObject({
    ...{ status: "completed", result: { isError: true } },
  });
  const first = await askTool(url, "work", { ...HELD, Name: "b" }, KNOWS);
  await system.bench.begins("b");
  const waiting = await askTool(url, "work", { ...HELD, Name: "c" }, KNOWS);
  const waitingId = String(waiting.result?.taskId);
  expect((await task(url, "cancel", waitingId))?.result).toMatchObject({ resultType: "complete" });
  const cancelled = await task(url, "get", waitingId);
  expect(cancelled?.result).toMatchObject({ status: "cancelled" });
  expect(cancelled?.result).not.toHaveProperty("result");
  system.bench.finish("b");
  expect(first.result?.resultType).toBe("task");
  await eventually(
    async () => (await system.record(String(first.result?.taskId))).state === "completed",
    "the first one ended",
  );
  expect(system.executions("c")).toBe(0);
});

test("another principal's task, an unknown one, and one of a client that does not know tasks", async () => {
  const { bearer, url, system } = await tokenGateway.open();
  const [one, two] = [await bearer("one"), await bearer("two")];
  const made = await askTool(url, "work", HELD, { ...KNOWS, headers: one });
  await system.bench.begins("a");
  const { taskId } = made.result as { taskId: string };
  for (const what of ["get", "cancel", "update"] as const) {
    const foreign = await task(url, what, taskId, { headers: two });
    const unknown = await task(url, what, "00000000-0000-4000-8000-000000000000", { headers: two });
    expect(foreign?.error).toMatchObject({ code: -32602 });
    expect(foreign?.error).toEqual(unknown?.error);
    const { status, messages } = await ask(url, `tasks/${what}`, { taskId }, { headers: one });
    expect(status).toBe(400);
    expect(messages[0]?.error).toMatchObject({
      ...{ code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } },
    });
    const wrong = await ask(
      url,
      `tasks/${what}`,
      { taskId },
      { ...KNOWS, headers: { ...one, "mcp-name": "other" } },
    );
    expect(wrong.messages[0]?.error?.code).toBe(-32020);
  }
  const listen = await ask(
    url,
    "subscriptions/listen",
    { notifications: { taskIds: [taskId] } },
    { headers: one },
  );
  expect(listen.messages[0]?.error?.code).toBe(-32021);
  expect((await task(url, "get", taskId, { headers: one }))?.result).toMatchObject({ status: "working" });
  system.bench.finish("a");
});

test("a task lives on another gateway, and over standard streams", async () => {
  const system = await start();
  const [a, b] = [await serve(system.gateway), await serve(await system.addGateway())];
  const made = await askTool(a.url, "work", HELD, KNOWS);
  const { taskId } = made.result as { taskId: string };
  await system.bench.begins("a");
  await a.close();
  expect((await task(b.url, "get", taskId))?.result).toMatchObject({ status: "working" });
  system.bench.finish("a");
  await eventually(async () => (await system.record(taskId)).state === "completed", "it ended");
  const pipes = createPipes();
  const service = serveStdio({ gateway: system.gateway, log: createHeardLog(), version: "0" }, pipes, {});
  const peer = createLinePeer(pipes);
  peer.send(statelessRequest("tasks/get", { taskId }, { id: 1, ...KNOWS }));
  expect((await peer.answer(1)).result).toMatchObject({ status: "completed" });
  await service.close();
});
