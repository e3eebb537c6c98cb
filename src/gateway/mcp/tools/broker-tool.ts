/** One of the broker's own tools: its description for clients, and the check of its arguments. */
import type { Tool as McpTool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { OperationView } from "../../../shared/operation/answer.js";
import type { Duplicate } from "../../../shared/operation/timeline.js";
import { portableSchema } from "../../../shared/tools/portable-schema.js";
import type { JsonObjectSchema } from "../../../shared/tools/tool.js";
import { type WaitLimits, waitText } from "../../../shared/wait-time.js";
import type { Broker } from "../../broker.js";
import type { EditorSelection } from "../../call-reader.js";
import { argumentError, readArguments } from "../../catalog.js";
import type { OpenRequest } from "../request-tracker.js";
import type { ClientLimits, ToolAnswer } from "./tool-answer.js";

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
  /** How the call found its operation whose outcome is read; left out: what is read belongs to no call. */
  found?: (() => Promise<Duplicate["relation"] | undefined>) | undefined;
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
  const { properties = {}, ...inputSchema } = described(name, schema);
  const understood = understoodBy(schema, aliases, hidden);
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
      const { arguments: read, faults } = readArguments(understood, args);
      if (faults.length > 0) throw argumentError(name, faults);
      const parsed = schema.safeParse(renamed(read, aliases, "timeout" in properties));
      if (parsed.success) return run(parsed.data as z.output<S>, call);
      const unfit = parsed.error.issues.map(({ path, message }) => ({
        path: `/${path.join("/")}`,
        reason: `${path.join(".")}: ${message}`,
      }));
      throw argumentError(name, unfit);
    },
  };
}

/** Without bounds, which say little to a model: a refusal says them to the caller who goes beyond. */
function described(name: string, schema: z.ZodObject): McpTool["inputSchema"] {
  const whole = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    },
  });
  const portable = portableSchema({ name, inputSchema: whole as JsonObjectSchema });
  if ("reason" in portable) throw new Error(portable.reason);
  return portable.inputSchema as McpTool["inputSchema"];
}

/** What its arguments are read by: with their bounds, and with names that are understood, but not offered. */
function understoodBy(
  schema: z.ZodObject,
  aliases: Readonly<Record<string, string>>,
  hidden: readonly string[],
): JsonObjectSchema {
  const { properties: own = {}, ...rest } = z.toJSONSchema(schema, { io: "input" }) as JsonObjectSchema;
  const others = [
    ...hidden.map((name) => [name, own[name]] as const),
    ...Object.entries(aliases).map(([alias, name]) => [alias, own[name]] as const),
    // Every other tool takes it.
    ...("timeout" in own ? [] : [["timeout", {}] as const]),
  ].map(([name, described]) => [name, { ...described, deprecated: true }]);
  return { ...rest, properties: { ...own, ...Object.fromEntries(others) }, additionalProperties: false };
}

/** The arguments by their own names, without a `timeout` where nothing waits. */
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

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// A tool's hints, without those that say what the protocol assumes of a tool that says nothing (MCP, ToolAnnotations).

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
