/** The scene tree: hierarchies of any size, search, and values that can be set and read back. */
import { createHash } from "node:crypto";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { boundedExpression } from "../expression.js";
import { lazyList } from "../results/result-text.js";
import { fullName } from "../scenes/component-catalogue.js";
import {
  all,
  BELOW_ROOT,
  FIRST_SCENE,
  idIn,
  idOf,
  isActive,
  objectsOf,
  pathOf,
  type SceneNode,
  type SceneWorld,
  sceneName,
  sceneOf,
} from "../scenes/scene-world.js";
import { rooted, targets } from "../scenes/targets.js";
import {
  type Arguments,
  parameters,
  QUICK_ON_MAIN,
  type SimulatedTool,
  toolFailure,
} from "../tool-definition.js";

interface ListedNode {
  id: string;
  name: string;
  path: string;
  depth: number;
  isActive: boolean;
  components: string[];
}

/** One of a scene that is as large as a test wants it. */
const listedAt = (index: number): ListedNode => {
  const root = `Root${Math.floor(index / BELOW_ROOT)}`;
  const isRoot = index % BELOW_ROOT === 0;
  return {
    id: idIn(FIRST_SCENE, index),
    name: isRoot ? root : `Object${index}`,
    path: isRoot ? `/${root}` : `/${root}/Object${index}`,
    depth: isRoot ? 0 : 1,
    isActive: true,
    components: index % 3 === 0 ? ["Transform", "Camera"] : ["Transform", "MeshRenderer"],
  };
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
  async run({ args, world }) {
    const size = args.value("SimulatedSize");
    const { scenes, count, at } = typeof size === "number" ? sized(args, size) : open(args, world.scenes);
    const noise = args.number("SimulatedNoiseBytes", 0);
    const withComponents = args.flag("IncludeComponents", true);
    const withPaths = args.flag("IncludePaths", true);
    const nodes = lazyList(count, (index) => {
      const { id, name, path, depth, isActive: active, components } = at(index);
      return {
        id,
        name,
        ...(withPaths ? { path } : {}),
        depth,
        isActive: active,
        ...(withComponents ? { components } : {}),
        ...(noise > 0 ? { noise: noiseOf(index, noise) } : {}),
      };
    });
    return { sceneName: scenes[0] ?? "", scenes, nodeCount: count, nodes };
  },
});

interface Listing {
  scenes: string[];
  count: number;
  at: (index: number) => ListedNode;
}

/** Nothing is selected in the simulator. */
const NOTHING: Listing = { scenes: [], count: 0, at: listedAt };

/** The open scenes, as the tools have changed them. */
function open(args: Arguments, world: SceneWorld): Listing {
  if (args.flag("UseSelection", false)) return NOTHING;
  const [rootPath, most] = [args.text("RootPath", ""), args.number("MaxDepth", -1)];
  const begin =
    rooted(rootPath) === "/" ? world.scenes.flatMap((scene) => scene.roots) : targets(world, rootPath);
  const first = begin[0] ? depthOf(begin[0]) : 0;
  const withInactive = args.flag("IncludeInactive", true);
  const nodes = [...all(begin)].filter(
    (one) => (withInactive || isActive(one)) && (most < 0 || depthOf(one) - first <= most),
  );
  const scenes = [...new Set(begin.map((one) => sceneName(sceneOf(world, one).path)))];
  return {
    scenes,
    count: nodes.length,
    at: (index) => {
      const one = nodes[index] as SceneNode;
      return { ...listed(world, one), depth: depthOf(one) - first };
    },
  };
}

const depthOf = (node: SceneNode): number => (node.parent ? depthOf(node.parent) + 1 : 0);

const listed = (world: SceneWorld, one: SceneNode): Omit<ListedNode, "depth"> => ({
  id: idOf(world, one),
  name: one.name,
  path: pathOf(one),
  isActive: isActive(one),
  components: one.components.map(({ type }) => type),
});

/** A scene of that size, of which nothing is kept. */
function sized(args: Arguments, size: number): Listing {
  if (args.flag("UseSelection", false)) return NOTHING;
  const scenes = [sceneName(FIRST_SCENE)];
  const wanted = rooted(args.text("RootPath", ""));
  const most = args.number("MaxDepth", -1);
  if (wanted === "/") {
    const step = most === 0 ? BELOW_ROOT : 1;
    return { scenes, count: Math.ceil(size / step), at: (index) => listedAt(index * step) };
  }
  for (let start = 0; start < size; start += 1) {
    if (listedAt(start).path !== wanted) continue;
    const isTree = start % BELOW_ROOT === 0 && most !== 0;
    const below = listedAt(start).depth;
    const at = (index: number): ListedNode => {
      const one = listedAt(start + index);
      return { ...one, depth: one.depth - below };
    };
    return { scenes, count: isTree ? Math.min(BELOW_ROOT, size - start) : 1, at };
  }
  throw toolFailure("game_object_not_found", `No open scene has an object ${args.text("RootPath", "")}.`);
}

export const findGameObjects = bridgeTool("find-game-objects", {
  async run({ args, world: { scenes } }) {
    const named = nameFilter(args.text("SearchMode", "Exact"), args.text("NamePattern", ""));
    const wanted = args.texts("RequiredComponents");
    const [tag, layer] = [args.text("Tag", ""), args.value("Layer")];
    const withInactive = args.flag("IncludeInactive", false);
    const found = objectsOf(scenes).filter(
      (one) =>
        named(one) &&
        (withInactive || isActive(one)) &&
        wanted.every((type) => one.components.some((component) => component.type === type)) &&
        (tag === "" || one.tag === tag) &&
        (layer === undefined || layer === null || one.layer === layer),
    );
    const withProperties = args.flag("IncludeInheritedProperties", false);
    const results = found.slice(0, args.number("MaxResults", 20)).map((one) => {
      const { id, name, path, isActive: active, components } = listed(scenes, one);
      return {
        ...{ id, name, path, scene: sceneName(sceneOf(scenes, one).path), isActive: active },
        ...{ tag: one.tag, layer: one.layer, components },
        ...(withProperties ? { componentDetails: components.map(detailsOf) } : {}),
      };
    });
    return { totalFound: found.length, results };
  },
});

const detailsOf = (Type: string): object => ({ Type, FullTypeName: fullName(Type), Properties: [] });

function nameFilter(mode: string, pattern: string): (one: SceneNode) => boolean {
  if (mode === "Selected") return () => false;
  if (pattern === "") return () => true;
  if (mode === "Path") return (one) => pathOf(one) === rooted(pattern);
  if (mode === "Contains") return ({ name }) => name.includes(pattern);
  if (mode === "Exact") return ({ name }) => name === pattern;
  const matches = boundedExpression("NamePattern", pattern);
  return ({ name }) => matches(name);
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
