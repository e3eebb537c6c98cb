/** The manifest of what a step has produced: which files are read, how far, and what is said of those that are not. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BrokerClient } from "../../../../src/cli/client/broker-client.js";
import { type ArtifactLimits, createArtifacts } from "../../../../src/cli/run/artifacts/manifest.js";
import { editorIdOf } from "../../../../src/shared/editors/editor-id.js";
import type { Answer } from "../../../../src/shared/operation/answer.js";

let folder: string;
let project: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-artifacts-")));
  project = join(folder, "Game");
  mkdirSync(project);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What the manifest says of a result; the Editor is of this machine unless another is named. */
async function manifest(
  result: Record<string, unknown>,
  {
    limits,
    editor = editorIdOf(basename(project), hostname(), project),
    signal = new AbortController().signal,
  }: { limits?: ArtifactLimits; editor?: string; signal?: AbortSignal } = {},
) {
  let written: string | undefined;
  const artifacts = createArtifacts({
    file: {
      write(text) {
        written = text;
      },
    },
    folder: "./Unity/",
    ...(limits ? { limits } : {}),
  });
  const answer = { status: "completed", state: "completed", message: "", editor, result } as Answer;
  const client = {
    call: async () => ({ editors: [{ id: editor, project_path: project }] }),
  } as unknown as BrokerClient;
  const reported = await artifacts.report(answer, client, signal);
  return { ...reported, ...(written === undefined ? {} : { manifest: JSON.parse(written) }) };
}

test("files of this machine are hashed, others are as they were reported", async () => {
  const apk = file("Game/Builds/Game.apk", "an apk");
  const out = file("out/WebGL/index.html", "a page");
  const Files = [
    { Path: apk, Bytes: 6, Role: "Player" },
    { Path: "Builds/gone", Bytes: 3 },
    { Path: out, Bytes: 9 },
    { Path: 1 },
    null,
  ];
  const result = { Files, OutputPath: join(folder, "out", "WebGL") };
  const here = await manifest(result);
  expect(here).toMatchObject({
    isMissing: false,
    isUnwritten: false,
    manifest: { checked_here: true, total_bytes: 12 },
  });
  expect(here.manifest.files).toEqual([
    { path: "Unity/Builds/Game.apk", state: "hashed", bytes: 6, sha256: sha("an apk"), role: "Player" },
    { path: "Unity/Builds/gone", state: "missing", bytes: 3 },
    { path: out, state: "changed", bytes: 6, sha256: sha("a page"), reported_bytes: 9 },
  ]);
  expect(here.lines[0]).toBe("3 artefacts, 2 hashed here");
  // The same path on another machine is another file.
  const elsewhere = await manifest(result, { editor: "game@00000000" });
  expect(elsewhere).toMatchObject({ isMissing: false, manifest: { checked_here: false } });
  expect(elsewhere.manifest.files[0]).toEqual({
    path: "Unity/Builds/Game.apk",
    state: "reported",
    bytes: 6,
    role: "Player",
  });
});

test("nothing outside the project and the output folder is read, wherever links lead", async () => {
  const secret = file("home/secret", "a secret");
  file("out/player", "a player");
  file("beside/level", "a level");
  mkdirSync(join(project, "Builds"));
  symlinkSync(secret, join(project, "Builds", "link"));
  symlinkSync(join(folder, "home"), join(project, "Builds", "folder"));
  symlinkSync(join(folder, "nowhere"), join(project, "Builds", "dangling"));
  symlinkSync(file("Game/Library/real", "real"), join(project, "Builds", "inner"));
  execFileSync("mkfifo", [join(project, "Builds", "pipe")]);
  const paths = [
    "Builds/link",
    "Builds/folder/secret",
    "../home/secret",
    secret,
    "../beside/level",
    "Builds",
    "Builds/pipe",
  ];
  const Files = [...paths, "Builds/dangling", "Builds/inner", "../out/player"].map((Path) => ({ Path }));
  const { manifest: said } = await manifest({ Files, OutputPath: "../out/player" });
  const states = (said.files as { state: string }[]).map(({ state }) => state);
  expect(states).toEqual([...paths.map(() => "refused"), "missing", "hashed", "hashed"]);
  expect(JSON.stringify(said)).not.toContain(sha("a secret"));
});

test("so many files, and so many bytes, and the rest is said", async () => {
  for (const name of ["a", "b", "c", "d"]) file(`Game/Builds/${name}`, "12345");
  const Files = ["a", "b", "c", "d"].map((name) => ({ Path: `Builds/${name}` }));
  const few = await manifest({ Files, TotalFiles: 9 }, { limits: { files: 3, bytes: 100 } });
  expect(few.manifest).toMatchObject({ files: [{}, {}, {}], left_out: 6 });
  expect(few.lines.at(-1)).toContain("6 more files are not in the manifest");
  const short = await manifest({ Files }, { limits: { files: 10, bytes: 12 } });
  const states = (short.manifest.files as { state: string }[]).map(({ state }) => state);
  expect(states).toEqual(["hashed", "hashed", "too_large", "too_large"]);
  expect(short.lines.join()).toContain("not hashed, too many bytes:");
});

test("nothing produced is said so; what cannot be read is no manifest", async () => {
  expect(await manifest({ Success: true })).toMatchObject({ isMissing: true, manifest: { files: [] } });
  const gone = await manifest({ Files: [{ Path: "Builds/gone" }] });
  expect(gone).toMatchObject({ isMissing: true, manifest: { files: [{ state: "missing" }] } });
  file("Game/Builds/a", "12345");
  const given = await manifest({ Files: [{ Path: "Builds/a" }] }, { signal: AbortSignal.abort() });
  expect(given).toMatchObject({ isUnwritten: true, lines: [expect.stringContaining("was not written")] });
  expect(given).not.toHaveProperty("manifest");
});
