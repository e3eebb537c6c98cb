/** build-player: long, on the main thread, its phases as progress. */
import { parameters, type SimulatedTool, toolFailure } from "../tool-definition.js";

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
      world.phase = "ready";
    }
    if (args.flag("SimulatedFailure", false))
      throw toolFailure("build_failed", "The build failed with 1 error.");
    world.assetCounter += 1;
    return {
      Success: true,
      BuildTarget: target,
      OutputPath: `${args.text("OutputPath", "Builds")}/${target}`,
      TotalSeconds: seconds,
      TotalErrors: 0,
      TotalWarnings: 0,
    };
  },
};
