/** A bridge without a ledger cannot be asked what became of a call: it is said to be unknown, and is not sent again. */
import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const UNKNOWN = { state: "interrupted", error: { code: "OUTCOME_UNKNOWN", type: "connection_lost" } };

test("bridge without a ledger · sent: interrupted, although it never arrived", async () => {
  const { client, editor, present, executions } = await start({ editor: { plain: true } });
  const ann = client();
  editor.faults.dropNextRequestOf("work");
  const { record } = await ann.submit("work", { Name: "a" });
  expect((await ann.outcome(record.logId)).record).toMatchObject(UNKNOWN);
  await present(editor);
  expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
  expect(executions("a")).toBe(0);
});

test("bridge without a ledger · finished: interrupted, its answer was never heard", async () => {
  const { client, editor, present, executions } = await start({ editor: { plain: true } });
  const ann = client();
  editor.faults.dropNextAnswerOf("work");
  const { record } = await ann.submit("work", { Name: "a" });
  expect((await ann.outcome(record.logId)).record).toMatchObject(UNKNOWN);
  await present(editor);
  expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
  expect(executions("a")).toBe(1);
});
