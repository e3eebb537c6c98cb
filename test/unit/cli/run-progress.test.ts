/** What `unity-broker run` prints while it waits. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createRunProgress } from "../../../src/cli/run/progress.js";

const progressInto = (stream: PassThrough) =>
  createRunProgress({
    stream: stream as unknown as NodeJS.WriteStream,
    bar: undefined,
    log: undefined,
    lineEveryMs: 0,
    now: () => 0,
  });

test("what keeps its Editor from working is said, and what to do about it", () => {
  const stream = new PassThrough();
  const diagnosis = {
    code: "FOREIGN_BROKER",
    message: "It belongs to another broker.",
    next: "Use that.",
  } as const;
  progressInto(stream).answered({ status: "running", state: "queued", message: "", diagnosis });
  expect(String(stream.read())).toBe("     0s  queued: It belongs to another broker. Use that.\n");
});

test("what an operation waits for until a person does something is said, once until it changes", () => {
  const stream = new PassThrough();
  const progress = progressInto(stream);
  const paused =
    "It waits: each connected Editor of pool:unity=6000.0.26f1 is paused (list_editors), and starts nothing new until `unity-broker editors resume <editor>`.";
  const answered = (message: string) =>
    progress.answered({
      status: "running",
      state: "queued",
      message: `${message} Read it with get_operation_result (log_id, wait: true).`,
    });
  for (const message of [paused, paused, "It waits in the Editor's queue.", paused]) answered(message);
  expect(String(stream.read()).trimEnd().split("\n")).toEqual([paused, "     0s  queued", paused]);
});
