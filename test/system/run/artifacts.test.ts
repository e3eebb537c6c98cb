/** `unity-broker run build-player --artifacts`: the manifest of a build by the real command, with both engines. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { useSteps } from "./steps.js";

const { type, step, simulate, executions, here } = useSteps();

const BUILD = '{"BuildTarget":"Android"}';
const SHORT = ["--time-scale", "0.01"];

function places(): { project: string; file: string; read(): { files: { path: string; sha256?: string }[] } } {
  const project = join(realpathSync(here().folder), "Game");
  mkdirSync(project, { recursive: true });
  const file = join(here().folder, "out", "manifest.json");
  return { project, file, read: () => JSON.parse(readFileSync(file, "utf8")) };
}

const sha = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

test.each([
  { engine: "typescript", files: ["Builds/Android/Data/level0", "Builds/Android/Player"] },
  { engine: "dotnet", files: ["Builds/Android/Data/level0", "Builds/Android/Game.apk"] },
])("the files of a build are listed and hashed: $engine", async ({ engine, files }) => {
  if (engine === "dotnet" && !hasDotnet) return;
  const { project, file, read } = places();
  await simulate("--engine", engine, "--project", project, ...SHORT);
  const built = await step(["build-player", BUILD, "--artifacts", file]);
  expect(built, built.stderr).toMatchObject({ code: 0, answer: { result: { TotalFiles: 2 } } });
  expect(built.stderr).toContain("2 artefacts, 2 hashed here");
  expect(read()).toMatchObject({
    manifest: 1,
    log_id: built.answer.log_id,
    tool: "build-player",
    checked_here: true,
  });
  expect(read().files.map(({ path, sha256 }) => [path, sha256])).toEqual(
    files.map((path) => [path, sha(join(project, path))]),
  );
});

test("nothing produced fails the step, a failed build leaves an empty manifest, and one that cannot be written is noticed first", async () => {
  const { file, read } = places();
  // Its project only exists in memory: the build writes no file, and says that it succeeded.
  await simulate(...SHORT);
  const empty = await type(["run", "build-player", BUILD, "--artifacts", file]);
  expect(empty).toMatchObject({ code: 1, stdout: expect.stringContaining("No artefact was reported.") });
  expect(read()).toMatchObject({ state: "completed", files: [] });
  expect((await type(["run", "build-player", BUILD])).code).toBe(0);

  writeFileSync(file, "of an earlier run");
  const failing = '{"BuildTarget":"Android","SimulatedFailure":true}';
  expect((await type(["run", "build-player", failing, "--artifacts", file])).code).toBe(1);
  expect(read()).toMatchObject({ state: "failed", files: [] });

  const ran = executions();
  const refused = await type(["run", "build-player", BUILD, "--artifacts", here().folder]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--artifacts .* cannot be written/),
  });
  expect(executions()).toBe(ran);
  expect(existsSync(join(here().folder, "Builds"))).toBe(false);
});
