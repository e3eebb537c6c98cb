/** The scene tree: hierarchies of any size, search, and values that can be set and read back. */
import { createHash } from "node:crypto";
import { lazyList } from "../results/result-text.js";
import { parameters, QUICK_ON_MAIN, type SimulatedTool } from "../tool-definition.js";

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
  ...QUICK_ON_MAIN,
} as const;

/** The same value for the same object, so that two reads agree. */
const noiseOf = (index: number, bytes: number): string =>
  createHash("shake256", { outputLength: bytes }).update(String(index)).digest("base64");

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
    SimulatedNoiseBytes: {
      type: "integer",
      description: "Simulator: bytes of each object that no compression makes smaller",
      minimum: 0,
      default: 0,
    },
    IncludeComponents: { type: "boolean", description: "Whether to list components", default: true },
  }),
  async run({ args }) {
    const withComponents = args.flag("IncludeComponents", true);
    const nodeCount = args.number("Size", 20);
    const noise = args.number("SimulatedNoiseBytes", 0);
    const nodes = lazyList(nodeCount, (index) => {
      const { components, ...rest } = node(index);
      return {
        ...rest,
        ...(withComponents ? { components } : {}),
        ...(noise > 0 ? { noise: noiseOf(index, noise) } : {}),
      };
    });
    return { sceneName: "SampleScene", nodeCount, nodes };
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
  ...QUICK_ON_MAIN,
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
