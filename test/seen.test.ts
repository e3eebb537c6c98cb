import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSeen } from "../src/shared/redis/seen.js";
import { operation } from "./shared/record.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("what was seen lately is known with the store's time, for a second at most", () => {
  const seen = createSeen();
  const known = operation({ logId: "a" });
  const sight = { text: JSON.stringify(known), record: known, now: 5_000, askedAt: performance.now() };
  seen.note(sight);
  vi.advanceTimersByTime(300);
  expect(seen.lately("a")).toEqual({ sight, now: 5_300 });
  // A write does not ask for the time: what it leaves is not younger than the time that it was made with.
  seen.note({ ...sight, text: "written" });
  vi.advanceTimersByTime(699);
  expect(seen.lately("a")).toMatchObject({ now: 5_999 });
  vi.advanceTimersByTime(1);
  expect(seen.lately("a")).toBeUndefined();
  expect(seen.lately("b")).toBeUndefined();
});
