/** The broker's own tools, run for a request of the REST API: what they find out, and prove, is the same for every surface. */
import type { WaitLimits } from "../../shared/wait-time.js";
import type { Broker } from "../broker.js";
import { BROKER_TOOLS } from "../mcp/tools/broker-tools.js";
import type { ToolAnswer } from "../mcp/tools/tool-answer.js";
import type { RestCall } from "./exchange.js";

export type RunTool = (
  name: string,
  args: Record<string, unknown>,
  call: Pick<RestCall, "principal" | "request">,
) => Promise<ToolAnswer>;

/** Programs read answers of any size, and nothing of a session. */
export function ownToolOf({ broker, waits }: { broker: Broker; waits: WaitLimits }): RunTool {
  return async (name, args, { principal, request }) => {
    const tool = BROKER_TOOLS.get(name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    return tool.run(args, {
      broker,
      principal: principal.id,
      request,
      selection: undefined,
      limits: { answerBytes: Number.POSITIVE_INFINITY, waits },
      meta: {},
      attach: () => undefined,
      wait(logId, ms) {
        request.waitsFor(logId, false);
        return broker.wait(principal.id, logId, { ms, signal: request.signal, askedBy: request.caller });
      },
      callUnityTool: () => Promise.reject(new Error("no tool of the broker's calls another here")),
    });
  };
}
