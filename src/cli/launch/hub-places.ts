/**
 * Where the Unity Hub puts Editors, and where it notes that. The folders: docs.unity.cn/2019.1, Manual, "Installing the Unity Hub"
 * (Windows, macOS), and the Hub's own default on Linux. The notes: `secondaryInstallPath.json` (the chosen folder, a JSON text) and
 * `editors-v2.json`, earlier `editors.json` (Editors that were added by hand), as JetBrains/resharper-unity#850 describes them.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface HubPlaces {
  /** Folders with an installation for each version. */
  roots: string[];
  /** The Hub's notes. */
  config: string;
}

export interface Machine {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
}

/** An installed Editor. */
export interface Installation {
  /** As its folder is called; undefined where no folder has the name of a version. */
  version: string | undefined;
  executable: string;
}

export function hubPlaces({ platform, env, home }: Machine): HubPlaces {
  if (platform === "win32")
    return {
      roots: [join(env.PROGRAMFILES ?? env.ProgramFiles ?? "C:\\Program Files", "Unity", "Hub", "Editor")],
      config: join(env.APPDATA ?? join(home, "AppData", "Roaming"), "UnityHub"),
    };
  if (platform === "darwin")
    return {
      roots: ["/Applications/Unity/Hub/Editor"],
      config: join(home, "Library", "Application Support", "UnityHub"),
    };
  return {
    roots: [join(home, "Unity", "Hub", "Editor")],
    config: join(env.XDG_CONFIG_HOME ?? join(home, ".config"), "UnityHub"),
  };
}

/** All that the Hub knows, those of its folders first. */
export function hubInstallations(
  { roots, config }: HubPlaces,
  executableIn: (path: string) => string | undefined,
): Installation[] {
  const chosen = jsonIn(join(config, "secondaryInstallPath.json"));
  const folders = typeof chosen === "string" && chosen !== "" ? [chosen, ...roots] : roots;
  const listed = ["editors-v2.json", "editors.json"].flatMap((name) =>
    locationsIn(jsonIn(join(config, name))),
  );
  return [...folders.flatMap((root) => foldersIn(root)), ...listed].flatMap((path) => {
    const executable = executableIn(path);
    return executable === undefined ? [] : { version: versionOf(executable), executable };
  });
}

/** Of the installation that an executable belongs to, from its path. */
export function versionOf(executable: string): string | undefined {
  for (let path = executable; path !== dirname(path); path = dirname(path)) {
    if (/^\d+\.\d+\.\d+[a-z]\d+(c\d+)?$/.test(basename(path))) return basename(path);
  }
  return undefined;
}

export function foldersIn(root: string): string[] {
  try {
    const paths = readdirSync(root).map((name) => join(root, name));
    return paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  } catch {
    return [];
  }
}

/** `{data: [{location: [path]}]}`; before version 2 an object of `{location: [path]}`. */
function locationsIn(noted: unknown): string[] {
  if (typeof noted !== "object" || noted === null) return [];
  const entries = "data" in noted && Array.isArray(noted.data) ? noted.data : Object.values(noted);
  return entries.flatMap((entry: { location?: unknown } | null) =>
    [entry?.location].flat().filter((location): location is string => typeof location === "string"),
  );
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
