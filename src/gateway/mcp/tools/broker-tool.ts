/** One of the broker's own tools: its description for clients, and the check of its arguments. */
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import type { OperationView } from "../../../shared/operation/answer.js";
import type { Broker } from "../../broker.js";
import type { EditorSelection } from "../editor-selection.js";
import type { OpenRequest } from "../open-request.js";
import type { ToolAnswer } from "./tool-answer.js";

export type WaitResult = OperationView | "retention_ended" | undefined;

/** One call of a broker tool. */
export interface BrokerToolCall {
  broker: Broker;
  principal: string;
  request: OpenRequest;
  /** Undefined if the request belongs to no session. */
  selection: EditorSelection | undefined;
  showsProgress: boolean;
  /** MCP's `_meta` of the request. */
  meta: Readonly<Record<string, unknown>>;
  /** Puts this into the answer's `_meta`, which models do not read. */
  attach(name: string, value: unknown): void;
  wait(logId: string, ms: number): Promise<WaitResult>;
  /** Calls a tool of an Editor, as the client could by a request of its own. `parameters`: the broker's, by name. */
  callUnityTool(
    tool: string,
    args: Record<string, unknown>,
    parameters: Record<string, unknown>,
  ): Promise<ToolAnswer>;
}

export interface BrokerTool {
  described: McpTool;
  /** Throws INVALID_ARGUMENTS. */
  run(args: Record<string, unknown>, call: BrokerToolCall): Promise<ToolAnswer>;
}

export function define<S extends z.ZodObject>(
  name: string,
  title: string,
  description: string,
  schema: S,
  { readOnly }: { readOnly: boolean },
  run: (args: z.output<S>, call: BrokerToolCall) => Promise<ToolAnswer>,
): BrokerTool {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: "input" });
  return {
    described: {
      name,
      title,
      description,
      inputSchema: inputSchema as McpTool["inputSchema"],
      annotations: {
        title,
        readOnlyHint: readOnly,
        idempotentHint: true,
        destructiveHint: !readOnly,
        openWorldHint: false,
      },
    },
    async run(args, call) {
      const parsed = schema.safeParse(args);
      if (parsed.success) return run(parsed.data, call);
      const faults = parsed.error.issues.map(({ path, message }) => ({
        path: `/${path.map(String).join("/")}`,
        reason: message,
      }));
      const said = faults.map(({ path, reason }) => `${path}: ${reason}`).join("; ");
      throw new BrokerError("INVALID_ARGUMENTS", `The arguments of ${name} are wrong: ${said}.`, { faults });
    },
  };
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
