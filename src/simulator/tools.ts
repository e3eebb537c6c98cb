/** The tools of the simulated Editor; one line each is the registration. */
import { createHash } from "node:crypto";
import type { ToolDetails } from "../shared/tools/tool.js";
import { describeTool, type SimulatedTool } from "./tool-definition.js";
import { findAssets, manageAssets } from "./tools/assets.js";
import { buildPlayer } from "./tools/build-player.js";
import { compile, executeCode } from "./tools/compile.js";
import { addComponent, modifyComponent, readComponent, removeComponent } from "./tools/components.js";
import { clearConsole, getLogs, ping } from "./tools/console.js";
import { executeMenuItem, getMenuItems } from "./tools/menu.js";
import { createGameObject, deleteGameObject, modifyGameObject } from "./tools/objects.js";
import { listPackages, managePackages } from "./tools/packages.js";
import { runBatch } from "./tools/run-batch.js";
import { runTests } from "./tools/run-tests.js";
import { findGameObjects, getHierarchy, getProperty, setProperty } from "./tools/scene.js";
import { createScene, openSceneTool, saveScene } from "./tools/scene-files.js";
import { getProviderDetails, unitySearch } from "./tools/search.js";
import { setBuildTarget } from "./tools/set-build-target.js";
import { captureScreenshot, controlPlayMode, getEditorState } from "./tools/view.js";

const BUILT_IN: readonly SimulatedTool[] = [
  ping,
  compile,
  clearConsole,
  getLogs,
  getHierarchy,
  getMenuItems,
  executeMenuItem,
  getProviderDetails,
  findGameObjects,
  unitySearch,
  runTests,
  executeCode,
  buildPlayer,
  captureScreenshot,
  controlPlayMode,
  getEditorState,
  openSceneTool,
  saveScene,
  createScene,
  createGameObject,
  modifyGameObject,
  deleteGameObject,
  readComponent,
  addComponent,
  modifyComponent,
  removeComponent,
  runBatch,
  setBuildTarget,
  findAssets,
  manageAssets,
  listPackages,
  managePackages,
  setProperty,
  getProperty,
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
