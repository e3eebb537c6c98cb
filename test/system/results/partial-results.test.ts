/** What is told while an operation runs counts when it arrives: in what it may take, and against what it may hold up. */

import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { openStore } from "../../../src/shared/store/store.js";
import type { Progress } from "../../../src/shared/wire/wire.js";
import { createSparseLog } from "../../../src/worker/editor/sparse-log.js";
import { createProgressReports } from "../../../src/worker/owner/progress-reports.js";
import { eventually } from "../../harness/eventually.js";
import { SILENT } from "../../harness/silent.js";
import { useSystem } from "../../harness/system/system.js";

const { start, redis } = useSystem();
const text = (length: number): string => "x".repeat(length);

test("a partial result of 16 MB is not stored, and who looks is told that there was one", async () => {
  // As installed: with a shorter one, a busy machine loses it over so much text, and the report with it.
  const lease = { ttlMs: 20_000, renewMs: 100 };
  const { client, bench, hand } = await start({ worker: { lease } });
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  bench.report("a", { progress: 1, partialResult: text(16_000_000) });
  const view = await ann.until(record.logId, ({ isPartialTruncated }) => isPartialTruncated === true);
  expect(answerOf(view)).toMatchObject({ partial_result_truncated: true });
  expect(answerOf(view)).not.toHaveProperty("partial_result");
  expect(await hand.hstrlen(keys.live(record.logId), "partial")).toBe(0);

  bench.report("a", { progress: 2, partialResult: "short", message: text(100_000) });
  const later = await ann.until(record.logId, ({ partialResult }) => partialResult === "short");
  expect(answerOf(later)).not.toHaveProperty("partial_result_truncated");
  expect(later.progress?.message?.length).toBeLessThan(600);
  bench.finish("a");
  await ann.outcome(record.logId);
});

test("over the budget of all partial results the oldest gives way", async () => {
  const store = await openStore(redis().connection, {
    retentionMs: 60_000,
    maxPartial: 400,
    partialsBudgetBytes: 1_000,
  });
  const { operations } = store;
  const reported = async (...ids: string[]) =>
    Promise.all(
      ids.map(async (id) => {
        const { partialResult, isTruncated } = await operations.live(id);
        return isTruncated ? "truncated" : String(partialResult).length;
      }),
    );
  for (const id of ["a", "b", "c"]) await operations.report(id, { partialResult: text(300) });
  expect(await reported("a", "b", "c")).toEqual([300, 300, 300]);
  await operations.report("a", { partialResult: text(310) });
  await operations.report("d", { partialResult: text(300) });
  expect(await reported("a", "b", "c", "d")).toEqual([310, "truncated", 300, 300]);
  await operations.report("d", { partialResult: text(500) });
  await operations.report("e", { partialResult: text(300) });
  expect(await reported("a", "c", "d", "e")).toEqual([310, 300, "truncated", 300]);
  await store.close();
});

test("what is reported of an operation that does not run here is not stored", async () => {
  const { client, store, addEditor, present, bench } = await start();
  const liar = await addEditor();
  await present(liar);
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true, editor: "game-1" });
  await ann.reaches(record.logId, "running");
  const reported: string[] = [];
  const report = createProgressReports({
    isOwn: (id) => id === record.logId,
    report: async (id) => void reported.push(id),
    log: SILENT,
  });
  for (const operationId of ["unknown", record.logId]) report({ operationId, seq: 1, progress: 1 });
  expect(reported).toEqual([record.logId]);
  expect((await store.operations.live("unknown")).progress).toBeUndefined();
  bench.finish("a");
  await ann.outcome(record.logId);
});

test("however many reports come, one is written at a time, and the last one is", async () => {
  const written: unknown[] = [];
  let release = (): void => undefined;
  let done = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    release = resolve;
  });
  const last = new Promise<void>((resolve) => {
    done = resolve;
  });
  const report = createProgressReports({
    isOwn: () => true,
    async report(_id, { progress, partialResult }) {
      written.push([progress?.seq, partialResult]);
      if (written.length === 1) await first;
      else done();
    },
    log: SILENT,
  });
  const reported = (seq: number, more: Partial<Progress> = {}): void =>
    report({ operationId: "a", seq, progress: seq, ...more });
  reported(1);
  reported(2, { partialResult: "kept" });
  for (let seq = 3; seq <= 100_000; seq += 1) reported(seq);
  release();
  await last;
  expect(written).toEqual([
    [1, undefined],
    [100_000, "kept"],
  ]);
});

test("a report that could not be stored is stored later, with what came meanwhile", async () => {
  const written: unknown[] = [];
  let attempts = 0;
  const report = createProgressReports({
    isOwn: () => true,
    async report(_id, { progress, partialResult }) {
      attempts += 1;
      if (attempts === 1) report({ operationId: "a", seq: 2, progress: 2 });
      if (attempts <= 2) throw new Error("the store is away");
      written.push([progress?.seq, partialResult]);
    },
    log: SILENT,
  });
  report({ operationId: "a", seq: 1, progress: 1, partialResult: "kept" });
  await eventually(() => written.length > 0, "it is stored");
  expect([attempts, written]).toEqual([3, [[2, "kept"]]]);
});

test("a report of an operation that has ended is not tried again", async () => {
  let owned = ["a", "b"];
  const attempts: string[] = [];
  const report = createProgressReports({
    isOwn: (id) => owned.includes(id),
    async report(id) {
      attempts.push(id);
      if (attempts.length < 3) throw new Error("the store is away");
    },
    log: SILENT,
  });
  for (const operationId of owned) report({ operationId, seq: 1, progress: 1 });
  await eventually(() => attempts.length === 2, "both have failed");
  owned = ["b"];
  await eventually(() => attempts.length === 3, "one is tried again");
  expect(attempts).toEqual(["a", "b", "b"]);
});

test("the same warning fills no log", () => {
  const said: unknown[] = [];
  const at = (values: object): void => void said.push(values);
  let now = 0;
  const log = createSparseLog({ ...SILENT, warn: at }, () => now);
  for (let time = 0; time < 10_000; time += 1) log.warn({ time }, "again");
  expect(said).toHaveLength(20);
  now = 60_000;
  log.warn({}, "again");
  expect(said.at(-1)).toEqual({ leftOut: 9_980 });
});
