/** When a waiting call starts, by how long such calls took before. */
import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Long, so that the moments which the test takes do not matter. */
const USUAL_MS = 6_000_000;
const HALF_MS = USUAL_MS / 2;

const recorded = ({ hand }: System, editor: string, ms: number) =>
  hand.lpush("{ujb}:durations:work", `${ms} ${editor}`);

/** To the nearest half of the usual time. */
const halves = (seconds: unknown): number => Math.round((Number(seconds) * 1_000) / HALF_MS);

test("the first call of a tool has no estimate; then each knows what is ahead of it, by the Editor's own times", async () => {
  const system = await start();
  const { client, bench, editor, hand } = system;
  const ann = client();
  const held = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  const unknown = answerOf(
    await ann.until(held.record.logId, ({ record: { state } }) => state === "running"),
  );
  expect(unknown).not.toHaveProperty("estimated_end_seconds");
  await recorded(system, "another", 1);
  await recorded(system, editor.editorId, USUAL_MS);
  const [next, last] = [await ann.submit("work", { Name: "b" }), await ann.submit("work", { Name: "c" })];
  const answers = await Promise.all(
    [held, next, last].map(async ({ record }) => answerOf(await ann.until(record.logId, () => true))),
  );
  expect(answers.map((answer) => halves(answer.estimated_end_seconds))).toEqual([2, 4, 6]);
  expect(answers.map((answer) => answer.estimated_start_seconds !== undefined)).toEqual([false, true, true]);
  expect(answers.slice(1).map((answer) => halves(answer.estimated_start_seconds))).toEqual([2, 4]);
  expect(answers[1]?.message).toMatch(
    /behind 1 other\(s\)\. By earlier calls it starts in about (99|100) min\./,
  );
  bench.finish("a");
  for (const { record } of [held, next, last]) await ann.outcome(record.logId);
  // Its own times are recorded with it.
  const [newest = ""] = await hand.lrange("{ujb}:durations:work", 0, 0);
  expect(newest).toMatch(new RegExp(`^\\d+ ${editor.editorId}$`));
});

test("in a pool the work of its Editors is shared among them, and one that is not served has no estimate", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, bench, editor } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([system.present(editor), system.present(second)]);
  for (const { editorId } of [editor, second]) await recorded(system, editorId, USUAL_MS);
  const ann = client();
  for (const { editorId } of [editor, second]) {
    await ann.submit("work", { Name: editorId, Hold: true }, { editor: editorId });
    await bench.begins(editorId);
  }
  const pool = { editor: "pool:android" };
  const [first, next] = [
    await ann.submit("work", { Name: "a" }, pool),
    await ann.submit("work", { Name: "b" }, pool),
  ];
  const read = await ann.submit("ping", {}, pool);
  const answers = await Promise.all(
    [first, next].map(async ({ record }) => answerOf(await ann.until(record.logId, () => true))),
  );
  expect(answers.map((answer) => halves(answer.estimated_start_seconds))).toEqual([2, 2]);
  // For an idle Editor its background tools wait too.
  expect(halves(answerOf(await ann.until(read.record.logId, () => true)).estimated_start_seconds)).toBe(2);
  for (const { editorId } of [editor, second]) bench.finish(editorId);
  for (const { record } of [first, next]) await ann.outcome(record.logId);
});
