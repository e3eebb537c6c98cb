import { describe, expect, test } from "vitest";
import { settled } from "../src/worker/outcome.js";
import { operation } from "./shared/record.js";

describe("when an operation ended", () => {
  const record = operation({ state: "running", acceptedAt: 10, dispatchedAt: 20 });
  const completed = { status: "completed" as const, startedAt: 24, endedAt: 26, executionMs: 2 };
  const endOf = (changes: Parameters<typeof operation>[0], now = 100) =>
    settled({ ...record, ...changes }, completed, now, undefined)?.record.endedAt;

  test("is when its end was heard, by the store's clock", () => {
    expect(endOf({})).toBe(100);
  });

  test("is told by the Editor where the record was restored, but never before it was seen to start", () => {
    expect(endOf({ rebuilt: true })).toBe(26);
    expect(endOf({ rebuilt: true, startedAt: 30 })).toBe(30);
    expect(endOf({ rebuilt: true }, 25)).toBe(25);
  });
});
