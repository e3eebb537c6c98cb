/** build-player: long, on the main thread, its phases as progress. Writes a small player where the project is on disk. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { toolFailure } from "../tool-definition.js";
import { restingPhase } from "../world.js";
import { knownTarget, refuseUnknown } from "./set-build-target.js";

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

export const buildPlayer = bridgeTool("build-player", {
  simulated: {
    Seconds: { type: "number", description: "how long it takes", minimum: 0, default: 3 },
    Failure: { type: "boolean", description: "fail in the last phase", default: false },
  },
  async run({ args, progress, wait, world }) {
    // A simulated Editor builds for every platform, whichever it is switched to.
    const target = knownTarget(args.text("BuildTarget"));
    const profile = args.text("BuildProfile", "");
    if (profile !== "") refuseOtherProfile(profile, world.project.buildProfile);
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
      TotalBytes: files.reduce((sum, { Bytes }) => sum + Bytes, 0),
      TotalErrors: 0,
      TotalWarnings: 0,
      Messages: [],
      TotalFiles: files.length,
      ...(args.flag("EveryFile", false) ? { Files: files } : {}),
      ...contentsOf(output, files, Math.min(args.number("IncludeFilesUpTo", 0), MOST_OF_FILE)),
    };
  },
});

function refuseOtherProfile(profile: string, active: string | undefined): void {
  refuseUnknown(profile);
  if (active === profile) return;
  throw toolFailure(
    "wrong_build_target",
    `The active build profile is ${active ?? "none"}, not ${profile}. Switch to it first with set-build-target. Nothing was built.`,
  );
}

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
