/** Tasks of revision 2025-11-25: the store's operations, by their log_ids, over HTTP and over standard streams. */
import { type Task, TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { MOST_DUPLICATES } from "../../../src/shared/operation/timeline.js";
import { parameters, type SimulatedTool } from "../../../src/simulator/tool-definition.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import { refusalOf, TASK_WAYS, useTaskClients } from "../../harness/mcp/task-clients.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useTaskClients();

const INVALID_PARAMS = -32602;
const RELATED = "io.modelcontextprotocol/related-task";
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const failing = (result: unknown): SimulatedTool => ({
  name: "failing",
  description: "Work of a test.",
  inputSchema: parameters({}),
  effect: "read_only",
  lane: "main",
  resumable: false,
  cancellable: false,
  executionClass: "quick",
  blocksMainThread: true,
  label: () => "failing",
  run: async () => result,
});

const deliveries = async (system: System, logId: string): Promise<number> =>
  Object.keys((await system.record(logId)).askers ?? {}).length;

describe.each(TASK_WAYS)("over %s", (way) => {
  test("a call with a task is answered at once, and its result is the answer that the call would have had", async () => {
    const system = await start();
    const { create, tasks, result } = await connect(system.gateway, way);
    const { task, _meta } = await create({ Name: "a", Hold: true });
    const { taskId } = task;
    expect(task).toMatchObject({ status: "working", createdAt: expect.stringMatching(ISO) });
    expect(task.ttl).toBeGreaterThan(60_000);
    expect(_meta?.[RELATED]).toEqual({ taskId });
    await system.bench.begins("a");
    expect(await tasks.getTask(taskId)).toMatchObject({ taskId, status: "working", pollInterval: 500 });
    const waiting = result(taskId);
    system.bench.finish("a");
    const answered = await waiting;
    expect(answered._meta?.[RELATED]).toEqual({ taskId });
    const answer = answerIn<Answer>(answered);
    expect(answer).toMatchObject({ status: "completed", log_id: taskId, result: { Done: "a" } });
    expect(answer).not.toHaveProperty("deduplicated");
    expect(await tasks.getTask(taskId)).toMatchObject({
      status: "completed",
      statusMessage: "Operation completed.",
    });
    expect(system.executions("a")).toBe(1);
    await eventually(async () => (await deliveries(system, taskId)) === 1, "the delivery is recorded");
  });

  test("a real client follows the call to its result", async () => {
    const system = await start();
    const { client, tasks } = await connect(system.gateway, way);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "work")?.execution).toEqual({ taskSupport: "optional" });
    expect(tools.find(({ name }) => name === "list_editors")?.execution).toBeUndefined();
    const seen: string[] = [];
    for await (const message of tasks.callToolStream({ name: "work", arguments: { Name: "a" } })) {
      seen.push(message.type);
      if (message.type === "result") expect(answerIn(message.result)).toMatchObject({ status: "completed" });
    }
    expect(seen[0]).toBe("taskCreated");
    expect(seen.at(-1)).toBe("result");
  });

  test("the session is told when the task ends, and how it goes on meanwhile", async () => {
    const system = await start();
    const { client, create } = await connect(system.gateway, way);
    const told: Task[] = [];
    client.setNotificationHandler(
      TaskStatusNotificationSchema,
      ({ params }) => void told.push(params as Task),
    );
    const progress: string[] = [];
    const onprogress = ({ message = "" }): void => void progress.push(message);
    const { task } = await create({ Name: "a", Hold: true }, "work", { onprogress });
    await system.bench.begins("a");
    system.bench.report("a", { progress: 1, total: 2, message: "half of it" });
    await eventually(() => progress.some((said) => said.includes("half of it")), "the progress is told");
    system.bench.finish("a");
    await eventually(() => told.length === 1, "the end is told");
    expect(told[0]).toMatchObject({ taskId: task.taskId, status: "completed" });
  });

  test("a task is cancelled as its operation is, and only while it goes on", async () => {
    const system = await start();
    const { create, tasks, result } = await connect(system.gateway, way);
    const { task } = await create({ Name: "a", Hold: true }, "work-cancellable");
    await system.bench.begins("a");
    expect(await tasks.cancelTask(task.taskId)).toMatchObject({ taskId: task.taskId, status: "cancelled" });
    const again = await refusalOf(tasks.cancelTask(task.taskId));
    expect(again).toMatchObject({
      code: INVALID_PARAMS,
      message: expect.stringContaining("has ended (cancelled)"),
    });
    expect(answerIn(await result(task.taskId))).toMatchObject({ status: "cancelled" });
  });

  test("a tool that cannot be cancelled goes on, and no answer says otherwise", async () => {
    const system = await start();
    const { create, tasks } = await connect(system.gateway, way);
    const { task } = await create({ Name: "a", Hold: true });
    await system.bench.begins("a");
    const answer = await refusalOf(tasks.cancelTask(task.taskId));
    expect(answer).toMatchObject({
      code: INVALID_PARAMS,
      message: expect.stringContaining("The task goes on"),
    });
    expect(await tasks.getTask(task.taskId)).toMatchObject({ status: "working" });
    system.bench.finish("a");
  });
});

test("the same call again gets the task of the operation that it joined, and is told so with the outcome too", async () => {
  const system = await start();
  const first = await connect(system.gateway, "HTTP");
  const second = await connect(system.gateway, "HTTP");
  const call = { Name: "a", Hold: true };
  const { task } = await first.create(call);
  await system.bench.begins("a");
  const joined = await second.create(call);
  expect(joined.task).toMatchObject({ taskId: task.taskId, status: "working" });
  expect(joined.task.statusMessage).toMatch(/^Joined: this task is the operation of/);
  system.bench.finish("a");
  expect(answerIn(await second.result(task.taskId))).toMatchObject({
    deduplicated: true,
    result: { Done: "a" },
  });
  expect(answerIn(await first.result(task.taskId))).not.toHaveProperty("deduplicated");
  const third = await connect(system.gateway, "HTTP");
  const { task: next } = await third.create(call);
  expect(next.taskId).not.toBe(task.taskId);
  await eventually(() => system.executions("a") === 2, "both have read it: it runs again");
  system.bench.finish("a");
  expect(answerIn(await third.result(next.taskId))).not.toHaveProperty("deduplicated");
});

test("a task that joined is told so with its outcome, however many calls have joined since", async () => {
  const system = await start();
  const first = await connect(system.gateway);
  const call = { Name: "a", Hold: true };
  await first.create(call, "put");
  await system.bench.begins("a");
  const second = await connect(system.gateway);
  const { task } = await second.create(call, "put");
  for (let more = 0; more <= MOST_DUPLICATES; more += 1) await first.create(call, "put");
  system.bench.finish("a");
  expect(answerIn(await second.result(task.taskId))).toMatchObject({
    ...{ deduplicated: true, message: expect.stringMatching(/^This call joined/) },
  });
});

test("asking for a task by its id proves that its outcome was read: the same call is a new one then", async () => {
  const system = await start();
  const { create, tasks, result } = await connect(system.gateway, "proxy");
  const { task } = await create({ Name: "a" });
  await result(task.taskId);
  await eventually(async () => (await deliveries(system, task.taskId)) === 1, "the delivery is recorded");
  expect((await create({ Name: "a" })).task.taskId).toBe(task.taskId);
  await tasks.getTask(task.taskId);
  const { task: next } = await create({ Name: "a" });
  expect(next.taskId).not.toBe(task.taskId);
  await result(next.taskId);
  expect(system.executions("a")).toBe(2);
});

test("a tool that failed has a failed task, whose result is the tool's error", async () => {
  const system = await start();
  const { create, tasks, result } = await connect(system.gateway);
  const { task } = await create({ Name: "a", Hold: true });
  await system.bench.begins("a");
  system.bench.fail("a", "No such scene.");
  const answered = await result(task.taskId);
  expect(answered.isError).toBe(true);
  expect(await tasks.getTask(task.taskId)).toMatchObject({
    status: "failed",
    statusMessage: "No such scene.",
  });
});

test("a call that is refused has no task; neither has a tool of the broker's own", async () => {
  const system = await start();
  const { create } = await connect(system.gateway);
  const wrong = await refusalOf(create({ Nam: "a" }));
  expect(wrong).toMatchObject({ code: INVALID_PARAMS, message: expect.stringContaining("Name") });
  expect((await refusalOf(create({}, "nothing"))).code).toBe(INVALID_PARAMS);
  expect((await refusalOf(create({}, "list_editors"))).code).toBe(-32601);
  expect(await system.broker.list("local", 9)).toEqual([]);
});

test("a wait for a result ends with an error that says to ask again", async () => {
  const system = await start();
  const { create, result, client, end } = await connect(system.gateway);
  const { task } = await create({ Name: "a", Hold: true });
  await system.bench.begins("a");
  const waiting = refusalOf(result(task.taskId));
  await client.ping();
  // As if the longest wait was over.
  await end();
  expect(await waiting).toMatchObject({
    code: -32001,
    message: expect.stringContaining("Ask for its result again"),
  });
  system.bench.finish("a");
});

test("a task outlives the gateway and the worker that it was made with", async () => {
  const system = await start({ worker: null });
  const worker = await system.addWorker();
  await system.present(system.editor);
  const first = await connect(system.gateway, "HTTP");
  const { task } = await first.create({ Name: "a", Hold: true }, "work-resumable");
  await system.bench.begins("a");
  await first.client.close();
  await worker.close();
  await system.addWorker();
  const second = await connect(await system.addGateway(), "HTTP");
  const waiting = second.result(task.taskId);
  system.bench.finish("a");
  expect(answerIn(await waiting)).toMatchObject({ status: "completed", result: { Done: "a" } });
  expect(system.executions("a")).toBe(1);
});

test("a result that says that the tool failed makes a failed task, read alone and in the list", async () => {
  const content = [{ type: "text", text: "No such scene." }];
  const system = await start({ editor: { tools: [failing({ content, isError: true })] } });
  const { create, tasks, result } = await connect(system.gateway);
  const { task } = await create({}, "failing");
  await result(task.taskId);
  const failed = { status: "failed", statusMessage: "The tool reported an error: No such scene." };
  expect(await tasks.getTask(task.taskId)).toMatchObject(failed);
  expect((await tasks.listTasks()).tasks[0]).toMatchObject(failed);
});

test("pages of the list stay as they are while tasks come, and an unknown cursor is refused", async () => {
  const system = await start({ maxQueued: 200 });
  const { create, tasks } = await connect(system.gateway);
  const made: string[] = [];
  for (let at = 0; at < 60; at += 1) made.unshift((await create({ Name: `${at}` })).task.taskId);
  const first = await tasks.listTasks();
  expect(first.tasks.map(({ taskId }) => taskId)).toEqual(made.slice(0, 50));
  await create({ Name: "later" });
  const second = await tasks.listTasks(first.nextCursor);
  expect(second.tasks.map(({ taskId }) => taskId)).toEqual(made.slice(50));
  expect(second.nextCursor).toBeUndefined();
  for (const cursor of ["nothing", "00000000-0000-4000-8000-000000000000"])
    expect((await refusalOf(tasks.listTasks(cursor))).code).toBe(INVALID_PARAMS);
});
