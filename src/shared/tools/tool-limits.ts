/** Limits on an Editor's tool list: tools above a limit are left out, and reported, as are those that models cannot be offered. */
import { head } from "../shortened-text.js";
import { portableSchema } from "./portable-schema.js";
import { completeTool, type Tool, ToolDetails } from "./tool.js";

/** Limits for the list of one Editor. */
export interface ToolLimits {
  tools: number;
  /** Most characters of the JSON of all tools together. */
  listCharacters: number;
  /** How deep a tool's schema may nest. */
  schemaDepth: number;
  /** Characters; a longer description is cut. */
  description: number;
}

export const TOOL_LIMITS: ToolLimits = {
  tools: 1_000,
  listCharacters: 2_000_000,
  schemaDepth: 32,
  description: 4_000,
};

export interface ToolsRead {
  tools: Tool[];
  /** How many were left out, here or in the lists that models are given … */
  leftOut: number;
  /** … and why (the first few): short and without control characters. */
  reasons: string[];
}

/** The names that MCP clients accept (SEP-986). */
const NAME = /^[\w./-]{1,128}$/;
const REASONS = 5;

/** Reads the answer to `get-tool-details`. Never throws, whatever the entries are. */
export function readTools(reported: readonly unknown[], limits: ToolLimits = TOOL_LIMITS): ToolsRead {
  const byName = new Map<string, Tool>();
  const reasons: string[] = [];
  let leftOut = Math.max(0, reported.length - limits.tools);
  if (leftOut > 0) reasons.push(`${reported.length} tools exceed the limit of ${limits.tools}`);
  let characters = 0;
  for (const entry of reported.slice(0, limits.tools)) {
    const tool = readTool(entry, limits);
    const size = typeof tool === "string" ? 0 : JSON.stringify(tool).length;
    const fault = typeof tool === "string" ? tool : faultAmong(tool, byName, characters + size, limits);
    let why = fault ?? "";
    if (typeof tool !== "string" && fault === undefined) {
      byName.set(tool.name, tool);
      characters += size;
      const portable = portableSchema(tool);
      if ("inputSchema" in portable) continue;
      why = `models are not offered ${tool.name}: ${portable.reason}`;
    }
    leftOut += 1;
    if (reasons.length < REASONS) reasons.push(why);
  }
  return { tools: [...byName.values()], leftOut, reasons };
}

function faultAmong(
  { name }: Tool,
  before: ReadonlyMap<string, Tool>,
  characters: number,
  { listCharacters }: ToolLimits,
): string | undefined {
  if (before.has(name)) return `${name} is listed twice`;
  return characters > listCharacters
    ? `with ${name} the list has more than ${listCharacters} characters`
    : undefined;
}

/** The tool, or why it is left out. */
function readTool(entry: unknown, { schemaDepth, description }: ToolLimits): Tool | string {
  const read = ToolDetails.safeParse(entry);
  if (!read.success) return "an entry is not a tool description";
  if (!NAME.test(read.data.name)) return `${shown(read.data.name)} is not a valid tool name`;
  const tool = completeTool(read.data);
  if (depthOf(tool.inputSchema, schemaDepth + 1) > schemaDepth) {
    return `the schema of ${tool.name} is nested deeper than ${schemaDepth}`;
  }
  return tool.description.length <= description
    ? tool
    : { ...tool, description: `${head(tool.description, description)}…` };
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 40).replace(/[^\x20-\x7e]/g, "?"));
}

/** Nesting of arrays and objects; 0 for any other value. Stops at `most`. No recursion: it may nest deeper than any stack. */
function depthOf(value: unknown, most: number): number {
  let level = [value].filter(isNested);
  let depth = 0;
  while (level.length > 0 && depth < most) {
    depth += 1;
    level = level.flatMap((nested) => Object.values(nested).filter(isNested));
  }
  return depth;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
