import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRecordCache } from "../../../../src/shared/store/operations/record-cache.js";
import { operation } from "../record.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("what was seen recent is known with the store's time, for a second at most", () => {
  const seen = createRecordCache();
  const known = operation({ logId: "a" });
  const cached = { text: JSON.stringify(known), record: known, now: 5_000, askedAt: performance.now() };
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
