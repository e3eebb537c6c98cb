/** The tools that read, and those that run at once. */
import { createHash } from "node:crypto";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { boundedExpression } from "../expression.js";
import { lazyList } from "../results/result-text.js";
import { parameters, QUICK_ON_MAIN, type SimulatedTool, toolFailure } from "../tool-definition.js";

export const ping = bridgeTool("ping", {
  async run({ args }) {
    return { Message: `Unity Editor received: ${args.text("Message", "Hello")}` };
  },
});

export const getLogs = bridgeTool("get-logs", {
  async run({ args, world }) {
    const type = args.text("LogType", "All");
    const search = args.text("SearchText", "");
    const fits = args.flag("UseRegex", false)
      ? boundedExpression("SearchText", search)
      : (text: string): boolean => text.includes(search);
    // Its lines have no stack traces, so SearchInStackTrace finds nothing more.
    const matching = world.logs.filter(
      (line) => (type === "All" || line.LogType === type) && fits(line.Message),
    );
    const newest = matching.slice(-args.number("MaxCount", 100));
    const Logs = args.flag("IncludeStackTrace", false)
      ? newest.map((line) => ({ ...line, StackTrace: "" }))
      : newest;
    return { TotalCount: matching.length, DisplayedCount: Logs.length, AsOf: Date.now(), Logs };
  },
});

/** Every hundredth object is a root; the others are below it. */
const BELOW_ROOT = 100;

/** A scene as large as the call says, and all of it: only the parameters of the simulation count. */
export const getHierarchy = bridgeTool("get-hierarchy", {
  simulated: {
    Size: { type: "integer", description: "number of objects in the scene", minimum: 0, default: 20 },
    NoiseBytes: {
      type: "integer",
      description: "bytes of each object that no compression makes smaller",
      minimum: 0,
      default: 0,
    },
  },
  async run({ args }) {
    const nodeCount = args.number("SimulatedSize", 20);
    const noise = args.number("SimulatedNoiseBytes", 0);
    const nodes = lazyList(nodeCount, (index) => ({
      ...objectAt(index),
      ...(noise > 0 ? { noise: noiseOf(index, noise) } : {}),
    }));
    return { sceneName: "SampleScene", scenes: ["SampleScene"], nodeCount, nodes };
  },
});

function objectAt(index: number): object {
  const root = `Root${Math.floor(index / BELOW_ROOT)}`;
  const isRoot = index % BELOW_ROOT === 0;
  return {
    id: `${index}@9fdb31a6`,
    name: isRoot ? root : `Object${index}`,
    path: isRoot ? `/${root}` : `/${root}/Object${index}`,
    depth: isRoot ? 0 : 1,
    isActive: true,
    components: index % 3 === 0 ? ["Transform", "Camera"] : ["Transform", "MeshRenderer"],
  };
}

/** The same value for the same object, so that two reads agree. */
const noiseOf = (index: number, bytes: number): string =>
  createHash("shake256", { outputLength: bytes }).update(String(index)).digest("base64");

const BLOCK_FOR = /^Simulator\/Block For (\d+(?:\.\d+)?) Seconds$/;

/** Menu items of Unity that do nothing here. */
const ITEMS = [
  "Assets/Refresh",
  "Edit/Clear All PlayerPrefs",
  "File/Save Project",
  "GameObject/Create Empty",
];

/** `Simulator/Block For <n> Seconds` holds the main thread, `Simulator/Fail` fails. */
export const executeMenuItem = bridgeTool("execute-menu-item", {
  label: (args) => args.text("MenuItemPath", "execute-menu-item"),
  async run({ args, wait, world }) {
    const path = args.text("MenuItemPath");
    const seconds = BLOCK_FOR.exec(path)?.[1];
    if (seconds !== undefined) await wait(Number(seconds));
    else if (path === "Simulator/Fail")
      throw toolFailure("menu_item_failed", "The menu item threw an exception.");
    else if (!ITEMS.includes(path))
      throw toolFailure("menu_item_not_found", `There is no menu item ${path}.`);
    world.log("Log", `Executed ${path}`);
    return { Success: true, MenuItemPath: path, ExecutionMethod: "EditorApplication" };
  },
});

/** The simulator's own, for what no other is: repeatable, but not always run again as compile and run-tests are. */
export const setProperty: SimulatedTool = {
  name: "set-property",
  description: "Simulator: sets a value; setting the same value again changes nothing.",
  inputSchema: parameters(
    {
      Path: { type: "string", description: "Where, for example /Root0/Object1.speed" },
      Value: { description: "Any JSON" },
    },
    ["Path", "Value"],
  ),
  effect: "idempotent",
  ...QUICK_ON_MAIN,
  async run({ args, world }) {
    world.assetCounter += 1;
    return { Path: args.text("Path"), Value: args.value("Value") ?? null };
  },
};

/** A tool that answers its arguments: for tests that change the catalogue. */
export function echoTool(name: string, effect: SimulatedTool["effect"] = "read_only"): SimulatedTool {
  return {
    name,
    description: `Answers ${name} and the text that it was given.`,
    inputSchema: parameters({ Text: { type: "string", description: "Any text", default: "" } }),
    effect,
    ...QUICK_ON_MAIN,
    async run({ args }) {
      return { Tool: name, Text: args.text("Text", "") };
    },
  };
}
