/** Which Unity opens a project, on each platform: what is named, what is configured, and what the Hub has. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findUnity } from "../../../../src/cli/launch/find-unity.js";
import { hubPlaces, versionOf } from "../../../../src/cli/launch/hub-places.js";
import type { UnityProject } from "../../../../src/cli/launch/project.js";

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

test("the Hub's places", () => {
  expect(hubPlaces({ platform: "linux", env: {}, home: "/home/ann" })).toEqual({
    roots: ["/home/ann/Unity/Hub/Editor"],
    config: "/home/ann/.config/UnityHub",
  });
  expect(hubPlaces({ platform: "darwin", env: {}, home: "/Users/ann" })).toEqual({
    roots: ["/Applications/Unity/Hub/Editor"],
    config: "/Users/ann/Library/Application Support/UnityHub",
  });
  const windows = hubPlaces({
    platform: "win32",
    env: { PROGRAMFILES: "C:/Program Files", APPDATA: "C:/R" },
    home: "",
  });
  expect(windows).toEqual({ roots: ["C:/Program Files/Unity/Hub/Editor"], config: "C:/R/UnityHub" });
});

test("a version is the name of a folder around the executable", () => {
  expect(versionOf("/opt/6000.0.30f1/Editor/Unity")).toBe("6000.0.30f1");
  expect(versionOf("/opt/2022.3.20f1c1/Editor/Unity")).toBe("2022.3.20f1c1");
  expect(versionOf("/opt/unity/Editor/Unity")).toBeUndefined();
});

test("the folder of the Hub, the one that a person chose there, and Editors that were added", () => {
  expect(find()).toMatchObject({ problem: expect.stringContaining("No other version was found") });
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
});

test("what is named goes before what is configured, and another version is refused", () => {
  const hub = file("Unity/Hub/Editor/2022.3.20f1/Editor/Unity");
  const image = file("opt/unity/Editor/Unity");
  const other = file("other/6000.0.30f1/Editor/Unity");
  expect(find({ named: join(folder, "opt/unity") })).toEqual({ version: undefined, executable: image });
  expect(find({ configured: image })).toMatchObject({ executable: image });
  expect(find({ configured: join(folder, "other") })).toMatchObject({ executable: hub });
  expect(find({ named: other, configured: image })).toMatchObject({
    problem: expect.stringMatching(
      /would upgrade the project[\s\S]*6000\.0\.30f1 {2}\/[\s\S]*Install 2022\.3\.20f1/,
    ),
  });
  rmSync(hub);
  expect(find({ configured: join(folder, "other") })).toMatchObject({
    problem: expect.stringMatching(/No Unity 2022\.3\.20f1 was found[\s\S]*6000\.0\.30f1/),
  });
});
