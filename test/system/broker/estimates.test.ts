/** When a waiting call starts, and when one that runs ends, by how long identical calls took before. */
import { expect, test } from "vitest";
import { type Answer, answerOf } from "../../../src/shared/operation/answer.js";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Long, so that the moments which the test takes do not matter. */
const USUAL_MS = 6_000_000;
const HALF_MS = USUAL_MS / 2;

type Parameters = Record<string, unknown>;
const held = (name: string) => ({ Name: name, Hold: true });

/** A call that runs until the test says so. */
async function begun(ann: Client, name: string, parameters?: Parameters): Promise<string> {
  const { record } = await ann.submit("look", held(name), parameters);
  await ann.reaches(record.logId, "running");
  return record.logId;
}

/** A call that took so long. */
async function took(
  { bench, store }: System,
  ann: Client,
  name: string,
  ms: number,
  parameters?: Parameters,
): Promise<void> {
  const logId = await begun(ann, name, parameters);
  bench.finish(name);
  await ann.outcome(logId);
  await store.operations.change(logId, (record) => ({ record: { ...record, executionMs: ms } }));
}

const shown = async (ann: Client, logId: string): Promise<Answer> =>
  answerOf(await ann.until(logId, () => true));

/** To the nearest half of the usual time. */
const halves = (seconds: unknown): number => Math.round((Number(seconds) * 1_000) / HALF_MS);

test("a call that has not completed yet has no estimate, whatever other calls of its tool took", async () => {
  const system = await start();
  const { bench } = system;
  const ann = system.client();
  await took(system, ann, "quick", 2_000);
  const long = await begun(ann, "long");
  const answer = await shown(ann, long);
  expect(answer).not.toHaveProperty("estimated_end_seconds");
  expect(answer.message).not.toMatch(/in about/);
  bench.fail("long", "It failed at once.");
  await ann.outcome(long);
  const again = await begun(ann, "long");
  expect(await shown(ann, again)).not.toHaveProperty("estimated_end_seconds");
  bench.finish("long");
  await ann.outcome(again);
});

test("each knows what is ahead of it, and ends after the time that the last identical call took", async () => {
  const system = await start();
  const { bench } = system;
  const ann = system.client();
  for (const name of ["a", "b", "c"]) await took(system, ann, name, USUAL_MS);
  await took(system, ann, "late", 0);
  const running = await begun(ann, "a");
  const waiting = [await ann.submit("look", held("b")), await ann.submit("look", held("c"))];
  const [next = "", last = ""] = waiting.map(({ record }) => record.logId);
  const all = [running, next, last];
  const answers = await Promise.all(all.map((logId) => shown(ann, logId)));
  expect(answers.map((answer) => halves(answer.estimated_end_seconds))).toEqual([2, 4, 6]);
  expect(answers.map((answer) => answer.estimated_start_seconds !== undefined)).toEqual([false, true, true]);
  expect(answers.slice(1).map((answer) => halves(answer.estimated_start_seconds))).toEqual([2, 4]);
  expect(answers[0]?.message).toMatch(/By the last identical call it ends in about (99|100) min\./);
  expect(answers[1]?.message).toMatch(
    /behind 1 other\(s\)\. By earlier identical calls it starts in about (99|100) min\./,
  );
  for (const [at, name] of ["a", "b", "c"].entries()) {
    await ann.reaches(all[at] ?? "", "running");
    bench.finish(name);
    await ann.outcome(all[at] ?? "");
  }

  // One that runs for longer than before tells neither its end nor the start of what is behind it.
  const late = await begun(ann, "late");
  const behind = (await ann.submit("look", held("b"))).record.logId;
  for (const logId of [late, behind]) {
    const answer = await shown(ann, logId);
    expect(answer).not.toHaveProperty("estimated_start_seconds");
    expect(answer).not.toHaveProperty("estimated_end_seconds");
  }
  bench.finish("late");
  await ann.reaches(behind, "running");
  bench.finish("b");
  await ann.outcome(behind);
});

test("in a pool the work of its Editors is shared among them, and one that is not served has no estimate", async () => {
  const system = await start({ editor: { labels: ["android"] } });
  const { client, bench, editor } = system;
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([system.present(editor), system.present(second)]);
  const ann = client();
  const editors = [editor, second].map(({ editorId }) => editorId);
  for (const id of editors) await took(system, ann, id, USUAL_MS, { editor: id });
  const pool = { editor: "pool:android" };
  for (const name of ["x", "y"]) await took(system, ann, name, USUAL_MS, pool);
  for (const id of editors) await begun(ann, id, { editor: id });
  const [first, next] = [
    await ann.submit("look", held("x"), pool),
    await ann.submit("look", held("y"), pool),
  ];
  const read = await ann.submit("ping", {}, pool);
  const answers = await Promise.all([first, next].map(({ record }) => shown(ann, record.logId)));
  expect(answers.map((answer) => halves(answer.estimated_start_seconds))).toEqual([2, 2]);
  // For an idle Editor its background tools wait too.
  expect(halves((await shown(ann, read.record.logId)).estimated_start_seconds)).toBe(2);
  for (const id of editors) bench.finish(id);
  for (const [{ record }, name] of [
    [first, "x"],
    [next, "y"],
  ] as const) {
    await ann.reaches(record.logId, "running");
    bench.finish(name);
    await ann.outcome(record.logId);
  }
});
