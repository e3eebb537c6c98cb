import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStartedNotice } from "../../../src/worker/owner/link-handlers.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function tellTo(reported: string[]) {
  const markStarted = async (operationId: string): Promise<void> => void reported.push(operationId);
  return createStartedNotice({ markStarted, log: createHeardLog() }, { holdMs: 20 });
}

test("what runs for longer than a moment is reported once", () => {
  const reported: string[] = [];
  const notice = tellTo(reported);
  notice.started("build");
  notice.started("build");
  vi.advanceTimersByTime(19);
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(reported).toEqual(["build"]);
});

test("what ended in that moment is not reported, and neither is anything after the close", () => {
  const reported: string[] = [];
  const notice = tellTo(reported);
  for (const id of ["quick", "slow"]) notice.started(id);
  notice.ended("quick");
  notice.ended("never started");
  vi.advanceTimersByTime(20);
  expect(reported).toEqual(["slow"]);
  notice.started("late");
  notice.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("what shows something of itself is reported before that, and once", async () => {
  const reported: string[] = [];
  const notice = tellTo(reported);
  notice.started("tests");
  await notice.shown("tests");
  expect(reported).toEqual(["tests"]);
  await notice.shown("tests");
  vi.advanceTimersByTime(100);
  expect(reported).toEqual(["tests"]);
});
