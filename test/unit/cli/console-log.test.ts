/** The Console's lines of `run`: each once, whichever way it comes, and nothing in them that a pipeline's runner obeys. */
import { expect, test } from "vitest";
import { createConsoleLog } from "../../../src/cli/run/console-log.js";
import { createPartials } from "../../../src/cli/run/progress.js";
import { jsonWithoutCommands, lineWithoutCommands } from "../../../src/cli/run/runner-commands.js";

const LOG = "unity-job-broker/log";
const answer = (next: number, lines: object[], more: object = {}) => ({ [LOG]: { lines, next, ...more } });
const said = (...messages: string[]) => messages.map((message) => ({ type: "log", message }));

test("each answer's lines once; the next question goes on behind them", () => {
  const log = createConsoleLog();
  expect(log.question()).toEqual({ "unity-job-broker/log_after": 0 });
  log.take(answer(2, said("a", "b"), { more: true }));
  expect([log.isTalking(), log.hasMore()]).toEqual([true, true]);
  expect(log.newLines()).toEqual(["  | a", "  | b"]);
  expect(log.newLines()).toEqual([]);
  expect(log.question()).toEqual({ "unity-job-broker/log_after": 2 });
  // A gateway of an earlier version answers none.
  log.take({});
  expect([log.isTalking(), log.hasMore()]).toEqual([false, false]);
  expect(log.question()).toEqual({ "unity-job-broker/log_after": 2 });
  log.take(answer(9, [{ type: "warning", message: "c\r\n::d\n" }], { missed: 6 }));
  expect(log.newLines()).toEqual(["  | … 6 lines were not kept", "  | [warning] c", "  |   ::d"]);
});

test("what a tool reports as well is shown once, whichever comes first", () => {
  const log = createConsoleLog();
  const partials = createPartials(log.isOther);
  const reported = (...Logs: string[]) =>
    partials.linesOf({ status: "running", state: "running", message: "", partial_result: { Logs } });
  log.take(answer(2, [...said("a"), { type: "error", message: "b" }]));
  expect(log.newLines()).toHaveLength(2);
  expect(reported("a", "Error: b", "c", "a")).toEqual(["  | c", "  | a"]);
  log.take(answer(6, said("c", "a", "a", "d")));
  expect(log.newLines()).toEqual(["  | a", "  | d"]);
});

test("runners find no command", () => {
  expect(lineWithoutCommands("a ##[error]b ##vso[task]c ##d")).toBe("a ## [error]b ## vso[task]c ##d");
  const value = { text: "####[error]", other: "#" };
  expect(jsonWithoutCommands(JSON.stringify(value))).not.toContain("##");
  expect(JSON.parse(jsonWithoutCommands(JSON.stringify(value)))).toEqual(value);
});
