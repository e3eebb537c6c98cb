/** Menu items: the listed ones, and `Simulator/Block For <n> Seconds` that holds the main thread. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { toolFailure } from "../tool-definition.js";

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

const FILTERS = {
  contains: (path: string, text: string) => path.includes(text),
  exact: (path: string, text: string) => text === "" || path === text,
  startswith: (path: string, text: string) => path.startsWith(text),
};

const BLOCK_FOR = /^Simulator\/Block For (\d+(?:\.\d+)?) Seconds$/;

export const getMenuItems = bridgeTool("get-menu-items", {
  async run({ args }) {
    const filter = args.text("FilterText", "").toLowerCase();
    const fits = FILTERS[args.text("FilterType", "contains") as keyof typeof FILTERS];
    const matching = LISTED.filter((path) => fits(path.toLowerCase(), filter));
    const MenuItems = matching
      .slice(0, args.number("MaxCount", 200))
      .map((Path) => ({ Path, Priority: 0, IsValidateFunction: false }));
    return { TotalCount: matching.length, MenuItems };
  },
});

export const executeMenuItem = bridgeTool("execute-menu-item", {
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
});
