/** The tools of the simulated Editor; one line each is the registration. */
import { createHash } from "node:crypto";
import type { ToolDetails } from "../shared/tools/tool.js";
import { describeTool, type SimulatedTool } from "./tool-definition.js";
import { buildPlayer, compile, runTests } from "./tools/long.js";
import { executeMenuItem, getHierarchy, getLogs, ping, setProperty } from "./tools/short.js";

const BUILT_IN: readonly SimulatedTool[] = [
  ping,
  getLogs,
  getHierarchy,
  executeMenuItem,
  compile,
  runTests,
  buildPlayer,
  setProperty,
];

/** Nothing else may leave the main thread, whatever a definition says (ARCHITECTURE.md, invariant 6). */
const BACKGROUND = new Set(["ping", "get-logs"]);

export interface ToolTable {
  get(name: string): SimulatedTool | undefined;
  details(): ToolDetails[];
  /** Changes whenever a tool is added, removed or described otherwise. */
  hash(): string;
  add(tool: SimulatedTool): void;
  remove(name: string): void;
}

export function createToolTable(extra: readonly SimulatedTool[] = []): ToolTable {
  const tools = new Map<string, SimulatedTool>();
  const add = (tool: SimulatedTool): void => {
    tools.set(tool.name, { ...tool, lane: BACKGROUND.has(tool.name) ? tool.lane : "main" });
  };
  for (const tool of [...BUILT_IN, ...extra]) add(tool);
  const details = (): ToolDetails[] => [...tools.values()].map(describeTool);
  return {
    get: (name) => tools.get(name),
    details,
    hash: () => createHash("sha256").update(JSON.stringify(details())).digest("hex").slice(0, 16),
    add,
    remove: (name) => void tools.delete(name),
  };
}
