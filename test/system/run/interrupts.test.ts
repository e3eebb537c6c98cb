/** Ctrl-C and SIGTERM while `unity-broker run` waits, in a pipeline and at a terminal. */
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { MAIN, until } from "../../harness/processes/processes.js";
import { useSteps } from "./steps.js";

const { type, step, start, simulate, executions, here } = useSteps();

/** It can be cancelled while it runs, and reports each of its tests. */
const long = ["run-tests", '{"SimulatedTests":60,"SimulatedSeconds":1}'];
const short = ["build-player", '{"BuildTarget":"Android","SimulatedSeconds":4}'];

test.each(["SIGTERM", "SIGINT"] as const)(
  "in a pipeline %s leaves the operation running, and says how to go on",
  async (signal) => {
    await simulate();
    const runner = start("runner", ["run", ...short, "--key", "build"]);
    const [, logId = ""] = await runner.line(/^log_id (\S+)$/);
    await until("it runs", () => executions() === 1);
    expect(await runner.kill(signal)).toEqual({ code: 5, signal: null });
    expect(runner.stdout).toMatch(new RegExp(`^Go on waiting: .* run --log-id ${logId}$`, "m"));
    expect(runner.stdout).toMatch(new RegExp(`^Cancel it: .* cancel ${logId}$`, "m"));
    const followed = await step(["--log-id", logId]);
    expect(followed).toMatchObject({ code: 0, answer: { status: "completed" } });
    expect(executions()).toBe(1);
  },
);

test("the answer is the last line of stdout then too", async () => {
  await simulate();
  const runner = start("runner", ["run", ...short, "--output", "json"]);
  await until("it runs", () => executions() === 1);
  await until("it waits", () => runner.stderr.includes("log_id"));
  expect(await runner.kill("SIGTERM")).toEqual({ code: 5, signal: null });
  const logId = (JSON.parse(runner.stdout) as { log_id: string }).log_id;
  expect(await step(["--log-id", logId])).toMatchObject({ code: 0 });
});

test("--cancel-on-interrupt cancels it", async () => {
  await simulate();
  const runner = start("runner", ["run", ...long, "--cancel-on-interrupt"]);
  await until("it runs", () => executions() === 1);
  await until("it waits", () => runner.stdout.includes("log_id"));
  expect(await runner.kill("SIGTERM")).toEqual({ code: 4, signal: null });
  expect(runner.stdout).toMatch(/^cancelled /m);
});

// `script` of util-linux gives a command a terminal of its own. `exec`: a shell above the command would end by Ctrl-C itself.
test.runIf(process.platform === "linux")("at a terminal Ctrl-C asks: wait on, leave, cancel", async () => {
  await simulate();
  const words = [process.execPath, MAIN, "run", ...long, "--key", "tests"].map((word) => `'${word}'`);
  const command = `exec ${words.join(" ")}`;
  const { CI: _pipeline, ...env } = here().env;
  const terminal = (name: string) => {
    const child = spawn("script", ["-qefc", command, "/dev/null"], { env: { ...env, TERM: "xterm" } });
    here().processes.guard(child.pid ?? 0);
    let screen = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      screen += text;
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return {
      ended,
      type: (keys: string) => void child.stdin.write(keys),
      shows: (text: string, times = 1) =>
        until(`${name} shows ${text}`, () => screen.split(text).length > times),
      screen: () => screen,
    };
  };

  const first = terminal("the first");
  await first.shows("log_id");
  await until("it runs", () => executions() === 1);
  await first.shows("%");
  first.type("\u0003");
  await first.shows("wait on (Enter)?");
  first.type("\r");
  await first.shows("%", 2);
  first.type("\u0003");
  await first.shows("wait on (Enter)?", 2);
  first.type("l\r");
  expect(await first.ended, first.screen()).toBe(5);
  expect(first.screen()).toContain("the operation goes on as");

  const second = terminal("the second");
  await second.shows("under way as");
  second.type("\u0003");
  await second.shows("wait on (Enter)?");
  second.type("c\r");
  expect(await second.ended, second.screen()).toBe(4);
  expect(executions()).toBe(1);
  expect((await type(["list"])).stdout).toContain("cancelled");
});
