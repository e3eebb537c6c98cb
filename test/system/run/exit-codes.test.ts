/** How `unity-broker run` ends, by the real command against a simulated Editor: every code, and what it says. */
import { expect, test } from "vitest";
import { until } from "../../harness/processes/processes.js";
import { blocks, tests, useSteps } from "./steps.js";

const { type, step, simulate, executions } = useSteps();

const failingBuild = '{"BuildTarget":"Android","SimulatedFailure":true,"SimulatedSeconds":0}';
const NOT_ACCEPTED: [args: string[], says: RegExp][] = [
  [[], /name a tool, or the operation/],
  [["ping", "--log-id", "x"], /name a tool, or the operation/],
  [["ping", "{"], /the arguments are not JSON/],
  [["ping", "{}", "--json", "{}"], /give the arguments once/],
  [["--log-id", "x", "--key", "y"], /without --key/],
  [["ping", "--wait", "soon"], /--wait soon is not a duration such as 90s, 10m or 2h/],
  [["ping", "--wait", "10"], /--wait 10 is not a duration/],
  [["ping", "--output", "yaml"], /neither text nor json/],
  [["ping", "--no-such-option"], /unknown option/],
  [["run-tests", "--junit"], /--junit is empty/],
  [["ping", "--key", ""], /--key is empty/],
  [["no-such-tool"], /UNKNOWN_TOOL[\s\S]*Nothing was\s+executed/],
  [["execute-menu-item", '{"Other":1}'], /INVALID_ARGUMENTS[\s\S]*Nothing\s+was\s+executed/],
  [
    ["execute-menu-item", blocks(0), "--force-new", "0b6f0000-0000-4000-8000-000000000000"],
    /INVALID_ARGUMENTS/,
  ],
  [["ping", "--editor", "no-such-editor"], /EDITOR_UNKNOWN/],
  [["--log-id", "0b6f0000-0000-4000-8000-000000000000"], /No operation of yours has this log_id/],
];

test("0 completed, 1 the tool failed, 2 nothing was executed", async () => {
  await simulate();
  const completed = await type(["run", "execute-menu-item", blocks(0)]);
  expect(completed, completed.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^completed /m),
  });

  const failed = await type(["run", "build-player", failingBuild]);
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/TOOL_FAILED/) });
  const red = await step(["run-tests", tests(3, 1)]);
  expect(red).toMatchObject({ code: 1, answer: { status: "completed", result: { Success: false } } });
  const large = await step(["run-tests", tests(700, 600)]);
  expect(large).toMatchObject({ code: 1, answer: { status: "completed", result: { failed: 600 } } });

  const ran = executions();
  for (const [args, says] of NOT_ACCEPTED) {
    const { code, stdout, stderr } = await type(["run", ...args]);
    expect({ args, code }).toEqual({ args, code: 2 });
    expect(stdout + stderr).toMatch(says);
    expect(stdout + stderr).not.toMatch(/\n {4}at /);
  }
  const keyed = ["--key", "one"];
  expect((await step(["execute-menu-item", blocks(0), ...keyed])).code).toBe(0);
  const conflict = await step(["execute-menu-item", blocks(0.1), ...keyed]);
  expect(conflict).toMatchObject({ code: 2, answer: { error_code: "IDEMPOTENCY_CONFLICT" } });
  const nowhere = await type(["run", "ping"], { UNITY_BROKER_URL: "http://127.0.0.1:9/mcp" });
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringMatching(/did not answer/) });
  expect(executions()).toBe(ran + 1);
});

test("3 the outcome is unknown, and the same command does not run it again", async () => {
  const editor = await simulate("--control");
  const args = ["execute-menu-item", blocks(60), "--key", "build"];
  const runner = step(args);
  await until("it runs", () => executions() === 1);
  for (const fault of ["crash", "restart"]) editor.write(`{"do":"${fault}"}\n`);
  const { code, answer, stderr } = await runner;
  expect({ code, answer }).toMatchObject({ code: 3, answer: { error_code: "OUTCOME_UNKNOWN" } });
  expect(stderr).toContain(`--force-new ${answer.log_id}`);

  for (const more of [[], ["--once"]]) {
    const again = await step([...args, ...more]);
    expect(again).toMatchObject({ code: 3, answer: { log_id: answer.log_id, deduplicated: true } });
  }
  expect(executions()).toBe(1);
});

test("4 cancelled, or expired before it was sent", async () => {
  const editor = await simulate();
  const args = ["run-tests", '{"SimulatedTests":1,"SimulatedSeconds":60}'];
  const runner = step(args, { UNITY_BROKER_ABSENT_MINUTES: "0.02" });
  await until("it runs", () => executions() === 1);
  const [operation] = JSON.parse((await type(["list", "--json"])).stdout) as { log_id: string }[];
  await type(["cancel", String(operation?.log_id)]);
  expect(await runner).toMatchObject({ code: 4, answer: { log_id: operation?.log_id, status: "cancelled" } });

  await editor.kill("SIGTERM");
  const away = await step(["execute-menu-item", blocks(0)]);
  expect(away).toMatchObject({ code: 4, answer: { error_code: "EXPIRED" } });
  expect(executions()).toBe(1);
});

test("5 the wait ended: the operation goes on, and so does --log-id", async () => {
  await simulate();
  const ended = await type(["run", "execute-menu-item", blocks(4), "--wait", "1s"]);
  expect(ended.code).toBe(5);
  expect(ended.stdout).not.toContain("No answer from the broker");
  const [, command = ""] = /^Go on waiting: .* (run --log-id .*)$/m.exec(ended.stdout) ?? [];
  const followed = await step(command.split(" ").slice(1));
  expect(followed).toMatchObject({ code: 0, answer: { status: "completed", result: { Success: true } } });
  expect(executions()).toBe(1);
});
