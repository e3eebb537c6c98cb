import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createQueuedNotice } from "../../../src/gateway/queued-notice.js";
import type { Notifier } from "../../../src/shared/store/notifier.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("only what is still in flight after a moment is reported, and nothing after the close", () => {
  const reported: string[] = [];
  let end: (logId: string) => void = () => undefined;
  const notifier: Notifier = {
    on: (_channel, listener) => {
      end = listener;
      return () => undefined;
    },
    close: () => undefined,
  };
  const tell = async (logId: string): Promise<void> => void reported.push(logId);
  const queuedNotice = createQueuedNotice({ notifier, tell, log: createHeardLog() }, { holdMs: 20 });
  for (const logId of ["quick", "waits"]) queuedNotice.added(logId);
  vi.advanceTimersByTime(19);
  expect(reported).toEqual([]);
  end("quick");
  end("of another process");
  vi.advanceTimersByTime(100);
  expect(reported).toEqual(["waits"]);
  queuedNotice.added("late");
  queuedNotice.close();
  vi.advanceTimersByTime(100);
  expect(reported).toEqual(["waits"]);
});
