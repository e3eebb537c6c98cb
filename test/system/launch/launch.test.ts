/** `unity-broker launch` by the real command: one Editor for a project, of its version, and what is said where there is none. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identify } from "../../../src/shared/machine/living-process.js";
import { until } from "../../harness/processes/processes.js";
import { useLaunches } from "./unity.js";

const { install, project, launch, starts, sign, type, start, here } = useLaunches();

const editors = async (): Promise<Record<string, unknown>[]> =>
  JSON.parse((await type(["editors", "--json"])).stdout);

test("opens a project with Unity of its version, and a project that is open already stays with its Editor", async () => {
  install("2022.3.20f1");
  install("6000.0.30f1");
  const game = project("My Game");
  const first = await launch([game, "--batch", "--label", "android, GPU", "--", "-nographics"]);
  expect(first, first.stderr).toMatchObject({ code: 0, outcome: { status: "launched" } });
  const [listed] = await editors();
  expect(listed).toMatchObject({
    id: first.outcome.editor,
    pid: first.outcome.pid,
    session: first.outcome.session,
    connected: true,
    labels: ["android", "gpu"],
  });
  const log = join(game, "Logs", "unity-broker-launch.log");
  expect(first.outcome.log).toBe(log);
  expect(first.outcome.unity).toContain("2022.3.20f1");
  expect(starts()).toEqual([
    `-projectPath ${game} -logFile ${log} -batchmode -jobBroker -brokerLabels android,GPU -nographics`,
  ]);

  const again = await launch([game]);
  expect(again).toMatchObject({
    code: 0,
    outcome: { status: "open", editor: first.outcome.editor, pid: first.outcome.pid },
  });
  const said = await type(["launch", game]);
  expect(said).toMatchObject({ code: 0, stdout: expect.stringMatching(/no other Editor was started/) });
  expect(starts()).toHaveLength(1);

  // The Editor is gone, and the broker may still list it: the next launch waits for its own.
  process.kill(Number(first.outcome.pid), "SIGKILL");
  await until("it is gone", () => !identify(Number(first.outcome.pid)));
  const next = await launch([game]);
  expect(next, next.stderr).toMatchObject({ code: 0, outcome: { status: "launched" } });
  expect(next.outcome.pid).not.toBe(first.outcome.pid);
  expect(next.outcome.session).not.toBe(first.outcome.session);
  expect(starts()).toHaveLength(2);
  expect(existsSync(join(game, "Logs", "unity-broker-launch-prev.log"))).toBe(true);
  // A launch is no tool call.
  expect(JSON.parse((await type(["list", "--json"])).stdout)).toEqual([]);
});

test("two launches at once start one Editor, with the command's environment but for the broker's secrets", async () => {
  const unity = install("2022.3.20f1");
  const seen = join(here().folder, "seen");
  const text = readFileSync(unity, "utf8").replace('labels=""', `labels=""; env > "${seen}"`);
  writeFileSync(unity, text, { mode: 0o755 });
  const game = project("Game");
  const env = { ANDROID_HOME: "/sdk", REDIS_PASSWORD_FILE: "" };
  const both = await Promise.all([launch([game], env), launch([game], env)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(both.map(({ outcome }) => outcome.status).sort()).toEqual(["launched", "open"]);
  expect(both[0].outcome.pid).toBe(both[1].outcome.pid);
  expect(starts()).toHaveLength(1);
  const given = readFileSync(seen, "utf8");
  expect(given).toContain("ANDROID_HOME=/sdk");
  expect(given).toContain("UNITY_BROKER_EDITORS_DIR=");
  expect(given).not.toContain("REDIS_PASSWORD_FILE");
});

test("a version that is not installed, and Unity that dies at its start: what there is, and the next step", async () => {
  install("2022.3.10f1");
  const game = project("Game");
  const none = await type(["launch", game]);
  expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining("No Unity 2022.3.20f1 was found") });
  expect(none.stdout).toMatch(/ {2}2022\.3\.10f1 {2}\/.*\/2022\.3\.10f1\/Editor\/Unity/);
  expect(none.stdout).toContain("unityhub://2022.3.20f1/61c2feb0970d");
  const other = install("6000.0.30f1");
  const named = await type(["launch", game, "--unity", other]);
  expect(named).toMatchObject({ code: 1, stdout: expect.stringContaining("would upgrade the project") });
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
