/** build-player: long, on the main thread, its phases as progress. Writes a small player where the project is on disk. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parameters, type SimulatedTool, toolFailure } from "../tool-definition.js";
import { restingPhase } from "../world.js";

/** Most bytes of a file in the result. */
const MOST_OF_FILE = 256 * 1024;
/** The same of all files. */
const MOST_OF_ALL = 1024 * 1024;

const PHASES = [
  "Preparing",
  "Compiling scripts",
  "Building scenes",
  "Packaging assets",
  "Linking",
  "Post-processing",
];

export const buildPlayer: SimulatedTool = {
  name: "build-player",
  description: "Builds the player for a target platform.",
  inputSchema: parameters(
    {
      BuildTarget: {
        type: "string",
        description: "The platform",
        enum: ["Android", "iOS", "StandaloneLinux64", "StandaloneOSX", "StandaloneWindows64", "WebGL"],
      },
      OutputPath: { type: "string", description: "Where the player goes", default: "Builds" },
      Development: { type: "boolean", description: "A development build", default: false },
      EveryFile: {
        type: "boolean",
        description: "List every file of the player, with its size",
        default: false,
      },
      IncludeFilesUpTo: {
        type: "integer",
        description:
          "Put the contents of files up to this many bytes into the result, 1 MB in all; 0 for none. They are read as resources",
        minimum: 0,
        maximum: MOST_OF_FILE,
        default: 0,
      },
      SimulatedSeconds: {
        type: "number",
        description: "Simulator: how long it takes",
        minimum: 0,
        default: 3,
      },
      SimulatedFailure: { type: "boolean", description: "Simulator: fail in the last phase", default: false },
    },
    ["BuildTarget"],
  ),
  effect: "mutating",
  lane: "main",
  resumable: false,
  cancellable: true,
  executionClass: "long",
  blocksMainThread: true,
  async run({ args, progress, wait, world }) {
    const target = args.text("BuildTarget");
    const seconds = args.number("SimulatedSeconds", 3);
    world.phase = "building";
    try {
      for (const [index, phase] of PHASES.entries()) {
        progress({ progress: index, total: PHASES.length, message: phase, partialResult: { phase } });
        await wait(seconds / PHASES.length);
      }
    } finally {
      world.phase = restingPhase(world);
    }
    if (args.flag("SimulatedFailure", false))
      throw toolFailure("build_failed", "The build failed with 1 error.");
    world.assetCounter += 1;
    const output = resolve(world.projectPath, args.text("OutputPath", "Builds"), target);
    const files = player(existsSync(world.projectPath) ? output : undefined);
    return {
      Success: true,
      BuildTarget: target,
      OutputPath: output,
      TotalSeconds: seconds,
      TotalErrors: 0,
      TotalWarnings: 0,
      TotalFiles: files.length,
      ...(args.flag("EveryFile", false) ? { Files: files } : {}),
      ...contentsOf(output, files, Math.min(args.number("IncludeFilesUpTo", 0), MOST_OF_FILE)),
    };
  },
};

function contentsOf(output: string, files: readonly { Path: string; Bytes: number }[], upTo: number): object {
  if (upTo <= 0) return {};
  let left = MOST_OF_ALL;
  const FileContents = files.flatMap(({ Path, Bytes }) => {
    if (Bytes > Math.min(upTo, left)) return [];
    left -= Bytes;
    const Base64 = readFileSync(Path).toString("base64");
    return [{ Path: relative(output, Path).replaceAll(sep, "/"), Bytes, Base64 }];
  });
  return { FileContents };
}

/** What is written there; nothing where the project only exists in memory. */
function player(output: string | undefined): { Path: string; Bytes: number; Role: string }[] {
  if (output === undefined) return [];
  return Object.entries({ "Data/level0": "a level", Player: "a player" }).map(([name, text]) => {
    const path = join(output, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return { Path: path, Bytes: text.length, Role: "Simulated" };
  });
}
