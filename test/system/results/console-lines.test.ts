/** Stored Console lines: numbered, the newest 500, within the budget of partial results, each batch once. */
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { openStore } from "../../../src/shared/store/store.js";
import type { ConsoleLine } from "../../../src/shared/wire/console-lines.js";
import { createLogReports } from "../../../src/worker/owner/link-handlers.js";
import { eventually } from "../../harness/eventually.js";
import { SILENT } from "../../harness/silent.js";
import { useSystem } from "../../harness/system/system.js";

const { redis } = useSystem();

const lines = (from: number, to: number, more = ""): ConsoleLine[] =>
  Array.from({ length: to - from + 1 }, (_, at) => ({ type: "log", message: `${from + at}${more}` }));

async function store(options: { partialsBudgetBytes?: number } = {}) {
  const opened = await openStore(redis().connection, { retentionMs: 60_000, ...options });
  return { ...opened, ...opened.operations };
}

test("they are numbered over all batches; the newest 500 are kept, and what is gone is counted", async () => {
  const { addLines, linesAfter, close } = await store();
  const read = async (after: number) => {
    const { lines: found, ...rest } = await linesAfter("a", after);
    return { from: found[0]?.message, to: found.at(-1)?.message, ...rest };
  };
  expect(await linesAfter("a", 0)).toEqual({ lines: [], next: 0 });
  await addLines("a", { id: "1", lines: lines(1, 3) });
  // As after a write whose answer was lost.
  await addLines("a", { id: "1", lines: lines(1, 3) });
  expect(await linesAfter("a", 0)).toEqual({ lines: lines(1, 3), next: 3 });
  expect(await linesAfter("a", 2)).toEqual({ lines: lines(3, 3), next: 3 });
  for (let batch = 2; batch <= 14; batch += 1)
    await addLines("a", { id: String(batch), lines: lines(50 * batch - 96, 50 * batch - 47) });
  expect(await read(0)).toEqual({ from: "154", to: "353", next: 353, missed: 153, more: true });
  expect(await read(353)).toEqual({ from: "354", to: "553", next: 553, more: true });
  expect(await read(553)).toEqual({ from: "554", to: "653", next: 653 });
  // The store began anew and counts from 1 again.
  expect(await read(1_000)).toEqual({ from: undefined, to: undefined, next: 653 });
  await close();
});

test("they share the budget of partial results: the oldest give way, of either kind", async () => {
  const { addLines, linesAfter, live, report, close } = await store({ partialsBudgetBytes: 2_000 });
  const hand = new Redis(redis().connection);
  await report("a", { partialResult: "x".repeat(700) });
  await addLines("b", { id: "1", lines: lines(1, 7, "x".repeat(70)) });
  await addLines("c", { id: "1", lines: lines(1, 7, "x".repeat(70)) });
  expect(await live("a")).toMatchObject({ isTruncated: true });
  expect((await linesAfter("b", 0)).lines).toHaveLength(7);
  await report("d", { partialResult: "x".repeat(700) });
  expect(await linesAfter("b", 0)).toEqual({ lines: [], next: 7, missed: 7 });
  expect(await live("d")).toMatchObject({ partialResult: expect.any(String) });
  await addLines("b", { id: "2", lines: lines(8, 8) });
  expect(await linesAfter("b", 6)).toEqual({ lines: lines(8, 8), next: 8, missed: 1 });
  const sizes = Object.entries(await hand.hgetall(keys.partialBytes));
  const sum = sizes.filter(([name]) => name !== "total").reduce((all, [, bytes]) => all + Number(bytes), 0);
  expect(Object.fromEntries(sizes)).toMatchObject({ total: String(sum) });
  hand.disconnect();
  await close();
});

test("an owner keeps one notice of them at most, tries again what was not stored, and flushes what waits", async () => {
  const stored: ConsoleLine[][] = [];
  const batches = new Set<string>();
  let own = true;
  let fails = 1;
  let release = (): void => undefined;
  const reports = createLogReports({
    isOwn: () => own,
    async add(_id, { id, lines: added }) {
      batches.add(id);
      if (fails > 0) {
        fails -= 1;
        throw new Error("the store is away");
      }
      stored.push([...added]);
      if (stored.length === 1)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
    },
    log: SILENT,
  });
  reports.take({ operationId: "a", lines: lines(1, 1) });
  await eventually(() => stored.length === 1, "it is stored");
  expect(stored).toEqual([lines(1, 1)]);
  expect(batches.size).toBe(1);
  // While that write is under way.
  for (let at = 0; at < 1_000; at += 1) reports.take({ operationId: "a", lines: lines(2, 4), more: 1 });
  reports.flush("a");
  expect(stored[1]).toHaveLength(51);
  expect(stored[1]?.at(-1)?.message).toBe("… and 3950 more lines; get-logs has the newest");
  release();
  own = false;
  reports.take({ operationId: "a", lines: lines(5, 5) });
  reports.flush("a");
  expect(stored).toHaveLength(2);
});
