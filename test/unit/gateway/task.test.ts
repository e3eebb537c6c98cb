import { describe, expect, test } from "vitest";
import { type Task, taskOf } from "../../../src/gateway/mcp/task.js";
import type { OperationView } from "../../../src/shared/operation/answer.js";
import { type OperationRecord, STATES } from "../../../src/shared/operation/operation.js";
import { executed, HOUR, NOW, operation } from "../shared/record.js";

const RETENTION = 24 * HOUR;

const task = (record: OperationRecord, changes: Partial<OperationView> = {}): Task =>
  taskOf({ record, now: NOW, ...changes }, RETENTION);

const error = { code: "OUTCOME_UNKNOWN", type: "editor_exit", message: "The Editor was closed." };

describe("an operation as a task", () => {
  test("each state has its status; what ended without an outcome has failed", () => {
    const statuses = STATES.map((state) => [state, task({ ...operation(), state, error }).status]);
    expect(Object.fromEntries(statuses)).toEqual({
      queued: "working",
      dispatched: "working",
      running: "working",
      completed: "completed",
      failed: "failed",
      cancelled: "cancelled",
      interrupted: "failed",
      expired: "failed",
    });
  });

  test("its id is the log_id, and its times are the operation's", () => {
    const record = executed({ acceptedAt: NOW - 5_000, startedAt: NOW - 4_000, endedAt: NOW - 1_000 });
    expect(task(record)).toEqual({
      taskId: record.logId,
      status: "completed",
      statusMessage: "Operation completed.",
      createdAt: new Date(NOW - 5_000).toISOString(),
      lastUpdatedAt: new Date(NOW - 1_000).toISOString(),
      ttlMs: RETENTION + 4_000,
    });
  });

  test("until its end it is kept, and for the retention from then on; it is asked for soon, later seldom", () => {
    const aged = (ms: number) => task(operation({ acceptedAt: NOW - ms }));
    expect(aged(0)).toMatchObject({ ttlMs: RETENTION, pollIntervalMs: 500 });
    expect(aged(8_000)).toMatchObject({ ttlMs: RETENTION + 8_000, pollIntervalMs: 2_000 });
    expect(aged(HOUR)).toMatchObject({ ttlMs: RETENTION + HOUR, pollIntervalMs: 5_000 });
  });

  test("a cancellation that was asked for changes it; it is cancelled when the Editor has done so", () => {
    const asked = operation({ state: "running", acceptedAt: NOW - 9, cancel: { requestedAt: NOW - 1 } });
    expect(task(asked)).toMatchObject({
      status: "working",
      lastUpdatedAt: new Date(NOW - 1).toISOString(),
    });
  });

  test("its message is the progress while it runs, and the error when it failed", () => {
    const running = operation({ state: "running", startedAt: NOW });
    const progress = { progress: 3, total: 10, message: "compiling" };
    expect(task(running, { progress }).statusMessage).toBe("compiling (3 of 10)");
    expect(task(operation(), { queuePosition: 2 }).statusMessage).toContain("behind 2 other(s)");
    expect(task(executed({ state: "interrupted", error })).statusMessage).toBe("The Editor was closed.");
  });

  test("a long message is cut", () => {
    const message = "x".repeat(1_000);
    expect(
      task(executed({ state: "failed", error: { ...error, message } })).statusMessage.length,
    ).toBeLessThan(350);
  });

  describe("whose tool says that it failed", () => {
    const result = JSON.stringify({ content: [{ type: "text", text: "No such scene." }], isError: true });

    test("has failed, and says why", () => {
      expect(task(executed({ resultBytes: result.length }), { result })).toMatchObject({
        status: "failed",
        statusMessage: "The tool reported an error: No such scene.",
      });
    });

    test("only where a result is MCP content", () => {
      const status = (value: unknown) => task(executed(), { result: JSON.stringify(value) }).status;
      expect(status({ isError: true })).toBe("completed");
      expect(status({ content: [], isError: false })).toBe("completed");
      expect(status('"isError"')).toBe("completed");
      expect(status(['"isError"', null])).toBe("completed");
    });

    test("a large result is not searched, so that every list says the same", () => {
      expect(task(executed({ resultBytes: 1_000_000 }), { result }).status).toBe("completed");
    });
  });
});
