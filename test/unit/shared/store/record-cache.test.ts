import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRecordCache } from "../../../../src/shared/store/operations/record-cache.js";
import { operation } from "../record.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("what was seen recent is known with the store's time, for a second at most", () => {
  const seen = createRecordCache();
  const known = operation({ logId: "a" });
  const at = performance.now();
  const cached = { text: JSON.stringify(known), record: known, now: 5_000, askedAt: at, heardAt: at };
  seen.note(cached);
  vi.advanceTimersByTime(300);
  expect(seen.recent("a")).toEqual({ cached, now: 5_300 });
  // A write does not ask for the time: what it leaves is not younger than the time that it was made with.
  seen.note({ ...cached, text: "written" });
  vi.advanceTimersByTime(699);
  expect(seen.recent("a")).toMatchObject({ now: 5_999 });
  vi.advanceTimersByTime(1);
  expect(seen.recent("a")).toBeUndefined();
  expect(seen.recent("b")).toBeUndefined();
});

test("the store's time is not ahead after a long round trip, and what was asked for long ago is not recent", () => {
  const seen = createRecordCache();
  const known = operation({ logId: "a" });
  const askedAt = performance.now();
  vi.advanceTimersByTime(400);
  seen.note({ text: "", record: known, now: 5_000, askedAt, heardAt: performance.now() });
  expect(seen.recent("a")).toMatchObject({ now: 5_000 });
  vi.advanceTimersByTime(599.9);
  expect(seen.recent("a")).toMatchObject({ now: 5_599 });
  vi.advanceTimersByTime(0.1);
  expect(seen.recent("a")).toBeUndefined();
});
