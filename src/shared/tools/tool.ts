/** An Editor's tool as the broker knows it, with defaults for everything its bridge does not say. */
import { z } from "zod";

export type Lane = "main" | "background";
export const LANES: readonly Lane[] = ["main", "background"];

/** How many operations of an Editor run at once. Invariant 6: one on the main lane. */
export const LANE_PLACES: Readonly<Record<Lane, number>> = { main: 1, background: 4 };

/** How long a tool's calls usually take; times in call-rules.ts. */
export const EXECUTION_CLASSES = ["quick", "medium", "long"] as const;
export type ExecutionClass = (typeof EXECUTION_CLASSES)[number];

/** One entry of `get-tool-details` (docs/reference/protocol.md, "uLoop-compatible surface"). */
export const ToolDetails = z.looseObject({
  name: z.string().min(1),
  description: z.string().default(""),
  parameterSchema: z
    .looseObject({
      Properties: z.record(z.string(), z.looseObject({ Type: z.string() })).default({}),
      Required: z.array(z.string()).default([]),
    })
    .optional(),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z
    .looseObject({
      title: z.string().optional(),
      readOnlyHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional(),
  lane: z.enum(["main", "background"]).optional(),
  resumable: z.boolean().optional(),
  cancellable: z.boolean().optional(),
  executionClass: z.enum(EXECUTION_CLASSES).optional(),
});
export type ToolDetails = z.infer<typeof ToolDetails>;

/** Each entry is validated separately (call-rules.ts). */
export const ToolDetailsAnswer = z.looseObject({ Tools: z.array(z.unknown()), Ver: z.string().optional() });

/**
 * How repeated calls of a tool are treated. A `read_only` one runs again. A `repeatable` one has no effect that a second
 * run could double, so in doubt it runs again rather than give a stale answer. A `mutating` one is replayed in doubt.
 */
export type Effect = "read_only" | "repeatable" | "mutating";

/** A tool with all defaults filled in. `inputSchema` is JSON Schema 2020-12 of an object. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: JsonObjectSchema;
  annotations: NonNullable<ToolDetails["annotations"]>;
  effect: Effect;
  lane: Lane;
  cancellable: boolean;
  resumable: boolean;
  /** As the bridge says; otherwise it is estimated for each call. */
  executionClass?: ExecutionClass | undefined;
}

export interface JsonObjectSchema {
  type: "object";
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
  [keyword: string]: unknown;
}

/** Only these may leave the main thread: almost no Unity API is thread-safe (ARCHITECTURE.md, invariant 6). */
const BACKGROUND_TOOLS = new Set(["ping", "get-logs"]);

const READ_ONLY = [/^get-/, /^find-/, /-search$/, /^ping$/];
const REPEATABLE = [/^save/, /^set-/, /^modify-/, /^refresh/];

/** Repeatable whatever their bridge says: people run them again because they edited files, which no bridge notices. */
const ALWAYS_REPEATABLE = new Set(["compile", "run-tests"]);

/** Completes a bridge's description of a tool. An unstated effect follows from the tool's name, else it is mutating. */
export function completeTool(details: ToolDetails): Tool {
  const { title, readOnlyHint, idempotentHint, destructiveHint, openWorldHint } = details.annotations ?? {};
  const given = { title, readOnlyHint, idempotentHint, destructiveHint, openWorldHint };
  const annotations = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const effect = effectOf(details.name, annotations);
  const wantsBackground = details.lane === "background" || details.lane === undefined;
  return {
    name: details.name,
    description: details.description,
    inputSchema: inputSchemaOf(details),
    annotations: {
      ...annotations,
      readOnlyHint: effect === "read_only",
      idempotentHint: effect !== "mutating",
    },
    effect,
    lane: wantsBackground && BACKGROUND_TOOLS.has(details.name) ? "background" : "main",
    cancellable: details.cancellable ?? false,
    resumable: details.resumable ?? false,
    executionClass: details.executionClass,
  };
}

function effectOf(name: string, annotations: NonNullable<ToolDetails["annotations"]>): Effect {
  if (ALWAYS_REPEATABLE.has(name)) return "repeatable";
  if (annotations.readOnlyHint !== undefined || annotations.idempotentHint !== undefined) {
    if (annotations.readOnlyHint) return "read_only";
    return annotations.idempotentHint ? "repeatable" : "mutating";
  }
  return effectOfTool(name);
}

/**
 * The description that `completeTool` makes this tool of. Hints that only repeat what the tool's name says are left out:
 * the bridge may not have stated them, and a later version may decide otherwise.
 */
export function describedAs(tool: Tool): ToolDetails {
  const { effect, annotations, ...details } = tool;
  const { readOnlyHint, idempotentHint, ...others } = annotations;
  const isByName = effectOfTool(tool.name) === effect;
  return { ...details, annotations: isByName ? others : { ...others, readOnlyHint, idempotentHint } };
}

/** The effect by a tool's name, if its bridge states none: an unknown tool is never run again. */
export function effectOfTool(name: string): Effect {
  if (ALWAYS_REPEATABLE.has(name)) return "repeatable";
  if (READ_ONLY.some((pattern) => pattern.test(name))) return "read_only";
  return REPEATABLE.some((pattern) => pattern.test(name)) ? "repeatable" : "mutating";
}

/** May a call of it destroy something? As in MCP, a tool that changes something may, unless it says otherwise. */
export function isDestructive({ effect, annotations }: Pick<Tool, "effect" | "annotations">): boolean {
  return annotations.destructiveHint ?? effect === "mutating";
}

/** Tests and compilation: their callers want to see the present state of the files. */
export function isAlwaysRepeatable(tool: string): boolean {
  return ALWAYS_REPEATABLE.has(tool);
}

/** uLoop's parameterSchema as JSON Schema, if a bridge has no inputSchema of its own. */
function inputSchemaOf(details: ToolDetails): JsonObjectSchema {
  if (details.inputSchema) return { ...details.inputSchema, type: "object" };
  const properties: Record<string, Record<string, unknown>> = {};
  for (const [name, parameter] of Object.entries(details.parameterSchema?.Properties ?? {})) {
    const described = typeof parameter.Description === "string" ? { description: parameter.Description } : {};
    const defaulted = parameter.DefaultValue == null ? {} : { default: parameter.DefaultValue };
    const enumerated = Array.isArray(parameter.Enum) ? { enum: parameter.Enum } : {};
    const type = parameter.Type === "enum" ? "string" : parameter.Type;
    properties[name] = { type, ...described, ...defaulted, ...enumerated };
  }
  const required = details.parameterSchema?.Required ?? [];
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}
