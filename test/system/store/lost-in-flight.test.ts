/** A record, or all, is lost while its call runs, and the call is sent again before it has ended: that is one call, whoever reads it first. */
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test.each(["its record", "its record and its chain"])("%s", async (lost) => {
  const { bench, broker, client, hand, executions, record: recordOf } = await start();
  const ann = client();
  const { record: first } = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  await hand.del(keys.operation(first.logId));
  if (lost.endsWith("chain")) await hand.del(keys.chain(first.hash));
  const { record: second } = await whenStoreIsBack(() => ann.submit("work", { Name: "a", Hold: true }));
  bench.finish("a");
  // Its caller reads the first by its log_id: what it asks for now would be a new run.
  await eventually(async () => {
    const found = await broker.look("ann", first.logId);
    return typeof found === "object" && found.record.state === "completed";
  }, "the first is known again");
  await ann.outcome(first.logId);
  const { record } = await ann.outcome(second.logId);
  expect(record.state).toBe("completed");
  expect(executions("a")).toBe(1);
  if (second.logId !== first.logId) expect((await recordOf(second.logId)).executedAs).toBe(first.logId);
});
