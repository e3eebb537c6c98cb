/**
 * Where Editors are on this machine, and which version each is. The Hub's folders: docs.unity.cn/2019.1, Manual, "Installing the
 * Unity Hub" (Windows, macOS), and the Hub's own default on Linux. The Hub's notes: `secondaryInstallPath.json` (the chosen folder, a
 * JSON text) and `editors-v2.json`, earlier `editors.json` (Editors that were added by hand), as JetBrains/resharper-unity#850
 * describes them. Unity's own installers: `C:\Program Files\Unity 2022.3.56f1` (before 2018 `Unity`), `/Applications/Unity`,
 * `~/Unity-2018.3.0f2`.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface UnityPlaces {
  /** Folders of the Hub, with an installation for each version. */
  roots: string[];
  /** Folders in which Unity's own installers make one whose name begins with Unity. */
  standalone: string[];
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
  /** Undefined where nothing names it, or where what names it disagrees. */
  version: string | undefined;
  executable: string;
}

export function unityPlaces({ platform, env, home }: Machine): UnityPlaces {
  if (platform === "win32") {
    const programs = env.PROGRAMFILES ?? env.ProgramFiles ?? "C:\\Program Files";
    return {
      roots: [join(programs, "Unity", "Hub", "Editor")],
      standalone: [programs],
      config: join(env.APPDATA ?? join(home, "AppData", "Roaming"), "UnityHub"),
    };
  }
  if (platform === "darwin")
    return {
      roots: ["/Applications/Unity/Hub/Editor"],
      standalone: ["/Applications"],
      config: join(home, "Library", "Application Support", "UnityHub"),
    };
  return {
    roots: [join(home, "Unity", "Hub", "Editor")],
    standalone: [home, "/opt"],
    config: join(env.XDG_CONFIG_HOME ?? join(home, ".config"), "UnityHub"),
  };
}

/** Folders and executables that may be installations: those of the Hub first. */
export function knownPaths({ roots, standalone, config }: UnityPlaces, notes: readonly HubNote[]): string[] {
  const chosen = jsonIn(join(config, "secondaryInstallPath.json"));
  const folders = typeof chosen === "string" && chosen !== "" ? [chosen, ...roots] : roots;
  const installed = standalone
    .flatMap(foldersIn)
    .filter((path) => basename(path).toLowerCase().startsWith("unity"));
  return [...folders.flatMap(foldersIn), ...notes.map(({ location }) => location), ...installed];
}

/** What the Hub noted of an Editor. */
export interface HubNote {
  /** Its executable, or its bundle on macOS. */
  location: string;
  version: string | undefined;
}

/** `{data: [{version, location: [path]}]}`; before version 2 an object of `{version, location: [path]}`. */
export function hubNotes(config: string): HubNote[] {
  return ["editors-v2.json", "editors.json"].flatMap((name) => {
    const noted = jsonIn(join(config, name));
    if (typeof noted !== "object" || noted === null) return [];
    const entries = "data" in noted && Array.isArray(noted.data) ? noted.data : Object.values(noted);
    return entries.flatMap((entry: { version?: unknown; location?: unknown } | null) => {
      const version = typeof entry?.version === "string" ? entry.version : undefined;
      const locations = [entry?.location].flat().filter((location) => typeof location === "string");
      return locations.map((location) => ({ location, version }));
    });
  });
}

/**
 * The version of an executable, from all that names it: its folder's name, the bundle on macOS, the file `version` that images of build
 * servers keep beside it, and the Hub's notes. Undefined if nothing does, or if two disagree.
 */
export function versionOf(
  executable: string,
  noted: readonly (string | undefined)[] = [],
): string | undefined {
  const real = realPath(executable);
  const installed = dirname(dirname(real));
  const named = [
    ...versionsIn(installationName(executable)),
    ...versionsIn(installationName(real)),
    ...versionsIn(
      /<key>CFBundleVersion<\/key>\s*<string>([^<]*)</.exec(textOf(join(installed, "Info.plist")))?.[1],
    ),
    ...versionsIn(textOf(join(installed, "version"))),
    ...noted.flatMap(versionsIn),
  ];
  return new Set(named).size === 1 ? named[0] : undefined;
}

/** A path by which two names of one file are equal. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** What is not the installation's own name in the path of an executable. */
const PARTS = new Set(["Unity", "Unity.exe", "Editor", "MacOS", "Contents", "Unity.app"]);

/** `Unity 2022.3.56f1` of `C:\Program Files\Unity 2022.3.56f1\Editor\Unity.exe`. */
function installationName(executable: string): string {
  let path = executable;
  while (PARTS.has(basename(path))) path = dirname(path);
  return basename(path);
}

function versionsIn(text: string | undefined): string[] {
  return text?.match(/(?<![\d.])\d+\.\d+\.\d+[a-z]\d+(c\d+)?(?![a-z\d])/g) ?? [];
}

export function foldersIn(root: string): string[] {
  try {
    const paths = readdirSync(root).map((name) => join(root, name));
    return paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  } catch {
    return [];
  }
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(textOf(file));
  } catch {
    return undefined;
  }
}

/** Without a byte order mark; empty if it cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch {
    return "";
  }
}
