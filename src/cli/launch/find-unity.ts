/** Which Unity opens a project: only one of the project's own version, since another one would upgrade it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import {
  foldersIn,
  hubNotes,
  type Installation,
  knownPaths,
  type Machine,
  realPath,
  unityPlaces,
  versionOf,
} from "./installations.js";
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
  const places = unityPlaces(machine);
  const notes = hubNotes(places.config).map(({ location, version }) => ({
    location,
    version,
    executable: realPath(executable(location, machine.platform) ?? location),
  }));
  const installedAt = (path: string): Installation[] => {
    const found = executable(path, machine.platform);
    if (found === undefined) return [];
    const noted = notes.filter((note) => note.executable === realPath(found)).map(({ version }) => version);
    return [{ version: versionOf(found, noted), executable: found }];
  };
  const below = (path: string): Installation[] => [path, ...foldersIn(path)].flatMap(installedAt);
  const fitting = (found: Installation[]): Installation | undefined =>
    found.find(({ version }) => version === project.version);

  if (named !== undefined) {
    const there = below(named);
    return fitting(there) ?? { problem: refusal(project, `--unity ${named} has`, there) };
  }
  const own = configured === undefined ? [] : below(configured);
  const all = [...own, ...knownPaths(places, notes).flatMap(installedAt)];
  const searched = [
    ...(configured === undefined ? [] : [configured]),
    ...places.roots,
    ...places.standalone.map((folder) => join(folder, "Unity*")),
    places.config,
  ];
  return fitting(all) ?? { problem: refusal(project, `Searched ${searched.join(", ")}:`, all) };
}

/** What the project needs, what there is, and what to do. */
function refusal({ path, version, changeset }: UnityProject, where: string, found: Installation[]): string {
  const lines = [
    ...new Set(found.map((each) => `\n  ${each.version ?? "unknown version"}  ${each.executable}`)),
  ];
  const link = changeset === undefined ? "" : ` (unityhub://${version}/${changeset})`;
  const unknown = found.some((each) => each.version === undefined)
    ? `\nWhere the version is unknown: if it is ${version}, give the folder a name with that version, such as "Unity ${version}".`
    : "";
  return `${path} needs Unity ${version}: another version would upgrade the project. ${where} ${lines.length === 0 ? "no Unity." : `no Unity ${version}. Found:${lines.join("")}`}
Install ${version} with the Unity Hub${link}, or name where it is: --unity <path>, or UNITY_BROKER_UNITY.${unknown}`;
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
