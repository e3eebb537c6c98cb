/** A configuration file as an operator uses it: checked, and in effect. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasProcess } from "../../../src/shared/machine/living-process.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN, until } from "../../harness/processes/processes.js";

const { type, here } = useCommandLine();

function fileWith(text: string): string {
  const path = join(here().folder, "broker.yaml");
  writeFileSync(path, text);
  return path;
}

describe("unity-broker config", () => {
  it("check says what is wrong and where, and ends as for a wrong command line", async () => {
    const path = fileWith("log: {level: loud}\nlimits:\n  runing: 1\n");
    const wrong = await type(["config", "check", path]);
    expect(wrong).toMatchObject({ code: 2, stderr: "" });
    expect(wrong.stdout).toMatch(
      /broker\.yaml:1:7 log\.level: "loud" is wrong: .*\n.*broker\.yaml:3:3 limits\.runing: unknown \(did you mean running\?\)/,
    );
    const asJson = await type(["config", "check", "--json", "--config", path]);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ file: path, problems: [{ line: 1 }, { line: 3 }] });
    // No command begins with it.
    const refused = await type(["list", "--config", path]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("2 problems");
    writeFileSync(path, "log: {level: info}\n");
    expect(await type(["config", "check", path])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 setting."),
    });
  });
});

// `script` of util-linux gives it a terminal of its own, which closes when `script` dies.
it.runIf(process.platform === "linux")("a process whose terminal was closed ends", async () => {
  const command = `echo "pid $$"; exec '${process.execPath}' '${MAIN}' worker`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    env: { ...here().env, TERM: "xterm" },
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await until("it serves", () => said.includes("Worker for"));
  const pid = Number(/pid (\d+)/.exec(said)?.[1]);
  here().processes.guard(pid);
  child.kill("SIGKILL");
  await until("it has ended", () => !hasProcess(pid));
});

it("a changed file is another configuration: nobody is served by a broker that has the older one", async () => {
  const path = fileWith("limits: {queued: 7}\n");
  const pid = async (): Promise<string | undefined> => {
    const { stdout } = await type(["doctor", "--config", path], { UNITY_BROKER_BACKGROUND: "true" });
    return /\(version [^,]+, process (\d+)\)/.exec(stdout)?.[1];
  };
  await type(["list", "--config", path], { UNITY_BROKER_BACKGROUND: "true" });
  const first = await pid();
  expect(first).toBeDefined();
  writeFileSync(path, "limits: {queued: 8}\n");
  await type(["list", "--config", path], { UNITY_BROKER_BACKGROUND: "true" });
  const second = await pid();
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
  const { stdout } = await type(["doctor", "--config", path], { UNITY_BROKER_BACKGROUND: "true" });
  expect(stdout).toContain(`process ${first}`);
  await type(["down", "--config", path], { UNITY_BROKER_BACKGROUND: "true" });
});
