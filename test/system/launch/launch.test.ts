/** `unity-broker launch` by the real command: one Editor for a project, of its version. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identify } from "../../../src/shared/machine/living-process.js";
import { until } from "../../harness/processes/processes.js";
import { useLaunches } from "./unity.js";

const { install, project, launch, starts, type, here } = useLaunches();

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
