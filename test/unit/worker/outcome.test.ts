import { describe, expect, test } from "vitest";
import { settled } from "../../../src/worker/execution/outcome.js";
import { operation } from "../shared/record.js";

test("an error's message is kept as far as every answer has room for it", () => {
  const error = { type: "build_failed", message: "e".repeat(3_000_000) };
  const outcome = { status: "failed" as const, startedAt: 24, endedAt: 26, error };
  const { message = "" } =
    settled(operation({ state: "running" }), outcome, 100, undefined, { isCollected: false })?.record.error ??
    {};
  expect(message).toMatch(/^e{64000}…\(\+2936000 characters\)$/);
});

describe("when an operation ended", () => {
  const record = operation({ state: "running", acceptedAt: 10, dispatchedAt: 20 });
  const completed = { status: "completed" as const, startedAt: 24, endedAt: 26, executionMs: 2 };
  const timesOf = (
    changes: Parameters<typeof operation>[0],
    { now = 100, isCollected = false, outcome = completed } = {},
  ) => {
    const change = settled({ ...record, ...changes }, outcome, now, undefined, { isCollected });
    return [change?.record.startedAt, change?.record.endedAt];
  };
  const endOf = (changes: Parameters<typeof operation>[0], now = 100) => timesOf(changes, { now })[1];

  test("is when its end was heard, by the store's clock", () => {
    expect(endOf({})).toBe(100);
  });

  test("is reported by the Editor where the record was restored, but never before it was seen to start", () => {
    expect(endOf({ rebuilt: true })).toBe(26);
    expect(endOf({ rebuilt: true, startedAt: 30 })).toBe(30);
    expect(endOf({ rebuilt: true }, 25)).toBe(25);
  });

  test("is reported by the Editor where it was collected later, and never out of order", () => {
    const isCollected = true;
    expect(timesOf({}, { isCollected })).toEqual([24, 26]);
    expect(timesOf({ startedAt: 25 }, { isCollected })).toEqual([25, 26]);
    expect(timesOf({ startedAt: 30 }, { isCollected })).toEqual([30, 30]);
    const at = (startedAt: number, endedAt: number) => ({ ...completed, startedAt, endedAt });
    // An Editor whose clock is behind the store's, or ahead of it.
    expect(timesOf({}, { isCollected, outcome: at(3, 5) })).toEqual([20, 20]);
    expect(timesOf({}, { isCollected, outcome: at(303, 305) })).toEqual([100, 100]);
  });

  test("and when it began is as long before as it took, also where its start was heard late, and where it was sent again since", () => {
    const outcome = { ...completed, executionMs: 70 };
    expect(timesOf({ startedAt: 90 }, { outcome })).toEqual([30, 100]);
    expect(timesOf({ startedAt: 25 }, { outcome })).toEqual([25, 100]);
    const again = settled({ ...record, dispatchedAt: 80 }, outcome, 100, undefined);
    expect(again?.record).toMatchObject({ acceptedAt: 10, dispatchedAt: 30, startedAt: 30, endedAt: 100 });
    expect(timesOf({}, { outcome: { ...completed, executionMs: 500 } })).toEqual([10, 100]);
  });
});
