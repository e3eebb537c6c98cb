import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createQueuedNews } from "../src/gateway/queued-news.js";
import type { News } from "../src/shared/redis/news.js";
import { createHeardLog } from "./harness/mcp.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("only what is still in flight after a moment is told, and nothing after the close", () => {
  const told: string[] = [];
  let end: (logId: string) => void = () => undefined;
  const news: News = {
    on: (_channel, listener) => {
      end = listener;
      return () => undefined;
    },
    close: () => undefined,
  };
  const tell = async (logId: string): Promise<void> => void told.push(logId);
  const queuedNews = createQueuedNews({ news, tell, log: createHeardLog() }, { holdMs: 20 });
  for (const logId of ["quick", "waits"]) queuedNews.added(logId);
  vi.advanceTimersByTime(19);
  expect(told).toEqual([]);
  end("quick");
  end("of another process");
  vi.advanceTimersByTime(100);
  expect(told).toEqual(["waits"]);
  queuedNews.added("late");
  queuedNews.close();
  vi.advanceTimersByTime(100);
  expect(told).toEqual(["waits"]);
});
