/** What an error answer of a bridge without a ledger proves: that nothing ran, that it ran, or neither. */
import { expect, test } from "vitest";
import { errorAnswer, outcomeOf } from "../../../../src/worker/bridges/error-answers.js";
import { readAnswer } from "../../../../src/worker/bridges/unity-mcp/unity-mcp-editor.js";

type Said = Parameters<typeof errorAnswer>[2];
const internal = (...texts: string[]): Said => ({ from: "internal_error", texts, type: "internal_error" });

const NEVER_BEGAN = { kind: "refused" };
const UNKNOWN = { kind: "unclear" };
const RAN = { kind: "failed", type: "internal_error" };

/** As the bridge says it, for a call of the tool `work.it`. */
const ULOOP: [string, Said, object][] = [
  [
    "no such method",
    { from: "no_method", texts: ["Method not found"] },
    { ...NEVER_BEGAN, type: "unknown_tool" },
  ],
  [
    "a request that it could not read",
    { from: "unread", texts: ["Internal error", "MaxDepth of 64"] },
    { ...NEVER_BEGAN, type: "invalid_arguments" },
  ],
  [
    "its security settings",
    { from: "security_blocked", texts: ["Tool blocked by security settings", "why"] },
    { ...NEVER_BEGAN, type: "security_blocked" },
  ],
  [
    "an unknown tool",
    internal("Internal error", "Unknown tool: work.it"),
    { ...NEVER_BEGAN, type: "unknown_tool" },
  ],
  ["another unknown tool", internal("Internal error", "Unknown tool: other"), RAN],
  ["an unknown tool of a similar name", internal("Internal error", "Unknown tool: work-it"), RAN],
  [
    "a disabled tool",
    internal(
      "Tool 'work.it' is disabled. To enable it, go to Window > uLoop > Tool Settings",
      "This tool has been disabled in project settings.",
    ),
    { ...NEVER_BEGAN, type: "security_blocked" },
  ],
  ["another disabled tool", internal("Tool 'other' is disabled. To enable it, go to Window"), RAN],
  [
    "parameters of other types",
    internal("Parameter type mismatch for tool 'work.it': Error converting value", ""),
    { ...NEVER_BEGAN, type: "invalid_arguments" },
  ],
  [
    "parameters that are text",
    internal("Parameter 'Parameters' must be an object, not a string. Do: omit", ""),
    { ...NEVER_BEGAN, type: "invalid_arguments" },
  ],
  [
    "another project",
    internal("Connected Unity instance belongs to a different project.", ""),
    { ...NEVER_BEGAN, type: "wrong_project" },
  ],
  [
    "another session of its server",
    internal("Unity CLI Loop server session changed. Retry the command.", ""),
    { ...NEVER_BEGAN, type: "session_changed" },
  ],
  [
    "a server without a session",
    internal("Fast project validation is unavailable. Restart Unity CLI Loop and retry.", ""),
    { ...NEVER_BEGAN, type: "session_changed" },
  ],
  [
    "a guard that lacks something",
    internal("Invalid x-uloop metadata: expectedServerSessionId is required.", ""),
    { ...NEVER_BEGAN, type: "session_changed" },
  ],
  [
    "a time limit of the tool",
    internal("Request timeout", "Tool work.it timed out after 30 seconds"),
    UNKNOWN,
  ],
  ["an exception of the tool", internal("Internal error", "NullReference"), RAN],
  [
    "… that speaks of a disabled tool",
    internal("Internal error", "It failed: Tool 'work.it' is disabled"),
    RAN,
  ],
  [
    "an error of a kind of its own",
    { from: "internal_error", texts: ["No"], type: "no_scene" },
    { kind: "failed", type: "no_scene" },
  ],
];

test.each(ULOOP)("uLoop: %s", (_what, said, proven) => {
  expect(errorAnswer("uloop", "work.it", said)).toMatchObject(proven);
});

const HANDLER = { command: "Unknown (error during processing)" };
const UNITY_MCP: [string, object, object | undefined][] = [
  [
    "a result",
    { status: "success", result: { success: false } },
    { kind: "result", result: { success: false } },
  ],
  [
    "a disabled tool",
    { error: "Tool 'work.it' is disabled in the Unity Editor.", command: "Unknown" },
    { ...NEVER_BEGAN, type: "security_blocked" },
  ],
  [
    "a disabled resource",
    { error: "Resource 'work.it' is disabled in the Unity Editor.", command: "Unknown" },
    { ...NEVER_BEGAN, type: "security_blocked" },
  ],
  ["another disabled tool", { error: "Tool 'other' is disabled in the Unity Editor.", ...HANDLER }, RAN],
  [
    "an unknown command",
    { error: "Unknown or unsupported command type: work.it", ...HANDLER },
    { ...NEVER_BEGAN, type: "unknown_tool" },
  ],
  ["an unknown command within it", { error: "Unknown or unsupported command type: other", ...HANDLER }, RAN],
  ["an exception of the handler", { error: "Object reference not set", ...HANDLER }, RAN],
  [
    "a frame that it could not read",
    { error: "Invalid JSON format", receivedText: "{" },
    { ...NEVER_BEGAN, type: "invalid_arguments" },
  ],
  ["an empty frame", { error: "Empty command received" }, { ...NEVER_BEGAN, type: "invalid_arguments" }],
  ["a handler that says so", { error: "Invalid JSON format", ...HANDLER }, RAN],
  ["its 30 seconds", { error: "Command processing timed out after 30000 ms" }, UNKNOWN],
  ["a command that it gave up", { error: "Command evicted: stuck too long in queue" }, UNKNOWN],
  ["an exception beside the handler", { error: "A task was canceled." }, UNKNOWN],
  ["an error without a text", {}, UNKNOWN],
  ["no answer of this bridge", { status: "maybe" }, undefined],
];

test.each(UNITY_MCP)("MCP for Unity: %s", (_what, said, proven) => {
  const answer = readAnswer(JSON.stringify({ status: "error", ...said }), "work.it");
  if (proven === undefined) expect(answer).toBeUndefined();
  else expect(answer).toMatchObject(proven);
});

test("what never began has no start, what ran has its time, and the rest is unknown", () => {
  const refused = outcomeOf({ kind: "refused", type: "t", message: "m" }, 10, 30);
  expect(refused).toMatchObject({ status: "failed", error: { type: "t", message: "m" } });
  expect(refused).not.toHaveProperty("startedAt");
  const failed = outcomeOf({ kind: "failed", type: "t", message: "m" }, 10, 30);
  expect(failed).toMatchObject({ status: "failed", startedAt: 10, executionMs: 20 });
  expect(outcomeOf({ kind: "unclear", message: "m" }, 10, 30)).toMatchObject({ status: "interrupted" });
  expect(outcomeOf({ kind: "result", result: 1 }, 10, 30)).toMatchObject({ status: "completed", result: 1 });
});
