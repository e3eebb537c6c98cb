import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** As if the call had come, and begun, so much earlier. */
async function age({ store }: System, logId: string, ms: number): Promise<void> {
  await store.operations.change(logId, ({ acceptedAt, dispatchedAt = 0, startedAt = 0, ...record }) => ({
    record: {
      ...record,
      acceptedAt: acceptedAt - ms,
      dispatchedAt: dispatchedAt - ms,
      startedAt: startedAt - ms,
    },
  }));
}

test("what runs past its class is shown as overdue, goes on, and is not run again", async () => {
  const system = await start();
  const { client, bench, gateway, executions } = system;
  const ann = client();
  const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
  expect(record.executionClass).toBe("medium");
  await ann.reaches(record.logId, "running");
  await age(system, record.logId, 400_000);
  await gateway.sweep();
  const view = await ann.until(record.logId, () => true);
  expect(answerOf(view)).toMatchObject({ overdue: true, execution_class: "medium", state: "running" });
  expect(view.record.cancel).toBeUndefined();
  expect((await ann.submit("work-cancellable", { Name: "a", Hold: true })).relation).toBe("joined");
  bench.finish("a");
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(executions("a")).toBe(1);
});

test("where it is configured, the Editor is asked to cancel what is overdue, and only that", async () => {
  const system = await start({ gateway: { cancelOverdue: true } });
  const { client, bench, gateway, executions } = system;
  const ann = client();
  const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  await gateway.sweep();
  expect((await ann.until(record.logId, () => true)).record.cancel).toBeUndefined();
  await age(system, record.logId, 400_000);
  await gateway.sweep();
  expect((await ann.outcome(record.logId)).record.state).toBe("cancelled");

  const stubborn = await ann.submit("work", { Name: "b", Hold: true });
  await ann.reaches(stubborn.record.logId, "running");
  await age(system, stubborn.record.logId, 400_000);
  await gateway.sweep();
  const view = await ann.until(stubborn.record.logId, ({ record }) => record.cancel?.answer !== undefined);
  expect(view.record).toMatchObject({ state: "running", cancel: { answer: "not_cancellable" } });
  bench.finish("b");
  expect((await ann.outcome(stubborn.record.logId)).record.state).toBe("completed");
  expect([executions("a"), executions("b")]).toEqual([1, 1]);
});

test("a tool that does not say how long it takes is known by configuration, then by what it took", async () => {
  const { client, editor, store, hand, present, addGateway, addWorker } = await start({ worker: null });
  const known = editor.tools.get("look");
  if (!known) throw new Error("no such tool");
  const { executionClass: _said, ...silent } = known;
  editor.tools.add({ ...silent, name: "survey" } as typeof known);
  await addWorker();
  await present(editor);
  const ann = client();
  const first = await ann.submit("survey", { Name: "a" });
  expect(first.record.executionClass).toBe("medium");
  await ann.outcome(first.record.logId);
  expect(await store.operations.durationsOf("survey")).toHaveLength(1);
  await hand.lpush(keys.durations("survey"), ...Array<number>(25).fill(1_000));
  const second = await ann.submit("survey", { Name: "b" });
  expect(second.record.executionClass).toBe("quick");
  await ann.outcome(second.record.logId);
  expect(await store.operations.durationsOf("survey")).toHaveLength(20);

  const { broker } = await addGateway({ executionClasses: { survey: "long" } });
  const third = await broker.submit(ann.callOf("survey", { Name: "c" }));
  expect(third.record.executionClass).toBe("long");
  await ann.outcome(third.record.logId);
});
