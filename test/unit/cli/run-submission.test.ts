/** What the same `run` command means the second time: the pure part, and what it must never do. */
import { expect, test } from "vitest";
import { UsageError } from "../../../src/cli/command.js";
import { durationIn, spoken } from "../../../src/cli/run/duration.js";
import { createPartials } from "../../../src/cli/run/progress.js";
import { submitRun } from "../../../src/cli/run/step.js";
import type { Answer } from "../../../src/shared/operation/answer.js";

const done = (log_id: string, more: Partial<Answer> = {}): Answer => ({
  status: "completed",
  state: "completed",
  log_id,
  message: "",
  deduplicated: true,
  delivery_confirmed: true,
  ...more,
});

async function sent(answers: Answer[], options: { forceNew?: string; once?: boolean } = {}) {
  const asked: (string | undefined)[] = [];
  const { forceNew, once = false } = options;
  const found = await submitRun(
    async (superseded) => {
      asked.push(superseded);
      return answers[asked.length - 1] as Answer;
    },
    { forceNew, once },
  );
  return { asked, found };
}

test("an outcome that was read is superseded, once: what comes then is another command's retry", async () => {
  const { asked, found } = await sent([done("a"), done("b")]);
  expect(asked).toEqual([undefined, "a"]);
  expect(found).toEqual({ answer: done("b"), supersedes: "a" });
});

test.each<[string, Answer, object]>([
  ["new", { status: "timeout", state: "running", log_id: "a", message: "" }, {}],
  ["in flight", { status: "timeout", state: "running", log_id: "a", message: "", deduplicated: true }, {}],
  ["not proven to be read", { ...done("a"), delivery_confirmed: undefined } as unknown as Answer, {}],
  ["unknown", done("a", { status: "error", state: "interrupted", error_code: "OUTCOME_UNKNOWN" }), {}],
  ["never sent", done("a", { status: "error", state: "expired", error_code: "EXPIRED" }), {}],
  ["wanted as it is", done("a"), { once: true }],
  ["another's retry already", done("a"), { forceNew: "x" }],
])("an outcome that is %s is not", async (_what, answer, options) => {
  const { asked, found } = await sent([answer], options);
  expect(asked).toHaveLength(1);
  expect(found).toEqual({ answer });
});

test("durations", () => {
  expect(["90s", "10m", "2h", "1h30m", "0.5s", "0s"].map((text) => durationIn("--wait", text))).toEqual([
    90_000, 600_000, 7_200_000, 5_400_000, 500, 0,
  ]);
  for (const text of ["", "10", "s", "10 m", "2d", "-1s", "1m x"])
    expect(() => durationIn("--wait", text), text).toThrow(UsageError);
  expect([0, 59_999, 61_000, 7_260_000].map(spoken)).toEqual(["0s", "59s", "1m 01s", "2h 01m"]);
});

test("of a partial result, what is new is shown", () => {
  const partials = createPartials();
  const lines = (partial_result: unknown) =>
    partials.linesOf({ status: "running", state: "running", message: "", partial_result });
  const failure = (name: string) => ({ name, message: "Expected: 1\n  But was: 2" });
  expect(lines({ failures: [failure("A")] })).toEqual(["  failed  A: Expected: 1"]);
  expect(lines({ failures: [failure("A")] })).toEqual([]);
  expect(lines({ failures: [failure("A"), failure("B")], Logs: ["> x"] })).toEqual([
    "  failed  B: Expected: 1",
    "  | > x",
  ]);
  expect(lines({ Logs: Array.from({ length: 30 }, (_, at) => String(at)) })).toHaveLength(21);
  for (const other of [undefined, null, "text", { failures: "no list" }]) expect(lines(other)).toEqual([]);
});
