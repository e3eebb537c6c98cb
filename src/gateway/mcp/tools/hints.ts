/** A tool's hints, without those that say what the protocol assumes of a tool that says nothing (MCP, ToolAnnotations). */
import type { ToolAnnotations } from "@modelcontextprotocol/server";

const ASSUMED = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const;

type Hint = keyof typeof ASSUMED;

/** Of a tool that changes nothing the protocol gives two of them no meaning. */
export function hintsOf(annotations: ToolAnnotations): ToolAnnotations {
  const meaningless: readonly Hint[] = annotations.readOnlyHint ? ["destructiveHint", "idempotentHint"] : [];
  const hints: ToolAnnotations = {};
  for (const hint of Object.keys(ASSUMED) as Hint[]) {
    const said = annotations[hint];
    if (said !== undefined && said !== ASSUMED[hint] && !meaningless.includes(hint)) hints[hint] = said;
  }
  return hints;
}
