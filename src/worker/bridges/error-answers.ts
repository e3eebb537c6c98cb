/** What the answers of the bridges without a ledger prove about a call, and how they end it. */
import { head } from "../../shared/printable.js";
import { unknown } from "../../shared/wire/plain.js";
import type { Outcome, PlainBridge } from "../../shared/wire/wire.js";

export type BridgeAnswer =
  | { kind: "result"; result: unknown }
  /** Refused before it began. */
  | { kind: "refused"; type: string; message: string }
  /** It ended with an error. */
  | { kind: "failed"; type: string; message: string }
  /** It may be waiting, running or over. */
  | { kind: "unclear"; message: string };

/** Where in the bridge an error comes from. */
type Origin =
  /** uLoop: the request could not be read, no such method, its security settings, anything else. */
  | ("unread" | "no_method" | "security_blocked" | "internal_error")
  /** MCP for Unity: the connection's thread, or what hands a command to its handler and takes its exceptions. */
  | ("connection" | "handler");

const ANY = ".*";

/**
 * The errors that a bridge's own source throws before a tool has begun, or when it has stopped waiting for one
 * (docs/reference/bridges.md); any other error is the tool's, which began and failed. The text is a whole one: a tool may say the
 * same in other words, or about another tool than the one that was called.
 */
const TABLE: readonly [PlainBridge, Origin, says: string, proves: "refused" | "unclear", type: string][] = [
  ["uloop", "unread", ANY, "refused", "invalid_arguments"],
  ["uloop", "no_method", ANY, "refused", "unknown_tool"],
  ["uloop", "security_blocked", ANY, "refused", "security_blocked"],
  [
    "uloop",
    "internal_error",
    `(?:unknown|no such) (?:tool|command|method):? ["']?<tool>["']?\\.?`,
    "refused",
    "unknown_tool",
  ],
  ["uloop", "internal_error", "Tool '<tool>' is disabled\\b.*", "refused", "security_blocked"],
  [
    "uloop",
    "internal_error",
    "Parameter type mismatch for tool '<tool>': .*",
    "refused",
    "invalid_arguments",
  ],
  ["uloop", "internal_error", "Parameter 'Parameters' must be an object, .*", "refused", "invalid_arguments"],
  [
    "uloop",
    "internal_error",
    "Connected Unity instance belongs to a different project\\.",
    "refused",
    "wrong_project",
  ],
  ["uloop", "internal_error", "Unity CLI Loop server session changed\\. .*", "refused", "session_changed"],
  ["uloop", "internal_error", "Fast project validation is unavailable\\. .*", "refused", "session_changed"],
  ["uloop", "internal_error", "Invalid x-uloop metadata: .*", "refused", "session_changed"],
  // Up to 0.42 a tool had a time limit: what it had begun goes on.
  ["uloop", "internal_error", "Request timeout", "unclear", "timeout"],
  ["unity-mcp", "connection", "Invalid JSON format|Empty command received", "refused", "invalid_arguments"],
  // After 30 s, while it goes on.
  ["unity-mcp", "connection", ANY, "unclear", "timeout"],
  [
    "unity-mcp",
    "handler",
    "(?:Tool|Resource) '?<tool>'? is disabled in the Unity Editor\\.",
    "refused",
    "security_blocked",
  ],
  ["unity-mcp", "handler", "Unknown or unsupported command type: <tool>", "refused", "unknown_tool"],
];

const MESSAGE_CHARACTERS = 4_000;

/** `texts`: each whole text of the answer; `type`: of a tool's own error. */
export function errorAnswer(
  bridge: PlainBridge,
  tool: string,
  error: { from: Origin; texts: readonly string[]; type?: string },
): Exclude<BridgeAnswer, { kind: "result" }> {
  const name = tool.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const [, , , proves, type] =
    TABLE.find(([of, from, says]) => {
      const whole = new RegExp(`^(?:${says.replaceAll("<tool>", name)})$`, "is");
      return of === bridge && from === error.from && error.texts.some((text) => whole.test(text));
    }) ?? [];
  const message = head(error.texts.filter((text) => text !== "").join(" "), MESSAGE_CHARACTERS);
  if (proves === "unclear") return { kind: "unclear", message };
  return { kind: proves ?? "failed", type: type ?? error.type ?? "internal_error", message };
}

export function outcomeOf(answer: BridgeAnswer, startedAt: number, endedAt: number): Outcome {
  const times = { startedAt, endedAt, executionMs: endedAt - startedAt };
  switch (answer.kind) {
    case "result":
      return { status: "completed", result: answer.result, ...times };
    case "refused":
      return { status: "failed", error: { type: answer.type, message: answer.message }, endedAt };
    case "failed":
      return { status: "failed", error: { type: answer.type, message: answer.message }, ...times };
    case "unclear":
      return unknown(
        `The bridge answered ${JSON.stringify(answer.message)} and keeps no ledger: the command may be waiting, running or over.`,
        startedAt,
        endedAt,
      );
  }
}
