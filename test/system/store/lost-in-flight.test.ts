/** A record is lost while its call runs, and the call is sent again before it has ended: that is one call, whoever reads it first. */
import { expect, test } from "vitest";
import { createDeliveries } from "../../../src/gateway/exchange.js";
import { keys, queueName } from "../../../src/shared/store/keys.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("a record, its chain, and that there was one, are lost: the call that comes before the end takes that outcome, though it was read meanwhile", async () => {
  const { bench, broker, client, hand, executions, store } = await start();
  const ann = client();
  const { record: first } = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  await hand.del(keys.operation(first.logId), keys.chain(first.hash), keys.hashes("ann"));
  await whenStoreIsBack(() => ann.submit("work", { Name: "between", Hold: true }));
  const { record: second } = await whenStoreIsBack(() => ann.submit("work", { Name: "a", Hold: true }));
  bench.finish("a");
  await bench.begins("between");
  await eventually(async () => {
    const found = await broker.look("ann", first.logId);
    return typeof found === "object" && found.record.state === "completed";
  }, "the first is known again");
  // A call that came now would be a new one.
  await createDeliveries(store.operations).delivered(ann.caller, first.logId, { isRead: true });
  bench.finish("between");
  const { record } = await ann.outcome(second.logId);
  expect(record).toMatchObject({ state: "completed", executedAs: first.logId });
  expect(executions("a")).toBe(1);
});

test("the list of an Editor, and later the job of what waits for it, are lost: it runs when its turn comes", async () => {
  const { bench, client, editor, gateway, hand, executions } = await start({ gateway: { sweepMs: 150 } });
  const ann = client();
  await ann.submit("work", { Name: "before", Hold: true });
  await bench.begins("before");
  const { record } = await ann.submit("work", { Name: "a" });
  await hand.del(keys.open(editor.editorId));
  await gateway.sweep();
  const queue = queueName(editor.editorId, record.lane);
  const jobs = await hand.keys(`${keys.queue(queue, record.hash)}*`);
  expect(jobs.length).toBeGreaterThan(0);
  await hand.del(...jobs, keys.queue(queue, "prioritized"), keys.queue(queue, "wait"));
  await eventually(async () => {
    await gateway.sweep();
    return (await hand.exists(...jobs)) > 0;
  }, "its job is there again");
  bench.finish("before");
  await ann.outcome(record.logId);
  expect(executions("a")).toBe(1);
});
