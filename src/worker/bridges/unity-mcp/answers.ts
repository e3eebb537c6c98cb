/** Reads the answers of MCP for Unity (docs/reference/bridges.md). */
import { z } from "zod";
import { type BridgeAnswer, errorAnswer } from "../error-answers.js";

/** `command` (a name or "Unknown…") is set only by what hands a command to its handler, and takes its exceptions. */
const Answer = z.looseObject({
  status: z.enum(["success", "error"]),
  result: z.unknown().optional(),
  error: z.string().nullish(),
  command: z.string().nullish(),
});

/** `type`: of the command that it answers. Undefined: not an answer of this bridge. */
export function readAnswer(text: string, type: string): BridgeAnswer | undefined {
  let read: ReturnType<typeof Answer.safeParse>;
  try {
    read = Answer.safeParse(JSON.parse(text));
  } catch {
    return undefined;
  }
  if (!read.success) return undefined;
  const { status, result, error, command } = read.data;
  if (status === "success") return { kind: "result", result: result ?? null };
  const from = command == null ? "connection" : "handler";
  return errorAnswer("unity-mcp", type, { from, texts: [error ?? "an error without a text"] });
}
