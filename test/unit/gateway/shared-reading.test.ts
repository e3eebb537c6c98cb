/** A reading that many share is never older than the question of any of them. */
import { expect, test } from "vitest";
import { sharedReading } from "../../../src/gateway/editors/known-editors.js";

/** Readings that end when the test says so: each answers how often was read before it began. */
function readings() {
  const under: { end(): void; fail(): void }[] = [];
  let begun = 0;
  const read = sharedReading(() => {
    begun += 1;
    const mine = begun;
    return new Promise<number>((resolve, reject) => {
      under.push({ end: () => resolve(mine), fail: () => reject(new Error(`reading ${mine}`)) });
    });
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { read, under, settle, begun: () => begun };
}

test("who asks while a reading is under way gets the next one, and shares it", async () => {
  const { read, under, settle, begun } = readings();
  const first = read();
  await settle();
  const others = [read(), read(), read()];
  await settle();
  expect(begun()).toBe(1);
  under[0]?.end();
  expect(await first).toBe(1);
  await settle();
  expect(begun()).toBe(2);
  const later = read();
  under[1]?.end();
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  await settle();
  under[2]?.end();
  expect(await later).toBe(3);
});

test("a reading that fails, fails for those that share it, and the next one begins all the same", async () => {
  const { read, under, settle } = readings();
  const first = read();
  await settle();
  const second = read();
  under[0]?.fail();
  await expect(first).rejects.toThrow("reading 1");
  await settle();
  under[1]?.end();
  expect(await second).toBe(2);
});
