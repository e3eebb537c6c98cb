/** `unity-broker launch` where no Editor comes: no such Unity, one that dies or never says hello, and a wait that is given up. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identify } from "../../../src/shared/machine/living-process.js";
import { until } from "../../harness/processes/processes.js";
import { useLaunches } from "./unity.js";

const { install, project, launch, starts, sign, type, start, here } = useLaunches();

test("a version that is not installed, and Unity that dies at its start: what there is, and the next step", async () => {
  install("2022.3.10f1");
  const game = project("Game");
  const none = await type(["launch", game]);
  expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining("needs Unity 2022.3.20f1") });
  expect(none.stdout).toMatch(/ {2}2022\.3\.10f1 {2}\/.*\/2022\.3\.10f1\/Editor\/Unity/);
  expect(none.stdout).toContain("unityhub://2022.3.20f1/61c2feb0970d");
  const other = install("6000.0.30f1");
  const unknown = install("Unity");
  for (const unity of [other, unknown]) {
    const named = await type(["launch", game, "--unity", unity]);
    expect(named).toMatchObject({ code: 1, stdout: expect.stringContaining("would upgrade the project") });
  }
  const wrong = [
    [here().folder, /is not the folder of a Unity project/],
    [game, "--label", "two words", /is no label/],
    [game, "--timeout", "soon", /--timeout soon is not a duration/],
  ] as const;
  for (const args of wrong) {
    const said = args.at(-1) as RegExp;
    const refused = await type(["launch", ...(args.slice(0, -1) as string[])]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
  }
  expect(starts()).toEqual([]);

  install("2022.3.20f1", "dies");
  const dead = await type(["launch", game]);
  expect(dead.code).toBe(1);
  expect(dead.stdout).toMatch(/ended before the broker had its Editor \(exit code 198\)/);
  expect(dead.stdout).toContain("| No valid Unity Editor license found.");
  expect(dead.stdout).toContain("activate it first");
  expect(starts()).toHaveLength(1);
});

test("Unity that never says hello: the time ends the wait, and the same command starts no other", async () => {
  install("2022.3.20f1", "never says hello");
  const game = project("Game");
  const late = await launch([game, "--timeout", "1s"]);
  expect(late).toMatchObject({ code: 3, outcome: { status: "starting" } });
  expect(late.outcome.message).toMatch(/Packages\/manifest\.json: add it/);
  expect(late.outcome.log_tail).toEqual(["Initialize engine version"]);
  expect(identify(Number(late.outcome.pid))).toBeDefined();
  const again = await launch([game, "--timeout", "1s"]);
  expect(again).toMatchObject({ code: 3, outcome: { status: "starting", pid: late.outcome.pid } });
  expect(starts()).toHaveLength(1);
});

test("Ctrl-C ends the wait: Unity goes on starting, and the same command waits for it", async () => {
  install("2022.3.20f1", "waits for a sign");
  const game = project("Game");
  const waiting = start("launch", ["launch", game, "--json"]);
  await until("it was started", () => starts().length === 1);
  await until("its log is there", () => existsSync(join(game, "Logs", "unity-broker-launch.log")));
  await until("it was said", () => waiting.stderr.includes("Started "));
  const { code } = await waiting.kill("SIGINT");
  expect(code).toBe(130);
  const interrupted = JSON.parse(waiting.stdout);
  expect(interrupted).toMatchObject({
    status: "interrupted",
    message: expect.stringMatching(/goes on starting/),
  });
  expect(identify(interrupted.pid)).toBeDefined();
  sign();
  const again = await launch([game]);
  expect(again, again.stderr).toMatchObject({ code: 0, outcome: { status: "open", pid: interrupted.pid } });
  expect(starts()).toHaveLength(1);
});
