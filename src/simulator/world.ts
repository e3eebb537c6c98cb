/** The content of the simulated project: console, values, counters. It survives a domain reload, but not a crash. */
import { createProject, type Project } from "./project.js";
import { createSceneWorld, type SceneWorld } from "./scenes/scene-world.js";

export interface LogLine {
  LogType: "Log" | "Warning" | "Error";
  Message: string;
  /** ms since the epoch. */
  At: number;
}

export interface PlayMode {
  state: "Edit" | "Entering" | "Playing" | "Paused" | "Exiting";
  /** How many frames were played. */
  frame: number;
}

export interface World {
  readonly project: Project;
  /** It need not be on disk. */
  readonly projectPath: string;
  readonly unityVersion: string;
  readonly logs: LogLine[];
  readonly values: Map<string, unknown>;
  /** The open scenes, and what is saved. */
  readonly scenes: SceneWorld;
  /** What it does at this moment; where that is nothing, play mode counts. */
  phase:
    | "ready"
    | "compiling"
    | "building"
    | "testing"
    | "changing_play_mode"
    | "playing"
    | "reloading"
    | "quitting"
    | "compile_errors";
  readonly playMode: PlayMode;
  /** Grows by one with every domain reload. */
  generation: number;
  /** Grows with everything that changes assets. */
  assetCounter: number;
  /** What the last compilation said, a line for each error; empty when the scripts compile. */
  compileErrors: readonly string[];
  /** How many tests fail: by the scripts on disk, and by the last compilation, which is what runs. */
  readonly failingTests: { edited: number; compiled: number };
  log(type: LogLine["LogType"], message: string): void;
  /** Hears every new line, until it is called off. */
  onLine(hear: (line: LogLine) => void): () => void;
}

/** The console keeps its newest lines, as the bridge's ring buffer does. */
const LOG_CAPACITY = 1000;

export function createWorld(
  now: () => number,
  { projectPath, unityVersion }: Pick<World, "projectPath" | "unityVersion">,
): World {
  const logs: LogLine[] = [];
  const playMode: PlayMode = { state: "Edit", frame: 0 };
  let phase: World["phase"] = "ready";
  const listeners = new Set<(line: LogLine) => void>();
  return {
    project: createProject(),
    projectPath,
    unityVersion,
    logs,
    values: new Map(),
    scenes: createSceneWorld(),
    get phase() {
      return phase === "ready" ? PHASES[playMode.state] : phase;
    },
    set phase(next) {
      phase = next;
    },
    playMode,
    generation: 0,
    assetCounter: 0,
    compileErrors: [],
    failingTests: { edited: 0, compiled: 0 },
    log(type, message) {
      const line = { LogType: type, Message: message, At: now() };
      logs.push(line);
      if (logs.length > LOG_CAPACITY) logs.shift();
      for (const hear of listeners) hear(line);
    },
    onLine(hear) {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
  };
}

const PHASES: Readonly<Record<PlayMode["state"], World["phase"]>> = {
  Edit: "ready",
  Entering: "changing_play_mode",
  Playing: "playing",
  Paused: "playing",
  Exiting: "changing_play_mode",
};

/** The phase while nothing is under way. */
export function restingPhase({ compileErrors }: Pick<World, "compileErrors">): World["phase"] {
  return compileErrors.length > 0 ? "compile_errors" : "ready";
}
