/** What an Editor says while its hello is handled is kept back, within bounds. */
import { expect, test } from "vitest";
import { createEditorNotices, type EditorNoticeHandlers } from "../../../src/worker/editor/editor-calls.js";
import { SILENT } from "../../harness/silent.js";

const outcome = { status: "completed", endedAt: 1 };
const ended = (operationId: string) => ({ operationId, outcome, ledgerSeq: 1 });

function hearing() {
  const heard: string[] = [];
  const missed: (string | undefined)[] = [];
  const handlers: EditorNoticeHandlers = {
    onRunning: ({ operationId }) => void heard.push(`running ${operationId}`),
    onProgress: ({ operationId, seq }) => void heard.push(`progress ${operationId} ${seq}`),
    onFinished: ({ operationId }) => void heard.push(`finished ${operationId}`),
    onHeartbeat: ({ generation }) => void heard.push(`heartbeat ${generation}`),
    onToolsChanged: () => void heard.push("tools"),
    onMissed: (operationId) => void missed.push(operationId),
  };
  return { heard, missed, notices: createEditorNotices(handlers, SILENT) };
}

test("of what is about the same, the last word is handed on, in the order of the wire", () => {
  const { heard, missed, notices } = hearing();
  const beat = { editorSessionId: "s", phase: "ready", mainThreadStallMs: 0, queued: 0 };
  notices.take("operation/running", { operationId: "a", ledgerSeq: 1 });
  for (let seq = 1; seq <= 50_000; seq += 1) {
    notices.take("operation/progress", { operationId: "a", seq, progress: seq });
    notices.take("bridge/heartbeat", { ...beat, generation: seq });
  }
  notices.take("operation/finished", ended("a"));
  expect(heard).toEqual([]);
  notices.release();
  expect(heard).toEqual(["running a", "progress a 50000", "heartbeat 50000", "finished a"]);
  expect(missed).toEqual([]);
});

test.each([
  ["too many", 20_000, 100],
  ["too long", 100, 10_000_000],
])("what is %s is not kept, and its waiters are informed", (_what, count, characters) => {
  const { heard, missed, notices } = hearing();
  for (let at = 0; at < count; at += 1) notices.take("operation/finished", ended(`op-${at}`), characters);
  notices.release();
  expect(heard.length).toBeGreaterThan(5);
  expect(heard.length).toBeLessThanOrEqual(10_000);
  expect(heard.length * characters).toBeLessThan(200_000_000);
  expect(missed).toEqual([undefined]);
  notices.take("operation/finished", ended("later"), 1_000_000_000);
  expect(heard.at(-1)).toBe("finished later");
});

test("an end that cannot be read is missed", () => {
  const { heard, missed, notices } = hearing();
  notices.take("operation/finished", { operationId: "a", outcome: { status: "ok" } });
  notices.take("operation/finished", { operationId: 7 });
  notices.take("operation/progress", { operationId: "a" });
  expect([heard, missed]).toEqual([[], ["a"]]);
});
