/** Which Unity opens a project: only one of the project's own version, since another one would upgrade it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import {
  foldersIn,
  hubInstallations,
  hubPlaces,
  type Installation,
  type Machine,
  versionOf,
} from "./hub-places.js";
import type { UnityProject } from "./project.js";

export interface Choice {
  /** `--unity`. */
  named: string | undefined;
  /** UNITY_BROKER_UNITY. */
  configured: string | undefined;
}

export type Found = Installation | { problem: string };

/** `named` and `configured` are an executable, an installation, or a folder of installations. */
export function findUnity(project: UnityProject, { named, configured }: Choice, machine: Machine): Found {
  const executableIn = (path: string): string | undefined => executable(path, machine.platform);
  const below = (path: string): Installation[] =>
    [path, ...foldersIn(path)].flatMap((each) => {
      const found = executableIn(each);
      return found === undefined ? [] : { version: versionOf(found), executable: found };
    });
  if (named !== undefined) return chosen(project, below(named), `--unity ${named}`);
  if (configured !== undefined) {
    const own = chosen(project, below(configured), `UNITY_BROKER_UNITY=${configured}`);
    if ("executable" in own) return own;
  }
  const places = hubPlaces(machine);
  const known = hubInstallations(places, executableIn);
  const fitting = known.find(({ version }) => version === project.version);
  if (fitting) return fitting;
  const searched = [...(configured === undefined ? [] : [configured]), ...places.roots, places.config];
  const all = configured === undefined ? known : [...below(configured), ...known];
  return {
    problem: `No Unity ${project.version} was found for ${project.path}. ${have(all)}
Searched: ${searched.join(", ")}
${next(project)}`,
  };
}

/** An executable whose path names no version is believed: an image of a build server has one Unity only. */
function chosen(project: UnityProject, found: Installation[], where: string): Found {
  const fitting =
    found.find(({ version }) => version === project.version) ??
    found.find(({ version }) => version === undefined);
  if (fitting) return fitting;
  return {
    problem: `${where} has no Unity ${project.version}, which ${project.path} was saved with; another version would upgrade the project. ${have(found)}
${next(project)}`,
  };
}

function have(found: readonly Installation[]): string {
  const lines = [
    ...new Set(found.map(({ version, executable }) => `\n  ${version ?? "unknown version"}  ${executable}`)),
  ];
  return lines.length === 0 ? "No other version was found either." : `Found:${lines.join("")}`;
}

function next({ version, changeset }: UnityProject): string {
  const link = changeset === undefined ? "" : ` (unityhub://${version}/${changeset})`;
  return `Install ${version} with the Unity Hub${link}, or name it: --unity <path>, or UNITY_BROKER_UNITY.`;
}

/** A file, or what is at one of the places in an installation where the platform has it. */
function executable(path: string, platform: NodeJS.Platform): string | undefined {
  const within =
    platform === "win32"
      ? ["Editor/Unity.exe", "Unity.exe"]
      : platform === "darwin"
        ? ["Unity.app/Contents/MacOS/Unity", "Contents/MacOS/Unity"]
        : ["Editor/Unity", "Unity"];
  return [path, ...within.map((name) => join(path, name))].find(
    (each) => statSync(each, { throwIfNoEntry: false })?.isFile() === true,
  );
}
