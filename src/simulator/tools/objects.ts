/** create-game-object, modify-game-object and delete-game-object. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { shortName } from "../scenes/component-catalogue.js";
import {
  all,
  attach,
  edit,
  idOf,
  instanceOf,
  makeNode,
  pathOf,
  type SceneNode,
  type SceneWorld,
  sceneName,
  sceneOf,
} from "../scenes/scene-world.js";
import { componentType, rooted, target } from "../scenes/targets.js";
import { type Arguments, toolFailure } from "../tool-definition.js";
import type { World } from "../world.js";

const TAGS = ["Untagged", "Respawn", "MainCamera", "Player"];
const LAYERS = ["Default", "TransparentFX", "Ignore Raycast", "", "Water", "UI"];

const LOST_LATER = "The Editor is in play mode: this change is lost when play mode ends.";

/** What is told of an object that was changed. */
export function changed({ scenes: world, playMode }: World, node: SceneNode): object {
  const scene = sceneOf(world, node);
  scene.dirty = true;
  const told = { id: idOf(world, node), name: node.name, path: pathOf(node), scene: sceneName(scene.path) };
  return playMode.state === "Edit" ? told : { ...told, warning: LOST_LATER };
}

export const createGameObject = bridgeTool("create-game-object", {
  async run({ args, world }) {
    const { scenes } = world;
    const name = args.text("Name", "");
    const [primitive, prefab] = [args.text("Primitive", "None"), args.text("Prefab", "")];
    if (primitive !== "None" && prefab !== "") {
      throw toolFailure("invalid_arguments", "Give Primitive or Prefab, not both.");
    }
    if (prefab !== "" && (!prefab.endsWith(".prefab") || !scenes.files.has(prefab))) {
      throw toolFailure(
        "prefab_not_found",
        `There is no prefab ${prefab}: give its path, as Assets/Prefabs/Enemy.prefab.`,
      );
    }
    if (name.includes("/")) {
      throw toolFailure("invalid_arguments", "Name has a slash, which separates names in paths: use Parent.");
    }
    const parent = args.text("Parent", "").replaceAll("/", "") === "" ? undefined : args.text("Parent", "");
    const types = args.texts("Components").map(componentType);
    const placed = placement(args);
    return edit(scenes, () => {
      const below = parent === undefined ? undefined : target(scenes, parent, "Parent");
      const made =
        instanceOf(scenes, prefab) ??
        (primitive === "None"
          ? makeNode(scenes, "GameObject")
          : makeNode(scenes, primitive, "MeshFilter", "MeshRenderer", "BoxCollider"));
      if (name !== "") made.name = name;
      attach(made, below, scenes.scenes[0]);
      place(made, placed);
      for (const type of types) attachComponent(made, type);
      return changed(world, made);
    });
  },
});

export const modifyGameObject = bridgeTool("modify-game-object", {
  async run({ args, world }) {
    const { scenes } = world;
    const node = target(scenes, args.text("Target"));
    const given = {
      name: args.value("Name") === undefined ? undefined : args.text("Name"),
      tag: args.value("Tag") === undefined ? undefined : args.text("Tag"),
      layer: args.value("Layer") === undefined ? undefined : layerOf(args.text("Layer")),
      active: args.value("Active") === undefined ? undefined : args.flag("Active", true),
      parent: args.value("Parent") === undefined ? undefined : args.text("Parent"),
    };
    if (given.name === "" || given.name?.includes("/")) {
      throw toolFailure(
        "invalid_arguments",
        "Name must not be empty, and has no slash, which separates names in paths.",
      );
    }
    if (given.tag !== undefined && !TAGS.includes(given.tag)) {
      throw toolFailure("tag_not_found", `There is no tag ${given.tag}. There are ${TAGS.join(", ")}.`);
    }
    const placed = placement(args);
    const isWorld = args.text("Space", "Local") === "World";
    return edit(scenes, () => {
      if (given.parent !== undefined) move(scenes, node, given.parent, isWorld);
      node.name = given.name ?? node.name;
      node.tag = given.tag ?? node.tag;
      node.layer = given.layer ?? node.layer;
      node.active = given.active ?? node.active;
      const position =
        isWorld && placed.position ? plus(placed.position, worldOf(node.parent), -1) : undefined;
      place(node, position ? { ...placed, position } : placed);
      return changed(world, node);
    });
  },
});

export const deleteGameObject = bridgeTool("delete-game-object", {
  async run({ args, world }) {
    const { scenes } = world;
    const node = target(scenes, args.text("Target"));
    const answer = { count: [...all([node])].length, ...changed(world, node) };
    const siblings = node.parent?.children ?? sceneOf(scenes, node).roots;
    siblings.splice(siblings.indexOf(node), 1);
    return answer;
  },
});

/** Adds a type once if Unity allows no second; the component is the last one then. */
export function attachComponent(node: SceneNode, fullTypeName: string): void {
  const type = shortName(fullTypeName);
  if (["Transform", "Rigidbody"].includes(type) && node.components.some((one) => one.type === type)) {
    throw toolFailure("component_refused", `Unity does not add ${type} to ${node.name}: it allows one.`);
  }
  node.components.push(...makeNode({ scenes: [], files: new Map(), last: 0 }, "", type).components.slice(1));
}

function move(scenes: SceneWorld, node: SceneNode, given: string, keepsWorld: boolean): void {
  const scene = sceneOf(scenes, node);
  const parent = rooted(given) === "/" ? undefined : target(scenes, given, "Parent");
  if (parent && [...all([node])].includes(parent)) {
    throw toolFailure(
      "parent_is_below",
      `${given} is ${node.name} itself or below it, and cannot become its parent. Choose a Parent outside of it.`,
    );
  }
  const at = worldOf(node);
  attach(node, parent, scene);
  if (keepsWorld) place(node, { position: plus(at, worldOf(parent), -1) });
}

interface Placement {
  position?: number[] | undefined;
  rotation?: number[] | undefined;
  scale?: number[] | undefined;
}

const placement = (args: Arguments): Placement => ({
  position: three(args, "Position"),
  rotation: three(args, "Rotation"),
  scale: three(args, "Scale"),
});

function three(args: Arguments, name: string): number[] | undefined {
  const value = args.value(name);
  if (value === undefined || value === null) return undefined;
  const isNumbers = Array.isArray(value) && value.every((one) => typeof one === "number");
  if (isNumbers && value.length === 3) return value;
  const given = isNumbers ? value.length : JSON.stringify(value);
  throw toolFailure("invalid_arguments", `${name} must have 3 numbers, x, y and z, not ${given}.`);
}

function place(node: SceneNode, { position, rotation, scale }: Placement): void {
  const set = (name: string, value: number[] | undefined): void => {
    const property = node.components[0]?.properties.find((one) => one.name === name);
    if (property && value) property.value = value;
  };
  set("m_LocalPosition", position);
  set("m_LocalRotation", rotation && turned(rotation));
  set("m_LocalScale", scale);
}

/** The sum of the parents': rotations and scales turn and stretch nothing here. */
function worldOf(node: SceneNode | undefined): number[] {
  if (!node) return [0, 0, 0];
  const own = node.components[0]?.properties.find(({ name }) => name === "m_LocalPosition")?.value;
  return plus(own as number[], worldOf(node.parent), 1);
}

const plus = (left: readonly number[], right: readonly number[], sign: number): number[] =>
  left.map((one, axis) => one + sign * (right[axis] ?? 0));

/** The quaternion of Unity's Euler angles: around z, then x, then y. */
function turned(degrees: readonly number[]): number[] {
  const half = degrees.map((one) => (one * Math.PI) / 360);
  const [sx = 0, sy = 0, sz = 0] = half.map(Math.sin);
  const [cx = 1, cy = 1, cz = 1] = half.map(Math.cos);
  return [
    sx * cy * cz + cx * sy * sz,
    cx * sy * cz - sx * cy * sz,
    cx * cy * sz - sx * sy * cz,
    cx * cy * cz + sx * sy * sz,
  ].map(single);
}

/** The number of single precision, with the digits that it needs. */
function single(number: number): number {
  const rounded = Math.fround(number);
  const shortest = [6, 7, 8].find((digits) => Math.fround(Number(rounded.toPrecision(digits))) === rounded);
  return Number(rounded.toPrecision(shortest ?? 9));
}

function layerOf(layer: string): number {
  const named = LAYERS.indexOf(layer);
  if (layer !== "" && named >= 0) return named;
  if (/^\d+$/.test(layer) && Number(layer) < 32) return Number(layer);
  const known = LAYERS.flatMap((name, number) => (name === "" ? [] : [`${name} (${number})`]));
  throw toolFailure("layer_not_found", `There is no layer ${layer}. There are ${known.join(", ")}.`);
}
