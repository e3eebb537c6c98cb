/**
 * What a uLoop bridge means by its answers (docs/reference/protocol.md, "Plain Editors"), and how to recognise one. What may
 * be sent to it is decided in plain.ts.
 */
import { RPC_INTERNAL_ERROR, RPC_UNKNOWN_METHOD, type RpcError } from "./rpc.js";
import type { Outcome } from "./wire.js";

/**
 * Whether this answer to `bridge/hello` means that the method does not exist. A plain bridge may answer with the code, or
 * with its one internal error and a text; some refuse every name that they do not know by policy.
 */
export function knowsNoHello({ code, message, data }: Pick<RpcError, "code" | "message" | "data">): boolean {
  if (code === RPC_UNKNOWN_METHOD) return true;
  if (code !== RPC_INTERNAL_ERROR) return false;
  const { type, command, text } = detailsOf(message, data);
  if (type === "security_blocked") return command === "bridge/hello";
  return text.includes("bridge/hello") && /unknown|not found|no such/i.test(text);
}

/** The bridge's whole message: a tool that failed to find something has already begun. */
const UNKNOWN_TOOL = /^(?:unknown|no such) (?:tool|command|method):? ["']?([\w./-]+)["']?\.?$/i;

function detailsOf(
  message: string,
  data: unknown,
): {
  type?: unknown;
  command?: unknown;
  text: string;
  last: string;
} {
  const said = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const text = [message, said.message, said.reason].filter((part) => typeof part === "string").join(" ");
  return { type: said.type, command: said.command, text, last: String(said.message ?? message) };
}

/** The meaning of an error answer: refused before it began, or failed. Never "unknown": the Editor answered. */
export function failedOutcome(
  tool: string,
  error: Pick<RpcError, "code" | "message" | "data">,
  startedAt: number,
  endedAt: number,
): Outcome {
  const { type, text, last } = detailsOf(error.message, error.data);
  const failed = (kind: string): Outcome => ({
    status: "failed",
    error: { type: kind, message: text },
    endedAt,
  });
  if (type === "security_blocked") return failed("security_blocked");
  if (error.code === RPC_UNKNOWN_METHOD || UNKNOWN_TOOL.exec(last)?.[1] === tool)
    return failed("unknown_tool");
  return {
    ...failed(typeof type === "string" ? type : "internal_error"),
    startedAt,
    executionMs: endedAt - startedAt,
  };
}
