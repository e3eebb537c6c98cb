/** What the configuration says of a call: the most specific rule decides, field by field. */
import { expect, test } from "vitest";
import { readConfig } from "../../../../src/shared/config.js";
import {
  type CallRules,
  createCallRules,
  executionClassOf,
  overdueBy,
} from "../../../../src/shared/tools/call-rules.js";
import { NOW, operation } from "../record.js";

function rulesOf(classes: object, tools: object, editors: object): CallRules {
  const read = readConfig({
    UNITY_BROKER_CLASS_RULES: JSON.stringify(classes),
    UNITY_BROKER_TOOL_RULES: JSON.stringify(tools),
    UNITY_BROKER_EDITOR_RULES: JSON.stringify(editors),
  });
  return createCallRules({
    classes: read.UNITY_BROKER_CLASS_RULES,
    tools: read.UNITY_BROKER_TOOL_RULES,
    editors: read.UNITY_BROKER_EDITOR_RULES,
  });
}

const rules = rulesOf(
  { quick: { max_execution_time: 10 }, long: { progress_interval: 2, heartbeat_interval: 20 } },
  {
    "bake-*": { max_execution_time: 100, timeout: 1 },
    "bake-light": { timeout: 2 },
    "*-light": { max_execution_time: 200, execution_class: "long" },
  },
  {
    "My Game": { max_execution_time: 50, timeout: 3, tools: { "bake-light": { timeout: 4 } } },
    "*-mac@*": { max_execution_time: 60 },
    "pool:android": { timeout: 5 },
  },
);
const [game, mac, other] = ["my-game@0000aaaa", "slow-mac@0000bbbb", "third@0000cccc"];

test.each([
  ["a tool's pattern", { tool: "bake-all", editor: other }, 100_000, 1],
  ["a name before patterns, field by field", { tool: "bake-light", editor: other }, 100_000, 2],
  ["the first pattern that matches", { tool: "bake-light", editor: mac }, 100_000, 2],
  ["a tool on an Editor, by its project's name", { tool: "bake-light", editor: game }, 100_000, 4],
  ["an Editor", { tool: "echo", editor: game }, 50_000, 3],
  ["a pattern of ids", { tool: "echo", editor: mac }, 60_000, undefined],
  ["a pool", { tool: "echo", editor: "pool:android" }, undefined, 5],
  ["a class", { tool: "echo", editor: other, executionClass: "quick" as const }, 10_000, undefined],
  [
    "an Editor before the class",
    { tool: "echo", editor: mac, executionClass: "quick" as const },
    60_000,
    undefined,
  ],
  ["nothing", { tool: "echo", editor: other, executionClass: "medium" as const }, undefined, undefined],
])("%s", (_what, call, mostMs, timeout) => {
  expect(rules.mostMs(call)).toBe(mostMs);
  expect(rules.timeout(call)).toBe(timeout);
});

test("a class's intervals are those of its calls, and its time is what recorded durations are compared with", () => {
  expect(rules.intervals({ tool: "echo", editor: other, executionClass: "long" })).toEqual({
    minMs: 2_000,
    everyMs: 20_000,
  });
  expect(rules.intervals({ tool: "echo", editor: other })).toEqual({});
  expect(rules.classMs).toEqual({ quick: 10_000, medium: 300_000, long: 3_600_000 });
  const call = { tool: "x", arguments: {}, recordedMs: Array<number>(9).fill(6_000) };
  expect(executionClassOf(call)).toBe("quick");
  expect(executionClassOf({ ...call, classMs: rules.classMs })).toBe("medium");
});

test("a configured class precedes what the tool says of itself", () => {
  const call = { tool: "x", given: "quick" as const, recordedMs: [], arguments: {} };
  expect(rules.classOf({ tool: "spot-light", editor: other })).toBe("long");
  expect(executionClassOf({ ...call, ruled: "long" })).toBe("long");
});

test("an operation is overdue by its own time, if it was accepted with one", () => {
  const running = operation({ state: "running", startedAt: NOW - 40_000, executionClass: "quick" });
  expect(overdueBy(running, NOW)).toBe(10_000);
  expect(overdueBy({ ...running, maxExecutionMs: 60_000 }, NOW)).toBeUndefined();
  expect(overdueBy({ ...running, maxExecutionMs: 1_000 }, NOW)).toBe(39_000);
});
