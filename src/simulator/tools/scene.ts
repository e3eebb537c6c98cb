/** The scene tree: hierarchies of any size, search, and values that can be set and read back. */
import { parameters, type SimulatedTool } from "../tool-definition.js";

interface Node {
  name: string;
  path: string;
  depth: number;
  components: string[];
}

const node = (index: number): Node => ({
  name: `Object${index}`,
  path: `/Root${Math.floor(index / 100)}/Object${index}`,
  depth: 1,
  components: index % 3 === 0 ? ["Transform", "Camera"] : ["Transform", "MeshRenderer"],
});

const reading = {
  effect: "read_only",
  lane: "main",
  resumable: false,
  cancellable: false,
  executionClass: "quick",
  blocksMainThread: true,
} as const;

export const getHierarchy: SimulatedTool = {
  ...reading,
  name: "get-hierarchy",
  description: "Lists the objects of the open scene.",
  inputSchema: parameters({
    Size: {
      type: "integer",
      description: "Simulator: number of objects in the scene",
      minimum: 0,
      default: 20,
    },
    IncludeComponents: { type: "boolean", description: "Whether to list components", default: true },
  }),
  async run({ args }) {
    const withComponents = args.flag("IncludeComponents", true);
    const nodes = Array.from({ length: args.number("Size", 20) }, (_, index) => {
      const { components, ...rest } = node(index);
      return withComponents ? { ...rest, components } : rest;
    });
    return { sceneName: "SampleScene", nodeCount: nodes.length, nodes };
  },
};

export const findGameObjects: SimulatedTool = {
  ...reading,
  name: "find-game-objects",
  description: "Finds objects of the open scene by name or component.",
  inputSchema: parameters({
    NamePattern: { type: "string", description: "Text that the name contains", default: "" },
    RequiredComponent: { type: "string", description: "A component that it has", default: "" },
    MaxResults: { type: "integer", description: "At most this many", minimum: 1, default: 20 },
  }),
  async run({ args }) {
    const pattern = args.text("NamePattern", "");
    const component = args.text("RequiredComponent", "");
    const found = Array.from({ length: 100 }, (_, index) => node(index)).filter(
      (one) => one.name.includes(pattern) && (component === "" || one.components.includes(component)),
    );
    const results = found.slice(0, args.number("MaxResults", 20));
    return { totalFound: found.length, results };
  },
};

export const setProperty: SimulatedTool = {
  name: "set-property",
  description: "Sets a value; setting the same value again changes nothing.",
  inputSchema: parameters(
    {
      Path: { type: "string", description: "Where, for example /Root0/Object1.speed" },
      Value: { description: "Any JSON" },
    },
    ["Path", "Value"],
  ),
  effect: "idempotent",
  lane: "main",
  resumable: false,
  cancellable: false,
  executionClass: "quick",
  blocksMainThread: true,
  async run({ args, world }) {
    const Path = args.text("Path");
    const Previous = world.values.get(Path) ?? null;
    const Value = args.value("Value") ?? null;
    world.values.set(Path, Value);
    world.assetCounter += 1;
    return { Path, Previous, Value };
  },
};

export const getProperty: SimulatedTool = {
  ...reading,
  name: "get-property",
  description: "Reads a value that set-property has set.",
  inputSchema: parameters({ Path: { type: "string", description: "Where" } }, ["Path"]),
  async run({ args, world }) {
    const Path = args.text("Path");
    return { Path, Exists: world.values.has(Path), Value: world.values.get(Path) ?? null };
  },
};
