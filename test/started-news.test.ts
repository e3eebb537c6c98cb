import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStartedNews } from "../src/worker/started-news.js";
import { createHeardLog } from "./harness/mcp.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function tellTo(told: string[]) {
  const tell = async (operationId: string): Promise<void> => void told.push(operationId);
  return createStartedNews({ tell, log: createHeardLog() }, { holdMs: 20 });
}

test("what runs for longer than a moment is told once", () => {
  const told: string[] = [];
  const news = tellTo(told);
  news.started("build");
  news.started("build");
  vi.advanceTimersByTime(19);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(told).toEqual(["build"]);
});

test("what ended in that moment is not told, and neither is anything after the close", () => {
  const told: string[] = [];
  const news = tellTo(told);
  for (const id of ["quick", "slow"]) news.started(id);
  news.ended("quick");
  news.ended("never started");
  vi.advanceTimersByTime(20);
  expect(told).toEqual(["slow"]);
  news.started("late");
  news.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("what shows something of itself is told before that, and once", async () => {
  const told: string[] = [];
  const news = tellTo(told);
  news.started("tests");
  await news.shown("tests");
  expect(told).toEqual(["tests"]);
  await news.shown("tests");
  vi.advanceTimersByTime(100);
  expect(told).toEqual(["tests"]);
});
