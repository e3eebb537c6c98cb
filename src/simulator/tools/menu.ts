/** Menu items: the listed ones, and `Simulator/Block For <n> Seconds` that holds the main thread. */
import { parameters, QUICK_ON_MAIN, type SimulatedTool, toolFailure } from "../tool-definition.js";

const LISTED = [
  "Assets/Refresh",
  "Edit/Clear All PlayerPrefs",
  "File/Save Project",
  "GameObject/Create Empty",
  "Simulator/Block For 0.1 Seconds",
  "Simulator/Block For 2 Seconds",
  "Simulator/Block For 360 Seconds",
  "Simulator/Fail",
];
const BLOCK_FOR = /^Simulator\/Block For (\d+(?:\.\d+)?) Seconds$/;

export const getMenuItems: SimulatedTool = {
  name: "get-menu-items",
  description: "Lists menu items that execute-menu-item can run.",
  inputSchema: parameters({
    FilterText: { type: "string", description: "Only items that contain this text", default: "" },
    MaxCount: { type: "integer", description: "At most this many", minimum: 1, default: 200 },
  }),
  effect: "read_only",
  ...QUICK_ON_MAIN,
  async run({ args }) {
    const filter = args.text("FilterText", "").toLowerCase();
    const matching = LISTED.filter((path) => path.toLowerCase().includes(filter));
    const MenuItems = matching.slice(0, args.number("MaxCount", 200)).map((Path) => ({ Path }));
    return { TotalCount: matching.length, MenuItems };
  },
};

export const executeMenuItem: SimulatedTool = {
  name: "execute-menu-item",
  description: "Runs a menu item of the Editor by its path, on the main thread, until it ends.",
  inputSchema: parameters(
    { MenuItemPath: { type: "string", description: "For example Simulator/Block For 2 Seconds" } },
    ["MenuItemPath"],
  ),
  effect: "mutating",
  destructive: true,
  lane: "main",
  resumable: false,
  cancellable: false,
  executionClass: "long",
  blocksMainThread: true,
  label: (args) => args.text("MenuItemPath", "execute-menu-item"),
  async run({ args, wait, world }) {
    const path = args.text("MenuItemPath");
    const seconds = BLOCK_FOR.exec(path)?.[1];
    if (seconds !== undefined) await wait(Number(seconds));
    else if (path === "Simulator/Fail")
      throw toolFailure("menu_item_failed", "The menu item threw an exception.");
    else if (!LISTED.includes(path))
      throw toolFailure("menu_item_not_found", `There is no menu item ${path}.`);
    world.log("Log", `Executed ${path}`);
    return { Success: true, MenuItemPath: path, ExecutionMethod: "EditorApplication" };
  },
};
