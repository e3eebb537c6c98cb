/** Which Unity opens a project, on each platform: what is named, what is configured, and what the Hub has. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findUnity } from "../../../../src/cli/launch/find-unity.js";
import { unityPlaces } from "../../../../src/cli/launch/installations.js";
import { readProject, type UnityProject } from "../../../../src/cli/launch/project.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-unity-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text = ""): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

const PROJECT: UnityProject = {
  path: "/game",
  editorId: "game@1",
  version: "2022.3.20f1",
  changeset: undefined,
  hasBridge: true,
};
const find = (
  choice: { named?: string; configured?: string } = {},
  platform: NodeJS.Platform = "linux",
  env: Record<string, string> = {},
) =>
  findUnity(PROJECT, { named: undefined, configured: undefined, ...choice }, { platform, env, home: folder });

test("the places of the Hub and of Unity's own installers", () => {
  expect(unityPlaces({ platform: "linux", env: {}, home: "/home/ann" })).toEqual({
    roots: ["/home/ann/Unity/Hub/Editor"],
    standalone: ["/home/ann", "/opt"],
    config: "/home/ann/.config/UnityHub",
  });
  expect(unityPlaces({ platform: "darwin", env: {}, home: "/Users/ann" })).toEqual({
    roots: ["/Applications/Unity/Hub/Editor"],
    standalone: ["/Applications"],
    config: "/Users/ann/Library/Application Support/UnityHub",
  });
  const env = { PROGRAMFILES: "C:/Program Files", APPDATA: "C:/R" };
  expect(unityPlaces({ platform: "win32", env, home: "" })).toEqual({
    roots: ["C:/Program Files/Unity/Hub/Editor"],
    standalone: ["C:/Program Files"],
    config: "C:/R/UnityHub",
  });
});

const BOM = "\uFEFF";
const NOTES = ".config/UnityHub/editors-v2.json";
const noteOf = (...data: unknown[]): string => JSON.stringify({ schema_version: "v2", data });
const plist = (version: string): string =>
  `<plist><dict>\n\t<key>CFBundleVersion</key>\n\t<string>${version}</string>\n</dict></plist>`;

const unityIn = (name: string): string => join(folder, name, "Editor/Unity");
/** Each folder, with what is said of it, and whether it may open a project of 2022.3.20f1. */
const NAMED: [string, boolean, (() => void)?][] = [
  ["Unity 2022.3.20f1", true],
  ["unity_2022.3.20f1-x86_64", true],
  ["2022.3.20f1/Unity", true],
  ["Unity 6000.0.23f1", false],
  ["Unity 2022.3.20f1c1", false],
  ["Unity 2022.3.20f12", false],
  ["Unity 12022.3.20f1", false],
  ["from 2022.3.20f1 to 6000.0.23f1", false],
  // A folder further up says nothing of what is in it.
  ["2022.3.20f1/tools/unity", false],
  ["unity", false],
  ["noted", true, () => file(NOTES, BOM + noteOf({ version: "2022.3.20f1", location: [unityIn("noted")] }))],
  [
    "old",
    true,
    () =>
      file(
        ".config/UnityHub/editors.json",
        JSON.stringify({ x: { version: "2022.3.20f1", location: unityIn("old") } }),
      ),
  ],
  ["newer", false, () => file(NOTES, noteOf({ version: "6000.0.23f1", location: [unityIn("newer")] }))],
  [
    "2022.3.20f1",
    false,
    () => file(NOTES, noteOf({ version: "6000.0.23f1", location: [unityIn("2022.3.20f1")] })),
  ],
  ["image", true, () => file("image/version", "2022.3.20f1\n")],
  ["image/2022.3.20f1", false, () => file("image/2022.3.20f1/version", "2021.3.1f1\n")],
];

test.each(NAMED)("an installation in the folder %s may open the project: %s", (name, fits, more) => {
  const unity = file(`${name}/Editor/Unity`);
  more?.();
  for (const named of [unity, join(folder, name)]) {
    const expected = fits
      ? { version: "2022.3.20f1", executable: unity }
      : { problem: expect.stringContaining(unity) };
    expect(find({ named })).toEqual(expected);
    expect(find({ configured: named })).toEqual(expected);
  }
});

test("a link counts by its own name and by what it leads to", () => {
  const real = dirname(dirname(file("Unity 6000.0.23f1/Editor/Unity")));
  symlinkSync(real, join(folder, "2022.3.20f1"));
  expect(find({ named: join(folder, "2022.3.20f1") })).toHaveProperty("problem");
  const own = dirname(dirname(file("Unity 2022.3.20f1/Editor/Unity")));
  symlinkSync(own, join(folder, "current"));
  expect(find({ named: join(folder, "current") })).toMatchObject({ version: "2022.3.20f1" });
});

test("a byte order mark before what the Hub and Unity wrote", () => {
  const chosen = file("disk/2022.3.20f1/Editor/Unity");
  file(".config/UnityHub/secondaryInstallPath.json", BOM + JSON.stringify(join(folder, "disk")));
  expect(find()).toMatchObject({ executable: chosen });
  file("Game/ProjectSettings/ProjectVersion.txt", `${BOM}m_EditorVersion: 2022.3.20f1\r\n`);
  expect(readProject(join(folder, "Game"))).toMatchObject({ version: "2022.3.20f1" });
});

test("the folder of the Hub, the one that a person chose there, and Editors that were added", () => {
  expect(find()).toMatchObject({
    problem: expect.stringMatching(/needs Unity 2022\.3\.20f1[\s\S]* no Unity\.\nInstall/),
  });
  const added = file("added/2022.3.20f1/Editor/Unity");
  file(
    ".config/UnityHub/editors-v2.json",
    JSON.stringify({ schema_version: "v2", data: [{ location: [added] }, null] }),
  );
  expect(find()).toMatchObject({ executable: added });
  const own = file("Unity/Hub/Editor/2022.3.20f1/Editor/Unity");
  file("Unity/Hub/Editor/2021.3.1f1/Editor/Unity");
  file("Unity/Hub/Editor/.DS_Store");
  expect(find()).toEqual({ version: "2022.3.20f1", executable: own });
  const chosen = file("disk/2022.3.20f1/Editor/Unity");
  file(".config/UnityHub/secondaryInstallPath.json", JSON.stringify(join(folder, "disk")));
  expect(find()).toMatchObject({ executable: chosen });
  for (const text of ['""', "not JSON", "{}"]) {
    file(".config/UnityHub/secondaryInstallPath.json", text);
    expect(find()).toMatchObject({ executable: own });
  }
});

test("macOS and Windows have it at other places of an installation", () => {
  const mac = file("mac/2022.3.20f1/Unity.app/Contents/MacOS/Unity");
  const app = join(folder, "mac/2022.3.20f1/Unity.app");
  for (const named of [mac, app, dirname(app), join(folder, "mac")])
    expect(find({ named }, "darwin")).toMatchObject({ executable: mac, version: "2022.3.20f1" });
  const windows = file("Unity/Hub/Editor/2022.3.20f1/Editor/Unity.exe");
  expect(find({}, "win32", { PROGRAMFILES: folder })).toMatchObject({ executable: windows });
  rmSync(windows);
  const standalone = file("Unity 2022.3.20f1/Editor/Unity.exe");
  file("Unity 6000.0.23f1/Editor/Unity.exe");
  expect(find({}, "win32", { PROGRAMFILES: folder })).toMatchObject({ executable: standalone });
});

test("macOS: the bundle says which version it is, whatever its folder is called", () => {
  const unity = file("Unity/Unity.app/Contents/MacOS/Unity");
  const named = join(folder, "Unity");
  expect(find({ named }, "darwin")).toHaveProperty("problem");
  file("Unity/Unity.app/Contents/Info.plist", plist("2022.3.20f1"));
  expect(find({ named }, "darwin")).toEqual({ version: "2022.3.20f1", executable: unity });
  file("Unity/Unity.app/Contents/Info.plist", plist("6000.0.23f1"));
  expect(find({ named }, "darwin")).toMatchObject({ problem: expect.stringMatching(/6000\.0\.23f1 {2}\//) });
});

test("what is named goes before what is configured, and another version is refused", () => {
  const hub = file("Unity/Hub/Editor/2022.3.20f1/Editor/Unity");
  const other = file("other/6000.0.30f1/Editor/Unity");
  const unknown = file("opt/unity/Editor/Unity");
  expect(find({ configured: join(folder, "other") })).toMatchObject({ executable: hub });
  expect(find({ named: other, configured: hub })).toEqual({
    problem: `/game needs Unity 2022.3.20f1: another version would upgrade the project. --unity ${other} has no Unity 2022.3.20f1. Found:
  6000.0.30f1  ${other}
Install 2022.3.20f1 with the Unity Hub, or name where it is: --unity <path>, or UNITY_BROKER_UNITY.`,
  });
  expect(find({ named: unknown })).toMatchObject({
    problem: expect.stringMatching(
      /unknown version {2}\/[\s\S]*give the folder a name with that version, such as "Unity 2022\.3\.20f1"/,
    ),
  });
  rmSync(hub);
  expect(find({ configured: join(folder, "other") })).toMatchObject({
    problem: expect.stringMatching(/Searched [\s\S]*no Unity 2022\.3\.20f1\. Found:\n {2}6000\.0\.30f1/),
  });
});
