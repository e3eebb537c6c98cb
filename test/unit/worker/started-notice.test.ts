import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStartedNotice } from "../../../src/worker/owner/started-notice.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function tellTo(told: string[]) {
  const markStarted = async (operationId: string): Promise<void> => void told.push(operationId);
  return createStartedNotice({ markStarted, log: createHeardLog() }, { holdMs: 20 });
}

test("what runs for longer than a moment is told once", () => {
  const told: string[] = [];
  const notice = tellTo(told);
  notice.started("build");
  notice.started("build");
  vi.advanceTimersByTime(19);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(told).toEqual(["build"]);
});

test("what ended in that moment is not told, and neither is anything after the close", () => {
  const told: string[] = [];
  const notice = tellTo(told);
  for (const id of ["quick", "slow"]) notice.started(id);
  notice.ended("quick");
  notice.ended("never started");
  vi.advanceTimersByTime(20);
  expect(told).toEqual(["slow"]);
  notice.started("late");
  notice.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("what shows something of itself is told before that, and once", async () => {
  const told: string[] = [];
  const notice = tellTo(told);
  notice.started("tests");
  await notice.shown("tests");
  expect(told).toEqual(["tests"]);
  await notice.shown("tests");
  vi.advanceTimersByTime(100);
  expect(told).toEqual(["tests"]);
});
