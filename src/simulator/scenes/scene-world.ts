/** The scenes and prefabs of the simulated project. Like Unity's native side, a domain reload does not touch them. */
import { type Property, propertiesOf } from "./component-catalogue.js";

export interface Component {
  readonly type: string;
  properties: Property[];
}

export interface SceneNode {
  number: number;
  name: string;
  active: boolean;
  tag: string;
  layer: number;
  parent: SceneNode | undefined;
  children: SceneNode[];
  /** The first is the transform. */
  components: Component[];
}

export interface Scene {
  /** Empty while it was never saved. */
  path: string;
  dirty: boolean;
  roots: SceneNode[];
}

export interface SceneWorld {
  /** The open scenes; the first is the active one. */
  scenes: Scene[];
  /** What is saved, by path: the roots of scenes, the root of a prefab. */
  readonly files: Map<string, SceneNode[]>;
  /** The number of the object that was made last. */
  last: number;
}

export const FIRST_SCENE = "Assets/Scenes/SampleScene.unity";
/** Every hundredth object of the first scene is a root; the others are below it. */
export const BELOW_ROOT = 100;
const OBJECTS = 20;

export function createSceneWorld(): SceneWorld {
  const world: SceneWorld = { scenes: [], files: new Map(), last: 1000 };
  const enemy = makeNode(world, "Enemy", "BoxCollider", "Mover");
  attach(makeNode(world, "Gun"), enemy);
  world.files.set("Assets/Prefabs/Enemy.prefab", [enemy]);
  world.files.set("Assets/Scenes/Menu.unity", [makeNode(world, "Menu Camera", "Camera")]);
  const roots: SceneNode[] = [];
  for (let index = 0; index < OBJECTS; index += 1) {
    const isRoot = index % BELOW_ROOT === 0;
    const name = isRoot ? `Root${index / BELOW_ROOT}` : `Object${index}`;
    const made = makeNode(world, name, index % 3 === 0 ? "Camera" : "MeshRenderer");
    if (isRoot) roots.push(made);
    else attach(made, roots.at(-1));
  }
  world.files.set(FIRST_SCENE, roots);
  openScene(world, FIRST_SCENE, false);
  return world;
}

export function makeNode(world: SceneWorld, name: string, ...types: string[]): SceneNode {
  world.last += 1;
  const components = ["Transform", ...types].map((type) => ({ type, properties: propertiesOf(type) }));
  const made = { name, active: true, tag: "Untagged", layer: 0, parent: undefined, children: [], components };
  return { number: world.last, ...made };
}

/** Another object like the one of that file. */
export function instanceOf(world: SceneWorld, prefab: string): SceneNode | undefined {
  const copy = structuredClone(world.files.get(prefab))?.[0];
  for (const one of copy ? all([copy]) : []) {
    world.last += 1;
    one.number = world.last;
  }
  return copy;
}

export function openScene(world: SceneWorld, path: string, additive: boolean): void {
  if (!additive) world.scenes = [];
  if (world.scenes.some((scene) => scene.path === path)) return;
  world.scenes.push({ path, dirty: false, roots: structuredClone(world.files.get(path) ?? []) });
}

/** Takes the object from where it is to a parent, or to the roots of a scene. */
export function attach(node: SceneNode, parent: SceneNode | undefined, scene?: Scene): void {
  const siblings = node.parent?.children ?? scene?.roots ?? [];
  if (siblings.includes(node)) siblings.splice(siblings.indexOf(node), 1);
  node.parent = parent;
  if (parent) parent.children.push(node);
  else scene?.roots.push(node);
}

/** The objects and all below them, parents before their children. */
export function* all(roots: readonly SceneNode[]): Generator<SceneNode> {
  const open = [...roots].reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    open.push(...[...next.children].reverse());
  }
}

export const objectsOf = (world: SceneWorld): SceneNode[] => [
  ...all(world.scenes.flatMap((scene) => scene.roots)),
];

export function sceneOf(world: SceneWorld, node: SceneNode): Scene {
  let root = node;
  while (root.parent) root = root.parent;
  const scene = world.scenes.find(({ roots }) => roots.includes(root));
  if (!scene) throw new Error(`${node.name} is in no open scene.`);
  return scene;
}

export const sceneName = (path: string): string =>
  path === "" ? "Untitled" : path.slice(path.lastIndexOf("/") + 1).replace(/\.unity$/, "");

export const pathOf = (node: SceneNode): string => `${node.parent ? pathOf(node.parent) : ""}/${node.name}`;

export const isActive = (node: SceneNode): boolean =>
  node.active && (node.parent === undefined || isActive(node.parent));

/** As Unity's bridge makes ids: one of a saved scene names the scene too. */
export function idOf(world: SceneWorld, node: SceneNode): string {
  const { path } = sceneOf(world, node);
  return path === "" ? `#${node.number}` : idIn(path, node.number);
}

export function idIn(path: string, number: number): string {
  let hash = 0x811c9dc5;
  for (const letter of path) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return `${number}@${hash.toString(16).padStart(8, "0")}`;
}

/** Runs an edit; if it fails, the scenes are as before. */
export function edit<Result>(world: SceneWorld, act: () => Result): Result {
  const before = structuredClone(world.scenes);
  try {
    return act();
  } catch (error) {
    world.scenes = before;
    throw error;
  }
}
