/**
 * What the answers of MCP for Unity mean (docs/reference/bridges.md). Only an answer that says that the command ended is an
 * end: the bridge answers a command that takes long with an error, and goes on with it.
 */
import { z } from "zod";
import { head } from "../../../shared/shortened-text.js";

export type BridgeAnswer =
  | { kind: "result"; result: unknown }
  /** Refused before it began. */
  | { kind: "refused"; type: string; message: string }
  /** It ended with an exception. */
  | { kind: "failed"; message: string }
  /** It may be waiting, running or over. */
  | { kind: "unclear"; message: string };

/** `command` (a name or "Unknown…") is set only by what hands a command to its handler, and takes its exceptions. */
const Answer = z.looseObject({
  status: z.enum(["success", "error"]),
  result: z.unknown().optional(),
  error: z.string().nullish(),
  command: z.string().nullish(),
});

const MESSAGE_CHARACTERS = 4_000;

/** Undefined: not an answer of this bridge. */
export function readAnswer(text: string): BridgeAnswer | undefined {
  let read: ReturnType<typeof Answer.safeParse>;
  try {
    read = Answer.safeParse(JSON.parse(text));
  } catch {
    return undefined;
  }
  if (!read.success) return undefined;
  const { status, result, error, command } = read.data;
  if (status === "success") return { kind: "result", result: result ?? null };
  const message = head(error ?? "an error without a text", MESSAGE_CHARACTERS);
  if (command == null) return { kind: "unclear", message };
  if (/^(?:Tool|Resource) \S+ is disabled in the Unity Editor\.$/.test(message)) {
    return { kind: "refused", type: "security_blocked", message };
  }
  // Said by a handler as well, about a command inside of its own: only the whole message counts.
  if (/^Unknown or unsupported command type: \S+$/.test(message)) {
    return { kind: "refused", type: "unknown_tool", message };
  }
  return { kind: "failed", message };
}
