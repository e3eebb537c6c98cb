/** The simulated project: its assets, packages and platform. It survives a domain reload, as Unity's does. */
export interface Asset {
  guid: string;
  type: string;
}

export interface InstalledPackage {
  name: string;
  version: string;
  source: "BuiltIn" | "Registry" | "Git" | "Local";
  /** The URL or path of one that is not of a registry. */
  from?: string;
  isDirect: boolean;
}

export const FOLDER = "DefaultAsset";

const FIRST_ASSETS: Readonly<Record<string, string>> = {
  Assets: FOLDER,
  "Assets/Materials": FOLDER,
  "Assets/Materials/Stone.mat": "Material",
  "Assets/Scenes": FOLDER,
  "Assets/Scenes/SampleScene.unity": "SceneAsset",
  "Assets/Scripts": FOLDER,
  "Assets/Scripts/Player.cs": "MonoScript",
  "Assets/Textures": FOLDER,
  "Assets/Textures/Stone.png": "Texture2D",
};

const FIRST_PACKAGES: readonly InstalledPackage[] = [
  { name: "com.unity.ext.nunit", version: "2.0.5", source: "Registry", isDirect: false },
  { name: "com.unity.test-framework", version: "1.4.5", source: "Registry", isDirect: true },
  { name: "com.unity.ugui", version: "2.0.0", source: "BuiltIn", isDirect: true },
];

/** What a simulated Editor can build for. */
export const BUILD_TARGETS = [
  "Android",
  "iOS",
  "StandaloneLinux64",
  "StandaloneOSX",
  "StandaloneWindows64",
  "WebGL",
];

export const BUILD_PROFILES = ["Assets/Settings/Build Profiles/Demo.asset"];

export interface Project {
  readonly assets: Map<string, Asset>;
  packages: InstalledPackage[];
  buildTarget: string;
  /** Path of the active build profile. */
  buildProfile: string | undefined;
  add(path: string, type: string): void;
  /** A path with all that is below it; to nowhere is the trash. */
  move(from: string, to: string | undefined): void;
  copy(from: string, to: string): void;
}

export function createProject(): Project {
  const assets = new Map<string, Asset>();
  let made = 0;
  const below = (path: string): string[] =>
    [...assets.keys()].filter((key) => key === path || key.startsWith(`${path}/`));
  const project: Project = {
    assets,
    packages: FIRST_PACKAGES.map((one) => ({ ...one })),
    buildTarget: "Android",
    buildProfile: undefined,
    add(path, type) {
      made += 1;
      assets.set(path, { guid: made.toString(16).padStart(32, "0"), type });
    },
    move(from, to) {
      for (const path of below(from)) {
        const asset = assets.get(path);
        assets.delete(path);
        if (to !== undefined && asset) assets.set(to + path.slice(from.length), asset);
      }
    },
    copy(from, to) {
      for (const path of below(from))
        project.add(to + path.slice(from.length), assets.get(path)?.type ?? FOLDER);
    },
  };
  for (const [path, type] of Object.entries(FIRST_ASSETS)) project.add(path, type);
  return project;
}
