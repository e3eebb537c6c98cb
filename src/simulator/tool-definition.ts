/** The definition of a simulated tool, and its entry in `get-tool-details`. */
import type { JsonObjectSchema, Lane, ToolDetails } from "../shared/tools/tool.js";
import type { ProgressReport } from "./progress-throttle.js";
import type { World } from "./world.js";

/** The interface of a running tool to its Editor. */
interface ToolCall {
  readonly operationId: string;
  readonly args: Arguments;
  readonly world: World;
  /** Aborted when a cancellation was requested or the execution was given up. */
  readonly signal: AbortSignal;
  progress(report: ProgressReport): void;
  /** Passes simulated time, scaled by the Editor's time scale; rejects as soon as the signal aborts. */
  wait(seconds: number): Promise<void>;
  /** Reloads the script domain during the run, as entering Play Mode does; resolves once it is loaded again. */
  reload(): Promise<void>;
  /** Requests a domain reload after this tool has ended, as a compilation does; its end announces the reload. */
  reloadAfterwards(): void;
}

/** Arguments by their PascalCase name; the camelCase spelling is accepted as well. */
export interface Arguments {
  text(name: string, fallback?: string): string;
  number(name: string, fallback: number): number;
  flag(name: string, fallback: boolean): boolean;
  value(name: string): unknown;
}

export interface SimulatedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObjectSchema;
  readonly effect: "read_only" | "idempotent" | "mutating";
  readonly destructive?: boolean;
  readonly openWorld?: boolean;
  readonly lane: Lane;
  readonly resumable: boolean;
  readonly cancellable: boolean;
  readonly executionClass: "quick" | "medium" | "long";
  /** True if the real tool occupies Unity's main thread from begin to end. */
  readonly blocksMainThread: boolean;
  /** The name of an execution in the counter file; the tool's name unless given. */
  label?(args: Arguments): string;
  run(call: ToolCall): Promise<unknown>;
}

/** A quick tool that occupies the main thread, as almost all of Unity's API does. */
export const QUICK_ON_MAIN = {
  resumable: false,
  cancellable: false,
  executionClass: "quick",
  lane: "main",
  blocksMainThread: true,
} as const;

/** An error whose name becomes `outcome.error.type`. */
export function toolFailure(type: string, message: string): Error {
  const error = new Error(message);
  error.name = type;
  return error;
}

export function readArguments(values: Record<string, unknown>): Arguments {
  const value = (name: string): unknown =>
    values[name] ?? values[`${name.charAt(0).toLowerCase()}${name.slice(1)}`];
  const typed = <T>(name: string, is: (v: unknown) => v is T, kind: string, fallback?: T): T => {
    const found = value(name) ?? fallback;
    if (is(found)) return found;
    throw toolFailure("invalid_arguments", `${name} must be a ${kind}.`);
  };
  return {
    value,
    text: (name, fallback) => typed(name, (v) => typeof v === "string", "string", fallback),
    number: (name, fallback) =>
      typed(name, (v): v is number => typeof v === "number" && Number.isFinite(v), "number", fallback),
    flag: (name, fallback) => typed(name, (v) => typeof v === "boolean", "boolean", fallback),
  };
}

/** The tool's entry in `get-tool-details`: our fields beside uLoop's parameterSchema. */
export function describeTool(tool: SimulatedTool): ToolDetails {
  const properties = Object.entries(tool.inputSchema.properties ?? {}).map(([name, schema]) => [
    name,
    {
      Type: typeof schema.type === "string" ? plainType(schema.type) : "object",
      Description: schema.description ?? "",
      DefaultValue: schema.default ?? null,
      Enum: schema.enum ?? null,
    },
  ]);
  return {
    name: tool.name,
    description: tool.description,
    parameterSchema: {
      Properties: Object.fromEntries(properties),
      Required: tool.inputSchema.required ?? [],
    },
    displayDevelopmentOnly: false,
    inputSchema: tool.inputSchema,
    annotations: {
      title: tool.name,
      readOnlyHint: tool.effect === "read_only",
      idempotentHint: tool.effect !== "mutating",
      destructiveHint: tool.destructive ?? false,
      openWorldHint: tool.openWorld ?? false,
    },
    lane: tool.lane,
    resumable: tool.resumable,
    cancellable: tool.cancellable,
    executionClass: tool.executionClass,
  };
}

/** uLoop knows no integers. */
const plainType = (type: string): string => (type === "integer" ? "number" : type);

/** The input schema of a tool: a closed object of these properties. */
export function parameters(
  properties: Record<string, Record<string, unknown>>,
  required: string[] = [],
): JsonObjectSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}
