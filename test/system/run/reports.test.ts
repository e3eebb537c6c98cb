/** Test reports of `unity-broker run run-tests`: the file, the log, and annotations where GitHub reads them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canonicalXml, faultsOfJunit } from "../../harness/junit.js";
import { until } from "../../harness/processes/processes.js";
import { tests, useSteps } from "./steps.js";

const { type, step, simulate, executions, here } = useSteps();

test("every test is in the file, also when tests fail, and of a result that is read in parts", async () => {
  await simulate();
  const file = join(here().folder, "reports", "out.xml");
  const run = async (count: number, failures: number, ...more: string[]) => {
    const ended = await step(["run-tests", tests(count, failures), "--junit", file, ...more]);
    const xml = readFileSync(file, "utf8");
    expect(await faultsOfJunit(xml)).toEqual([]);
    return { ...ended, xml: await canonicalXml(xml) };
  };
  const green = await run(3, 0);
  expect(green.code, green.stderr).toBe(0);
  expect(green.xml).toContain(
    '<testsuites errors="0" failures="0" name="run-tests EditMode" tests="3" time="0.000">',
  );
  const red = await run(3, 1, "--project-folder", "Game");
  expect(red.code).toBe(1);
  expect(red.stderr).toContain("3 tests: 2 passed, 1 failed");
  expect(red.xml).toContain(
    '<testcase classname="Simulated.EditMode" file="Game/Assets/Tests/EditModeTests.cs" line="10" name="Test001" time="0.000">',
  );
  expect(red.xml).toContain('<failure message="Expected: True  But was: False" type="failed">');
  const large = await run(2_000, 1_500);
  expect(large.code).toBe(1);
  expect(large.answer).toMatchObject({ result: { failed: 1_500 } });
  expect(large.xml.match(/<failure /g)).toHaveLength(1_500);
  expect(large.xml.match(/<testcase /g)).toHaveLength(2_000);
});

test("a run without a test fails, and says so", async () => {
  await simulate();
  const file = join(here().folder, "out.xml");
  const empty = await type(["run", "run-tests", tests(0, 0), "--junit", file]);
  expect(empty).toMatchObject({ code: 1, stdout: expect.stringMatching(/No test was reported/) });
  expect(readFileSync(file, "utf8")).toContain('errors="1"');
  const other = await type(["run", "ping", "--junit", file]);
  expect(other).toMatchObject({ code: 1, stdout: expect.stringMatching(/No test was reported/) });
  expect((await type(["run", "ping"])).code).toBe(0);
});

test("a run that is cut leaves the tests that had ended", async () => {
  const editor = await simulate("--control");
  const file = join(here().folder, "out.xml");
  writeFileSync(file, "of an earlier run");
  const slow = '{"SimulatedTests":500,"SimulatedFailures":1,"SimulatedSeconds":0.2}';
  const running = step(["run-tests", slow, "--junit", file]);
  await until("it runs", () => executions() === 1);
  expect(existsSync(file)).toBe(false);
  await until("a test has ended", async () => {
    const [operation] = JSON.parse((await type(["list", "--json"])).stdout) as { log_id: string }[];
    const shown = await type(["result", String(operation?.log_id), "--json"]);
    return (JSON.parse(shown.stdout) as { partial_result?: unknown }).partial_result !== undefined;
  });
  for (const fault of ["crash", "restart"]) editor.write(`{"do":"${fault}"}\n`);
  const { code, stderr } = await running;
  expect(code, stderr).toBe(3);
  const xml = readFileSync(file, "utf8");
  expect(await faultsOfJunit(xml)).toEqual([]);
  expect(xml).toMatch(
    /<testcase classname="Simulated\.EditMode" name="Test001"[\s\S]*The run ended as interrupted/,
  );
});

test("a report that cannot be written is noticed before anything runs", async () => {
  await simulate();
  const refused = await type(["run", "run-tests", tests(1, 0), "--junit", here().folder]);
  const says = /--junit .* cannot be written/;
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
  expect(executions()).toBe(0);
});

test("GitHub gets an annotation for each failed test, and no command of a tool's", async () => {
  await simulate();
  const github = { GITHUB_ACTIONS: "true" };
  const red = await type(["run", "run-tests", tests(60, 53), "--project-folder", "Game"], github);
  expect(red.code).toBe(1);
  const commands = red.stdout.split("\n").filter((line) => line.startsWith("::error"));
  expect(commands).toHaveLength(51);
  expect(commands[0]).toBe(
    "::error file=Game/Assets/Tests/EditModeTests.cs,line=10,title=Simulated.EditMode.Test001::Expected: True  But was: False",
  );
  expect(commands[50]).toContain("and 3 more failed tests");
  const [, token = ""] = /^::stop-commands::(\S+)$/m.exec(red.stdout) ?? [];
  expect(red.stdout).toMatch(new RegExp(`\n::${token}::\n`));
  expect(red.stdout.indexOf(`\n::${token}::`)).toBeLessThan(red.stdout.indexOf("::error"));
  const plain = await type(["run", "run-tests", tests(2, 1)]);
  expect(plain.stdout).not.toContain("::");
  const json = await step(["run-tests", tests(2, 1)], github);
  expect(json.stderr).toContain("::error file=");
  expect(json.answer).toMatchObject({ status: "completed" });
});
