/** What a person sees and clicks first: pictures, play mode, the Editor's state. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import type { Project } from "../project.js";
import { toolFailure } from "../tool-definition.js";
import type { PlayMode } from "../world.js";
import { pictureUpTo } from "./picture.js";

const WINDOWS = ["Scene", "Game", "Inspector", "Hierarchy", "Project", "Console"];

export const captureScreenshot = bridgeTool("capture-screenshot", {
  async run({ args }) {
    const View = args.text("View", "Game");
    if (View === "Window") refuseUnlessOpen(args.text("WindowTitle", ""));
    const { width, height, png } = pictureUpTo(args.number("MaxWidth", 1280));
    const content = [{ type: "image", mimeType: "image/png", data: png.toString("base64") }];
    return { View, Width: width, Height: height, content };
  },
});

function refuseUnlessOpen(title: string): void {
  const open = `Open are ${WINDOWS.join(", ")}.`;
  if (title === "")
    throw toolFailure("invalid_arguments", `WindowTitle is required when View is Window. ${open}`);
  if (!WINDOWS.some((one) => one.toLowerCase() === title.toLowerCase()))
    throw toolFailure("window_not_found", `No window ${title} is open. ${open}`);
}

export const controlPlayMode = bridgeTool("control-play-mode", {
  simulated: {
    Seconds: {
      type: "number",
      description: "how long entering and leaving take",
      minimum: 0,
      default: 0.05,
    },
    UnsavedScene: { type: "boolean", description: "the open scene has unsaved changes", default: false },
  },
  async run({ args, reload, wait, world }) {
    const { playMode } = world;
    const action = args.text("Action");
    const before = playMode.state;
    const isPlaying = before !== "Edit";
    const answer = (Changed: boolean, more: object = {}): object => ({
      State: playMode.state,
      Changed,
      ...(playMode.state === "Edit" ? {} : { Frame: playMode.frame }),
      ...more,
    });
    if (action === "State") return answer(false);
    if (action === "Enter" || action === "Exit") {
      const plays = action === "Enter";
      if (plays === isPlaying) return answer(false);
      if (plays && world.compileErrors.length > 0)
        throw toolFailure(
          "compile_errors",
          "The scripts do not compile: fix them; compile tells the errors.",
        );
      playMode.state = plays ? "Entering" : "Exiting";
      await wait(args.number("SimulatedSeconds", 0.05));
      if (plays) await reload();
      arrive(playMode, plays);
      const isUnsaved = plays && args.flag("SimulatedUnsavedScene", false);
      return answer(true, isUnsaved ? { UnsavedScenes: [SCENE.Path] } : {});
    }
    if (!isPlaying) throw toolFailure("not_playing", "Only play mode can be paused, resumed or stepped.");
    const from = playMode.frame;
    if (action === "Step") playMode.frame = stepped(from, args.value("ToFrame"));
    playMode.state = action === "Resume" ? "Playing" : "Paused";
    return answer(playMode.frame !== from || playMode.state !== before);
  },
});

function stepped(from: number, toFrame: unknown): number {
  if (typeof toFrame === "number") return Math.max(from, toFrame);
  throw toolFailure("invalid_arguments", `Step needs ToFrame, the frame to play up to; it is frame ${from}.`);
}

function arrive(playMode: PlayMode, plays: boolean): void {
  playMode.state = plays ? "Playing" : "Edit";
  playMode.frame = 0;
}

const SCENE = {
  Name: "SampleScene",
  Path: "Assets/Scenes/SampleScene.unity",
  IsLoaded: true,
  IsDirty: false,
  IsActive: true,
};

/** The parts that do not change, by the words of the parameter. */
const PARTS: Readonly<Record<string, object>> = {
  Scenes: { Scenes: [SCENE] },
  Selection: { SelectedCount: 1, Selection: [{ Name: "Root0", Type: "GameObject", Path: "/Root0" }] },
  Tags: { Tags: ["Untagged", "MainCamera", "Player"] },
  Layers: {
    Layers: ["Default", "TransparentFX", "Ignore Raycast", "", "Water", "UI"].flatMap((Name, Layer) =>
      Name === "" ? [] : [{ Layer, Name }],
    ),
  },
  BuildTarget: { BuildTarget: { Active: "Android", Supported: ["Android", "StandaloneLinux64"] } },
};

export const getEditorState = bridgeTool("get-editor-state", {
  async run({ args, world }) {
    const parts =
      args.value("Parts") === undefined ? ["Scenes", "Selection", "PlayMode"] : args.texts("Parts");
    const read = parts.map((part) => {
      if (part === "PlayMode") return { PlayMode: shown(world.playMode) };
      return part === "Packages" ? { Packages: direct(world.project) } : PARTS[part];
    });
    return Object.assign(
      { UnityVersion: world.unityVersion, ProjectPath: world.projectPath, Phase: world.phase },
      ...read,
    );
  },
});

const shown = ({ state, frame }: PlayMode): object => ({
  State: state,
  ...(state === "Edit" ? {} : { Frame: frame }),
});

const direct = ({ packages }: Project): object[] =>
  packages
    .filter(({ isDirect }) => isDirect)
    .map(({ name, version, source }) => ({ Name: name, Version: version, Source: source }));
