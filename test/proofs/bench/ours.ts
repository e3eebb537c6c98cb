/** The broker itself: its verbs in this process, and tool calls of real MCP clients beside a call that does nothing. */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import type { Row } from "./measure/rounds.js";
import { QUICK_TOOL } from "./quick-tool.js";

/** No call of these may ever come near this, seconds. */
const PATIENCE = 30;

let lastText = 0;

/** Never the same twice: an identical call would be answered from the record. */
function newText(): string {
  lastText += 1;
  return `note ${lastText} ${"x".repeat(150)}`;
}

export function verbRows({ broker }: Gateway, inFlight: number): Row[] {
  const principal = "bench";
  const caller = { id: "bench", transport: "http" as const };
  let requestId = 0;
  const call = async (): Promise<void> => {
    requestId += 1;
    const text = newText();
    const { record } = await broker.submit({
      principal,
      caller,
      requestId,
      tool: QUICK_TOOL,
      arguments: { Text: text },
    });
    const seen = await broker.wait(principal, record.logId, { ms: PATIENCE * 1_000 });
    if (typeof seen !== "object" || seen.record.state !== "completed" || !seen.result?.includes(text)) {
      throw new Error(`no result: ${JSON.stringify(seen)}`);
    }
  };
  return [
    { key: "verbs", title: "verbs: submit → result", inFlight: 1, call },
    { key: "verbs-many", title: `verbs, ${inFlight} in flight`, inFlight, call },
  ];
}

export function mcpRows(client: Client, transport: "http" | "stdio"): Row[] {
  const name = transport === "http" ? "HTTP" : "stdio";
  const statusOf = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
    return answerIn<{ status: string }>(await client.callTool({ name: tool, arguments: args })).status;
  };
  const expect = async (status: string, seen: Promise<unknown>): Promise<void> => {
    const found = await seen;
    if (found !== status) throw new Error(`${name}: the answer's status is ${found}, not ${status}`);
  };
  return [
    {
      key: `${transport}-no-op`,
      title: `${name} no-op`,
      inFlight: 1,
      // No log_id looks like this: answered before anything is read.
      call: () => expect("not_found", statusOf("get_operation_status", { log_id: "none" })),
    },
    {
      key: `${transport}-call`,
      title: `${name} tools/call`,
      inFlight: 1,
      call: () => expect("completed", statusOf(QUICK_TOOL, { Text: newText(), timeout: PATIENCE })),
    },
  ];
}
