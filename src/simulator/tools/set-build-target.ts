/** set-build-target: the platform or build profile that the simulated Editor is switched to. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { BUILD_PROFILES, BUILD_TARGETS } from "../project.js";
import { toolFailure } from "../tool-definition.js";
import type { World } from "../world.js";

/** What the simulated project's only profile is for. */
const TARGET_OF_PROFILE = "StandaloneLinux64";

export const setBuildTarget = bridgeTool("set-build-target", {
  simulated: {
    Seconds: { type: "number", description: "how long the import takes", minimum: 0, default: 0.1 },
    Reload: { type: "boolean", description: "reload the domain before it has ended", default: false },
  },
  async run({ args, progress, reload, wait, world }) {
    const { project } = world;
    const profile = args.text("BuildProfile", "") || undefined;
    const wanted = args.text("BuildTarget", "");
    if ((wanted === "") === (profile === undefined))
      throw toolFailure("invalid_arguments", "Give either BuildTarget or BuildProfile.");
    const target = profile === undefined ? knownTarget(wanted) : TARGET_OF_PROFILE;
    if (profile !== undefined) refuseUnknown(profile);
    const isSo = profile === undefined ? project.buildTarget === target : project.buildProfile === profile;
    if (!isSo) {
      refuseInPlayMode(world);
      progress({ progress: 0, total: 2, message: "Unity imports the assets" });
      await wait(args.number("SimulatedSeconds", 0.1));
      progress({ progress: 1, total: 2, message: "Unity compiles the scripts" });
      project.buildTarget = target;
      project.buildProfile = profile;
      if (args.flag("SimulatedReload", false)) await reload();
    }
    return {
      Success: true,
      BuildTarget: project.buildTarget,
      ...(project.buildProfile === undefined ? {} : { BuildProfile: project.buildProfile }),
      Changed: !isSo,
    };
  },
});

/** Unity's spelling of a platform; letter case does not count. */
export function knownTarget(wanted: string): string {
  const target = BUILD_TARGETS.find((one) => one.toLowerCase() === wanted.toLowerCase());
  if (target !== undefined) return target;
  throw toolFailure(
    "unsupported_build_target",
    `This Editor cannot build for ${wanted}. It can build for ${BUILD_TARGETS.join(", ")}.`,
  );
}

/** As in Unity, which keeps what follows a change for the end of play mode. */
export function refuseInPlayMode({ phase }: Pick<World, "phase">): void {
  if (phase !== "playing") return;
  throw toolFailure(
    "editor_is_playing",
    "The Editor is in play mode; leave it first (control-play-mode, Action: Exit). Nothing was changed.",
  );
}

export function refuseUnknown(profile: string): void {
  if (BUILD_PROFILES.includes(profile)) return;
  throw toolFailure(
    "build_profile_not_found",
    `There is no build profile ${profile}. The project has ${BUILD_PROFILES.join(", ")}.`,
  );
}
