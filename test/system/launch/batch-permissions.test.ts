/** What may run in an Editor that was launched in batch mode, by the C# bridge itself (EditorHost). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { useLaunches } from "./unity.js";

const { install, project, launch, type, starts } = useLaunches();

const BUILD = '{"BuildTarget":"Android"}';
const run = (...args: string[]) =>
  type(["run", ...args, "--output", "json"], { CI: "true", GITHUB_ACTIONS: "" });

describe("in batch mode", { skip: !hasDotnet }, () => {
  test("exactly what the command line names may run", async () => {
    install("2022.3.20f1", "opens, in C#");
    const game = project("Game");
    const opened = await launch([game, "--batch", "--allow", "tests", "--label", "android"]);
    expect(opened, opened.stderr).toMatchObject({ code: 0, outcome: { status: "launched" } });
    expect(starts()[0]).toContain("-batchmode -jobBroker -brokerAllow tests -brokerLabels android");
    const [listed] = JSON.parse((await type(["editors", "--json"])).stdout) as { labels: string[] }[];
    expect(listed?.labels).toEqual(["android", "batch"]);
    const tests = await run("run-tests", "--pool", "batch");
    expect(tests, tests.stderr).toMatchObject({ code: 0 });
    const build = await run("build-player", BUILD);
    expect(build.code).not.toBe(0);
    expect(build.stdout).toContain("start this Editor with -brokerAllow builds or UNITY_BROKER_ALLOW=builds");
    expect(existsSync(join(game, "Builds"))).toBe(false);
  });

  test("the environment names it too; an Editor with windows hears neither", async () => {
    install("2022.3.20f1", "opens, in C#");
    const allow = { UNITY_BROKER_ALLOW: "build-player,-run-tests" };
    const game = project("Game");
    const opened = await launch([game, "--batch"], allow);
    expect(opened, opened.stderr).toMatchObject({ code: 0 });
    expect((await run("build-player", BUILD)).code).toBe(0);
    const blocked = await run("run-tests");
    expect(blocked.stdout).toContain(
      "run-tests is blocked: it is denied by its name; take -run-tests out of -brokerAllow",
    );

    // This stand-in has saved that everything may run.
    const windows = project("Windows");
    const other = await launch([windows], { UNITY_BROKER_ALLOW: "tests" });
    expect(other, other.stderr).toMatchObject({ code: 0 });
    const built = await run("build-player", BUILD, "--editor", String(other.outcome.editor));
    expect(built, built.stderr).toMatchObject({ code: 0 });

    const refused = await type(["launch", game, "--allow", "tests"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--allow is for --batch/) });
    const unknown = await type(["launch", game, "--batch", "--allow", "tests,all"]);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"all" is none of tests, menu-items/),
    });
  });
});
