/** An Editor's tool as the broker knows it, and what may be assumed of it where its bridge does not say. */
import { z } from "zod";

export type Lane = "main" | "background";
export const LANES: readonly Lane[] = ["main", "background"];

/** How long a tool's calls usually take; times in execution-class.ts. */
export const EXECUTION_CLASSES = ["quick", "medium", "long"] as const;
export type ExecutionClass = (typeof EXECUTION_CLASSES)[number];

/** One entry of `get-tool-details` (docs/protocol.md, "uLoop-compatible surface"). */
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

export const ToolDetailsAnswer = z.looseObject({ Tools: z.array(ToolDetails), Ver: z.string().optional() });

/** How a repetition of a tool's call may be treated. */
export type Effect = "read_only" | "idempotent" | "mutating";

/** A tool with every question answered. `inputSchema` is JSON Schema 2020-12 of an object. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: JsonObjectSchema;
  annotations: NonNullable<ToolDetails["annotations"]>;
  effect: Effect;
  lane: Lane;
  cancellable: boolean;
  resumable: boolean;
  /** As the bridge says; else it is guessed for each call. */
  executionClass?: ExecutionClass | undefined;
}

export interface JsonObjectSchema {
  type: "object";
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
  [keyword: string]: unknown;
}

/** Only these may leave the main thread: almost no Unity API is thread-safe (design: invariant 6). */
const BACKGROUND_TOOLS = new Set(["ping", "get-logs"]);

const READ_ONLY = [/^get-/, /^find-/, /-search$/, /^ping$/];
const IDEMPOTENT = [/^compile$/, /^save/, /^set-/, /^modify-/, /^refresh/];

/** Completes what a bridge says of a tool; silence about a tool's effect is decided by its name, else mutating. */
export function completeTool(details: ToolDetails): Tool {
  const annotations = details.annotations ?? {};
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
  if (annotations.readOnlyHint !== undefined || annotations.idempotentHint !== undefined) {
    if (annotations.readOnlyHint) return "read_only";
    return annotations.idempotentHint ? "idempotent" : "mutating";
  }
  return effectOfTool(name);
}

/** What a tool's name says, where its bridge says nothing: anything unknown is never run again. */
export function effectOfTool(name: string): Effect {
  if (READ_ONLY.some((pattern) => pattern.test(name))) return "read_only";
  return IDEMPOTENT.some((pattern) => pattern.test(name)) ? "idempotent" : "mutating";
}

/** uLoop's parameterSchema as JSON Schema, where a bridge has no inputSchema of its own. */
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
