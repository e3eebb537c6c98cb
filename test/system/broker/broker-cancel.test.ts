import { expect, test } from "vitest";
import { answerOf, type OperationView } from "../../../src/shared/operation/answer.js";
import { channels } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { hasJob } from "../../harness/system/job-state.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

function seen(view: OperationView | "retention_ended" | undefined): OperationView {
  if (typeof view !== "object") throw new Error(`no view: ${view}`);
  return view;
}

test("what waits in the queue is cancelled at once and never runs", async () => {
  const { client, bench, broker, store } = await start();
  const ann = client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const { record } = await ann.submit("work", { Name: "a" });
  const waiting = broker.wait("ann", record.logId, { ms: 10_000 });
  const view = seen(await broker.cancel("ann", record.logId, ann.caller));
  expect(view.record.state).toBe("cancelled");
  expect(answerOf(view).message).toContain("before it started");
  expect(seen(await waiting).record.state).toBe("cancelled");
  expect(await hasJob(store, record)).toBe(false);
  bench.finish("block");
  await ann.outcome(block.record.logId);
  await ann.outcome((await ann.submit("work", { Name: "b" })).record.logId);
  expect(bench.begun).toEqual(["block", "b"]);
});

test("what was sent but waits for the main thread is cancelled in the Editor", async () => {
  const { client, bench, broker, editor } = await start();
  const ann = client();
  editor.faults.stallMainThread(600_000);
  const { record } = await ann.submit("work", { Name: "a" });
  await eventually(() => editor.status().open.length === 1, "it was sent");
  const view = seen(await broker.cancel("ann", record.logId, ann.caller));
  expect(view.record.state === "cancelled" || view.record.cancel?.answer === "cancelled").toBe(true);
  expect((await ann.outcome(record.logId)).record).toMatchObject({ state: "cancelled" });
  expect(bench.begun).toEqual([]);
});

test("what runs and can be cancelled is asked to stop, and tells its end itself", async () => {
  const { client, bench, broker, executions } = await start();
  const ann = client();
  const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
  await bench.begins("a");
  await broker.cancel("ann", record.logId, ann.caller);
  const view = await ann.outcome(record.logId);
  expect(view.record.state).toBe("cancelled");
  expect(answerOf(view).message).toContain("while it ran");
  expect(executions("a")).toBe(1);
});

test("what runs and cannot be cancelled is said so, goes on and ends", async () => {
  const { client, bench, broker, executions } = await start();
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  const view = seen(await broker.cancel("ann", record.logId, ann.caller));
  expect(answerOf(view)).toMatchObject({ status: "running", cancel: "not_cancellable" });
  const again = seen(await broker.cancel("ann", record.logId, ann.caller));
  expect(answerOf(again)).toMatchObject({ status: "running", cancel: "not_cancellable" });
  bench.finish("a");
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  const late = seen(await broker.cancel("ann", record.logId, ann.caller));
  expect(late.record.state).toBe("completed");
  expect(executions("a")).toBe(1);
});

test("cancelling twice, or what has no such operation, does nothing more", async () => {
  const { client, bench, broker } = await start();
  const ann = client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const { record } = await ann.submit("work", { Name: "a" });
  const both = await Promise.all([
    broker.cancel("ann", record.logId, ann.caller),
    broker.cancel("ann", record.logId, ann.caller),
  ]);
  expect(both.map((view) => seen(view).record.state)).toEqual(["cancelled", "cancelled"]);
  expect(await broker.cancel("ann", "no-such-id", ann.caller)).toBeUndefined();
  bench.finish("block");
  await ann.outcome(block.record.logId);
});

test("after a cancellation in the queue the same call is a new one, which others join", async () => {
  const { client, bench, broker } = await start();
  const ann = client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const { record } = await ann.submit("work", { Name: "a" });
  await broker.cancel("ann", record.logId, ann.caller);
  const next = await ann.submit("work", { Name: "a" });
  expect(next.relation).toBe("created");
  const stateless = await client("ann", null).submit("work", { Name: "a" });
  expect(stateless).toMatchObject({ relation: "joined", record: { logId: next.record.logId } });
  bench.finish("block");
  await ann.outcome(block.record.logId);
  await ann.outcome(next.record.logId);
  expect(bench.begun).toEqual(["block", "a"]);
});

test("a cancellation that comes while the Editor is gone holds when it is back", async () => {
  const { client, bench, broker, editor, away } = await start();
  const ann = client();
  editor.faults.stallMainThread(600_000);
  const { record } = await ann.submit("work", { Name: "a" });
  await eventually(() => editor.status().open.length === 1, "it was sent");
  await editor.faults.crash({ keepUnflushed: true });
  await away(editor);
  expect((await ann.until(record.logId, () => true)).record.state).toBe("dispatched");
  const asked = seen(await broker.cancel("ann", record.logId, ann.caller));
  expect(answerOf(asked)).toMatchObject({ status: "running", cancel: "requested" });
  await editor.faults.restart();
  expect((await ann.outcome(record.logId)).record.state).toBe("cancelled");
  expect(bench.begun).toEqual([]);
});

test("a cancellation whose message is lost is passed on when the Editor is asked again", async () => {
  const { client, bench, broker, editor, hand } = await start();
  const ann = client();
  const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  editor.faults.dropNextRequestOf("operation/cancel");
  await broker.cancel("ann", record.logId, ann.caller);
  expect((await ann.outcome(record.logId)).record.state).toBe("cancelled");
  expect(await hand.zcard(`{ujb}:open:${editor.editorId}`)).toBe(0);
  expect(bench.begun).toEqual(["a"]);
});

test("W10: a cancellation that is published while the connections of pub/sub are killed reaches the Editor", async () => {
  const { client, bench, addCabledGateway, hand, record: recordOf } = await start({ commandTimeoutMs: 500 });
  const ann = client();
  const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  const { gateway, toRedis } = await addCabledGateway();
  let heard: unknown;
  const killed = new Promise<void>((resolve, reject) => {
    toRedis.before(channels.cancel, () => {
      toRedis.hold();
      // In one step: nobody subscribes again in between.
      const step = hand
        .multi()
        .call("CLIENT", "KILL", "TYPE", "pubsub")
        .publish(channels.cancel, record.logId);
      step
        .exec()
        .then((answers) => {
          heard = answers?.[1]?.[1];
          resolve();
        })
        .catch(reject);
    });
  });
  const asked = gateway.broker.cancel("ann", record.logId, ann.caller);
  await killed;
  expect(heard).toBe(0);
  // The gateway dies with the message in its hand.
  toRedis.cut();
  await expect(asked).rejects.toBeDefined();
  // The waits' own connection was killed as well: nobody tells them of the end.
  await eventually(async () => (await recordOf(record.logId)).state === "cancelled", "it was cancelled");
  expect(bench.begun).toEqual(["a"]);
});

test("W10: a cancellation that nobody published is passed on as well", async () => {
  const { client, bench, store } = await start();
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  await store.operations.change(record.logId, (latest, now) => ({
    record: { ...latest, cancel: { requestedAt: now } },
  }));
  const view = await ann.until(record.logId, (latest) => latest.record.cancel?.answer !== undefined);
  expect(answerOf(view)).toMatchObject({ state: "running", cancel: "not_cancellable" });
  bench.finish("a");
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
});
