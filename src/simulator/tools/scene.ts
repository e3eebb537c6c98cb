/** The scene tree: hierarchies of any size, search, and values that can be set and read back. */
import { createHash } from "node:crypto";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { lazyList } from "../results/result-text.js";
import { parameters, QUICK_ON_MAIN, type SimulatedTool, toolFailure } from "../tool-definition.js";

const SCENE = "SampleScene";
/** Every hundredth object is a root; the others are below it. */
const BELOW_ROOT = 100;

interface SceneNode {
  name: string;
  path: string;
  depth: number;
  components: string[];
}

const node = (index: number): SceneNode => {
  const root = `Root${Math.floor(index / BELOW_ROOT)}`;
  const components = index % 3 === 0 ? ["Transform", "Camera"] : ["Transform", "MeshRenderer"];
  return index % BELOW_ROOT === 0
    ? { name: root, path: `/${root}`, depth: 0, components }
    : { name: `Object${index}`, path: `/${root}/Object${index}`, depth: 1, components };
};

/** The same value for the same object, so that two reads agree. */
const noiseOf = (index: number, bytes: number): string =>
  createHash("shake256", { outputLength: bytes }).update(String(index)).digest("base64");

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
    const size = args.number("SimulatedSize", 20);
    const noise = args.number("SimulatedNoiseBytes", 0);
    const withComponents = args.flag("IncludeComponents", true);
    const withPaths = args.flag("IncludePaths", true);
    const { start, step, count } = args.flag("UseSelection", false)
      ? NOTHING
      : walk(size, args.text("RootPath", ""), args.number("MaxDepth", -1));
    const nodes = lazyList(count, (at) => {
      const index = start + at * step;
      const { name, path, depth, components } = node(index);
      return {
        name,
        ...(withPaths ? { path } : {}),
        depth: depth - node(start).depth,
        isActive: true,
        ...(withComponents ? { components } : {}),
        ...(noise > 0 ? { noise: noiseOf(index, noise) } : {}),
      };
    });
    return { sceneName: SCENE, scenes: [SCENE], nodeCount: count, nodes };
  },
});

/** Which objects a walk lists: so many from `start`, each `step` after the one before. */
interface Walk {
  start: number;
  step: number;
  count: number;
}

/** Nothing is selected in the simulator. */
const NOTHING: Walk = { start: 0, step: 1, count: 0 };

function walk(size: number, rootPath: string, maxDepth: number): Walk {
  const wanted = `/${rootPath.replace(/^\/+|\/+$/g, "")}`;
  if (wanted === "/") {
    return maxDepth === 0
      ? { start: 0, step: BELOW_ROOT, count: Math.ceil(size / BELOW_ROOT) }
      : { start: 0, step: 1, count: size };
  }
  for (let start = 0; start < size; start += 1) {
    if (node(start).path !== wanted) continue;
    const isTree = start % BELOW_ROOT === 0 && maxDepth !== 0;
    return { start, step: 1, count: isTree ? Math.min(BELOW_ROOT, size - start) : 1 };
  }
  throw toolFailure("game_object_not_found", `No open scene has an object ${rootPath}.`);
}

export const findGameObjects = bridgeTool("find-game-objects", {
  async run({ args }) {
    const named = nameFilter(args.text("SearchMode", "Exact"), args.text("NamePattern", ""));
    const wanted = args.texts("RequiredComponents");
    const isUntagged = ["", "Untagged"].includes(args.text("Tag", ""));
    const isDefaultLayer = args.number("Layer", 0) === 0;
    const found = Array.from({ length: BELOW_ROOT }, (_, index) => node(index)).filter(
      (one) => named(one) && wanted.every((type) => one.components.includes(type)),
    );
    const matching = isUntagged && isDefaultLayer ? found : [];
    const withProperties = args.flag("IncludeInheritedProperties", false);
    const results = matching.slice(0, args.number("MaxResults", 20)).map(({ name, path, components }) => ({
      name,
      path,
      scene: SCENE,
      isActive: true,
      tag: "Untagged",
      layer: 0,
      components,
      ...(withProperties ? { componentDetails: components.map(detailsOf) } : {}),
    }));
    return { totalFound: matching.length, results };
  },
});

const detailsOf = (Type: string): object => ({
  Type,
  FullTypeName: `UnityEngine.${Type}`,
  Properties: [{ Name: "tag", Type: "String", Value: "Untagged" }],
});

function nameFilter(mode: string, pattern: string): (one: SceneNode) => boolean {
  if (mode === "Selected") return () => false;
  if (pattern === "") return () => true;
  if (mode === "Path") return ({ path }) => path === `/${pattern.replace(/^\/+|\/+$/g, "")}`;
  if (mode === "Contains") return ({ name }) => name.includes(pattern);
  if (mode === "Exact") return ({ name }) => name === pattern;
  const expression = new RegExp(pattern);
  return ({ name }) => expression.test(name);
}

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
    const Path = args.text("Path");
    const Previous = world.values.get(Path) ?? null;
    const Value = args.value("Value") ?? null;
    world.values.set(Path, Value);
    world.assetCounter += 1;
    return { Path, Previous, Value };
  },
};

export const getProperty: SimulatedTool = {
  name: "get-property",
  description: "Simulator: reads a value that set-property has set.",
  inputSchema: parameters({ Path: { type: "string", description: "Where" } }, ["Path"]),
  effect: "read_only",
  ...QUICK_ON_MAIN,
  async run({ args, world }) {
    const Path = args.text("Path");
    return { Path, Exists: world.values.has(Path), Value: world.values.get(Path) ?? null };
  },
};
