/** One of the broker's own tools: its description for clients, and the check of its arguments. */
import type { Tool as McpTool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { didYouMean } from "../../../shared/did-you-mean.js";
import { BrokerError } from "../../../shared/errors.js";
import type { OperationView } from "../../../shared/operation/answer.js";
import { type WaitLimits, waitText } from "../../../shared/wait-time.js";
import type { Broker } from "../../broker.js";
import type { EditorSelection } from "../editor-selection.js";
import type { OpenRequest } from "../open-request.js";
import type { ClientLimits } from "./client-limits.js";
import { hintsOf } from "./hints.js";
import type { ToolAnswer } from "./tool-answer.js";

export type WaitResult = OperationView | "retention_ended" | undefined;

/** One call of a broker tool. */
export interface BrokerToolCall {
  broker: Broker;
  principal: string;
  request: OpenRequest;
  /** Undefined if the request belongs to no session. */
  selection: EditorSelection | undefined;
  /** What its client takes. */
  limits: ClientLimits;
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
  name: string;
  /** As a list of tools shows it. */
  described(waits: WaitLimits): McpTool;
  /** Throws INVALID_ARGUMENTS. */
  run(args: Record<string, unknown>, call: BrokerToolCall): Promise<ToolAnswer>;
}

/** `schema`: what it does not know is refused. */
export function define<S extends z.ZodObject>(
  name: string,
  description: string,
  schema: S,
  {
    readOnly,
    aliases = {},
    hidden = [],
    waitSeconds,
  }: {
    readOnly: boolean;
    /** It waits, its argument `timeout` says how long, and without it so long; "standard": as a call does. */
    waitSeconds?: number | "standard";
    aliases?: Readonly<Record<string, string>>;
    /** Arguments that are understood and not offered. */
    hidden?: readonly string[];
  },
  run: (args: z.output<S>, call: BrokerToolCall) => Promise<ToolAnswer>,
): BrokerTool {
  const { properties: all, ...inputSchema } = described(schema);
  const properties = (all ?? {}) as Record<string, { type?: string }>;
  const offered = Object.fromEntries(Object.entries(properties).filter(([key]) => !hidden.includes(key)));
  return {
    name,
    described: (waits) => ({
      name,
      description,
      inputSchema: {
        ...inputSchema,
        properties:
          waitSeconds === undefined
            ? offered
            : {
                ...offered,
                timeout: {
                  type: "number",
                  description: waitText(
                    waitSeconds === "standard" ? waits.standardSeconds : waitSeconds,
                    waits,
                  ),
                },
              },
      },
      annotations: hintsOf({ readOnlyHint: readOnly, idempotentHint: true, openWorldHint: false }),
    }),
    async run(args, call) {
      const parsed = schema
        .strict()
        .safeParse(asTyped(renamed(args, aliases, "timeout" in properties), properties));
      if (parsed.success) return run(parsed.data as z.output<S>, call);
      const faults = parsed.error.issues.flatMap((issue) => faultsOf(issue, Object.keys(properties)));
      const said = faults.map(({ path, reason }) => `${path}: ${reason}`).join("; ");
      throw new BrokerError("INVALID_ARGUMENTS", `The arguments of ${name} are wrong: ${said}.`, { faults });
    },
  };
}

/** A refusal says them to the caller who goes beyond. */
const BOUNDS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "minLength",
  "maxLength",
  "maxItems",
  "propertyNames",
] as const;

/** Without what says little to a model: the dialect, and bounds that nobody meets. */
function described(schema: z.ZodObject): McpTool["inputSchema"] {
  const {
    $schema: _dialect,
    additionalProperties: _strict,
    ...inputSchema
  } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      for (const bound of BOUNDS) delete jsonSchema[bound];
    },
  });
  return inputSchema as McpTool["inputSchema"];
}

/** Other names of an argument are understood, and not offered; so is the `timeout` that every other tool takes, where nothing waits. */
function renamed(
  args: Record<string, unknown>,
  aliases: Readonly<Record<string, string>>,
  waits: boolean,
): Record<string, unknown> {
  const own = Object.entries(args).filter(
    ([name]) => !(name in aliases && (aliases[name] ?? "") in args) && (name !== "timeout" || waits),
  );
  return Object.fromEntries(own.map(([name, value]) => [aliases[name] ?? name, value]));
}

/** A model writes "3" for 3, and "true" for true. */
function asTyped(
  args: Record<string, unknown>,
  properties: Record<string, { type?: string }>,
): Record<string, unknown> {
  const typed = (name: string, value: unknown): unknown => {
    const type = properties[name]?.type;
    if (typeof value !== "string" || value.trim() === "") return value;
    if (type === "number" || type === "integer") return Number.isNaN(Number(value)) ? value : Number(value);
    if (type === "boolean") return value === "true" ? true : value === "false" ? false : value;
    return value;
  };
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, typed(name, value)]));
}

function faultsOf(issue: z.core.$ZodIssue, names: readonly string[]): { path: string; reason: string }[] {
  if (issue.code !== "unrecognized_keys")
    return [{ path: `/${issue.path.map(String).join("/")}`, reason: issue.message }];
  return issue.keys.map((key) => ({
    path: `/${key}`,
    reason: `there is no such argument${didYouMean(key, names)}`,
  }));
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
