/** open-scene, save-scene and create-scene. */
import { nearest } from "../../shared/did-you-mean.js";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { makeNode, openScene, type Scene, type SceneWorld, sceneName } from "../scenes/scene-world.js";
import { toolFailure } from "../tool-definition.js";
import type { World } from "../world.js";

export const openSceneTool = bridgeTool("open-scene", {
  async run({ args, world }) {
    refuseInPlayMode(world);
    const { scenes } = world;
    const path = scenePath("Path", args.text("Path"));
    const known = sceneFiles(scenes);
    if (!known.includes(path)) {
      const meant = nearest(sceneName(path), known);
      throw toolFailure(
        "scene_not_found",
        `The project has no scene ${path}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`,
      );
    }
    const additive = args.text("Mode", "Single") === "Additive";
    const left = additive ? {} : leave(world, args.text("UnsavedScenes", "refuse").toLowerCase());
    openScene(scenes, path, additive);
    return { path, scenes: listed(scenes), ...left };
  },
});

function leave(world: World, unsaved: string): { saved?: string[]; discarded?: string[] } {
  const { scenes } = world;
  if (unsaved === "refuse") {
    refuseUnsaved(scenes, "Say save or discard with UnsavedScenes, or open the scene with Mode Additive.");
  }
  const dirty = scenes.scenes.filter((scene) => scene.dirty);
  if (dirty.length === 0) return {};
  if (unsaved === "save") return { saved: saveAll(world) };
  return { discarded: dirty.map(({ path }) => (path === "" ? sceneName(path) : path)) };
}

export const saveScene = bridgeTool("save-scene", {
  async run({ args, world }) {
    refuseInPlayMode(world);
    const [wanted, saveAs] = [args.text("Scene", ""), args.text("SaveAs", "")];
    if (wanted === "" && saveAs === "") return { saved: saveAll(world) };
    const scene = named(world.scenes, wanted);
    const path = saveAs === "" ? scene.path : scenePath("SaveAs", saveAs);
    if (path === "") {
      throw toolFailure(
        "scene_untitled",
        "That scene was never saved and has no path: give one with SaveAs.",
      );
    }
    if (path !== scene.path && sceneFiles(world.scenes).includes(path)) {
      throw toolFailure("scene_exists", `There is a scene ${path} already: choose another path.`);
    }
    save(world, scene, path);
    return { saved: [path] };
  },
});

export const createScene = bridgeTool("create-scene", {
  async run({ args, world }) {
    refuseInPlayMode(world);
    const { scenes } = world;
    const path = scenePath("Path", args.text("Path"));
    if (sceneFiles(scenes).includes(path)) {
      throw toolFailure("scene_exists", `There is a scene ${path} already: open-scene opens it.`);
    }
    const additive = args.text("Mode", "Single") === "Additive";
    if (!additive) refuseUnsaved(scenes, "Save them with save-scene first.");
    else if (scenes.scenes.some((scene) => scene.path === "")) throw untitled();
    const roots = args.flag("Empty", false)
      ? []
      : [makeNode(scenes, "Main Camera", "Camera"), makeNode(scenes, "Directional Light", "Light")];
    const made: Scene = { path: "", dirty: false, roots };
    scenes.scenes = additive ? [...scenes.scenes, made] : [made];
    save(world, made, path);
    return { path, scenes: listed(scenes) };
  },
});

function refuseInPlayMode({ playMode }: World): void {
  if (playMode.state === "Edit") return;
  throw toolFailure(
    "editor_is_playing",
    "Scenes cannot be opened, made or saved in play mode: leave it first (control-play-mode, Action: Exit).",
  );
}

function scenePath(parameter: string, path: string): string {
  const [first = "", ...rest] = path.split("/");
  const isPlain =
    rest.length > 0 && rest.every((part) => part.trim() !== "" && part !== "." && part !== "..");
  if (!["Assets", "Packages"].includes(first) || !isPlain || path.includes("\\")) {
    throw toolFailure(
      "invalid_arguments",
      `${parameter} must be below Assets/ or Packages/, as Assets/Scenes/Main.unity, not "${path}".`,
    );
  }
  return path.toLowerCase().endsWith(".unity") ? path : `${path}.unity`;
}

const sceneFiles = ({ files }: SceneWorld): string[] =>
  [...files.keys()].filter((path) => path.endsWith(".unity"));

const listed = ({ scenes }: SceneWorld): object[] =>
  scenes.map(({ path, dirty }, index) => ({
    name: sceneName(path),
    path,
    isDirty: dirty,
    isActive: index === 0,
  }));

function named({ scenes }: SceneWorld, wanted: string): Scene {
  const found = scenes.filter(
    (scene, index) => (wanted === "" && index === 0) || [scene.path, sceneName(scene.path)].includes(wanted),
  );
  const [only] = found;
  if (only && found.length === 1) return only;
  const open = scenes.map(({ path }) => (path === "" ? "Untitled (untitled)" : path)).join(", ");
  throw only
    ? toolFailure(
        "scene_ambiguous",
        `${found.length} open scenes are ${wanted}: give the path. Open are ${open}.`,
      )
    : toolFailure("scene_not_open", `No open scene is ${wanted}. Open are ${open}.`);
}

function saveAll(world: World): string[] {
  const dirty = world.scenes.scenes.filter((scene) => scene.dirty);
  if (dirty.some(({ path }) => path === "")) throw untitled();
  for (const scene of dirty) save(world, scene, scene.path);
  return dirty.map(({ path }) => path);
}

function save(world: World, scene: Scene, path: string): void {
  world.scenes.files.set(path, structuredClone(scene.roots));
  scene.path = path;
  scene.dirty = false;
  world.assetCounter += 1;
}

const untitled = (): Error =>
  toolFailure(
    "scene_untitled",
    "An open scene was never saved and has no path: save it first with save-scene and SaveAs.",
  );

function refuseUnsaved({ scenes }: SceneWorld, otherwise: string): void {
  const dirty = scenes
    .filter((scene) => scene.dirty)
    .map(({ path }) => (path === "" ? "An untitled scene" : path));
  if (dirty.length === 0) return;
  const have = dirty.length === 1 ? "has" : "have";
  throw toolFailure("unsaved_scenes", `${dirty.join(", ")} ${have} changes that are not saved. ${otherwise}`);
}
