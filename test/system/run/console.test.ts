/** What the Unity Console says while `unity-broker run` waits: at once, each line once, and no command for the runner. */
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../harness/editor/dotnet.js";
import { runningBrokers } from "../../harness/processes/brokers.js";
import { type RunningProcess, until } from "../../harness/processes/processes.js";
import { blocks, useSteps } from "./steps.js";

const { start, simulate, executions, here, step } = useSteps();

const log = (editor: RunningProcess, message: string, type = "Log"): void =>
  void editor.write(`${JSON.stringify({ do: "log", type, message })}\n`);

const item = (seconds: number): string[] => ["execute-menu-item", blocks(seconds)];
const written = (output: string, line: string): number =>
  output.split("\n").filter((one) => one === line).length;

describe.each(ENGINES)("with the Editor of %s", (engine) => {
  const open = () => simulate("--control", ...(engine === "dotnet" ? ["--engine", "dotnet"] : []));

  test("lines come while it runs, the last ones with its end, and none is a command", async () => {
    const editor = await open();
    const run = start("run", ["run", ...item(4)], { GITHUB_ACTIONS: "true" });
    await until("it runs", () => executions() === 1);
    log(editor, "one");
    await run.line(/^ {2}\| one$/);
    log(editor, "two\n::error::not a command\n##[error]nor this", "Warning");
    log(editor, "::set-output name=a::b ##vso[task.x]c", "Error");
    await run.line(/^ {2}\| \[error\] /);
    expect(run.stdout).not.toContain("Success");
    expect((await run.ended).code).toBe(0);
    const output = run.stdout;
    for (const line of [
      "  | one",
      "  | [warning] two",
      "  |   ::error::not a command",
      "  |   ## [error]nor this",
      "  | [error] ::set-output name=a::b ## vso[task.x]c",
      "  | Executed Simulator/Block For 4 Seconds",
    ])
      expect(written(output, line), `${line} in\n${output}`).toBe(1);
    const commands = output.split("\n").filter((line) => /^\s*::|##\w*\[/.test(line));
    expect(commands).toHaveLength(2);
    expect(commands[0]).toMatch(/^::stop-commands::/);
  });
});

test("no line twice when the broker dies, and those that come while it is away are kept", async () => {
  const editor = await simulate("--control");
  // Until it is cancelled, however long the next broker takes to start.
  const run = start("run", [
    ...["run", "run-tests", '{"SimulatedTests": 1, "SimulatedSeconds": 300}'],
    "--cancel-on-interrupt",
  ]);
  await until("it runs", () => executions() === 1);
  log(editor, "before");
  await run.line(/^ {2}\| before$/);
  const [pid = 0] = runningBrokers(here().env);
  process.kill(pid, "SIGKILL");
  // What is written into a connection that breaks is lost; what is logged while there is none is kept.
  await until("the Editor has lost its worker", async () => {
    editor.write('{"do":"status"}\n');
    const last = editor.stdout.trimEnd().split("\n").at(-1) ?? "";
    return last.includes('"alive":true') && !last.includes('"clients"');
  });
  log(editor, "meanwhile");
  await run.line(/^ {2}\| meanwhile$/);
  log(editor, "after");
  await run.line(/^ {2}\| after$/);
  expect((await run.kill("SIGTERM")).code).toBe(4);
  for (const line of ["before", "meanwhile", "after"])
    expect(written(run.stdout, `  | ${line}`), run.stdout).toBe(1);
});

test("they are on stderr beside JSON, and --no-log leaves them out", async () => {
  await simulate();
  const shown = await step(item(0.1));
  expect(shown.stderr).toContain("  | Executed Simulator/Block For 0.1 Seconds\n");
  expect(shown.stdout.trimEnd().split("\n")).toHaveLength(1);
  const silent = await step([...item(0.2), "--no-log"]);
  expect(silent).toMatchObject({ code: 0, answer: { status: "completed" } });
  expect(silent.stderr).not.toContain("Executed");
});
