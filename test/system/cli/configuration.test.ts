/** A configuration file as an operator uses it: checked, shown, in effect, and read again while processes serve. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasProcess } from "../../../src/shared/machine/living-process.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN, type RunningProcess, until } from "../../harness/processes/processes.js";

const { type, start, here } = useCommandLine();

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

  it("print says what is in effect and where it comes from, without secrets", async () => {
    const path = fileWith(
      "redis:\n  url: redis://u:hidden-word@h:1\nclient: {token: ujb_hidden-word}\nretention: {hours: 48}\n",
    );
    const typed = await type(["config", "print", "--json", "--config", path, "--set", "limits.running=3"], {
      UNITY_BROKER_RETENTION_HOURS: "12",
      UNITY_BROKER_LOG_LEVEL: "",
    });
    expect(typed.stdout).not.toContain("hidden-word");
    const { settings } = JSON.parse(typed.stdout) as { settings: { key: string }[] };
    const of = (wanted: string) => settings.find(({ key }) => key === wanted);
    expect(of("redis.url")).toMatchObject({ from: "file", place: expect.stringMatching(/broker\.yaml:2$/) });
    expect(of("client.token")).toMatchObject({ from: "file", value: "[redacted]" });
    expect(of("retention.hours")).toMatchObject({ from: "environment", value: 12 });
    expect(of("limits.running")).toMatchObject({ from: "flag", value: 3 });
    expect(of("log.level")).toMatchObject({ from: "default", value: "info" });
  });
});

/** The log line of the nth reload. */
async function reloadedLine(serving: RunningProcess, nth: number): Promise<Record<string, unknown>> {
  const lines = (): Record<string, unknown>[] =>
    serving.stderr
      .split("\n")
      .filter((line) => /read again|is wrong: nothing/.test(line))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await until("it has read its configuration again", () => lines().length >= nth);
  return lines()[nth - 1] ?? {};
}

describe("at SIGHUP", () => {
  const before =
    "log: {level: info}\ngateway: {port: 0}\nlimits: {queued: 100}\nexpiry: {unsent_hours: 12}\n";
  const after = `log: {level: warn}\ngateway: {port: 0}\nlimits: {queued: 1}\nexpiry: {unsent_hours: 1}
tools: {run-tests: {timeout: 0}}\n`;

  it.each([
    ["up", /MCP endpoint/, ["tools"]],
    ["gateway", /MCP endpoint/, ["tools"]],
    ["worker", /Worker for/, []],
  ])(
    "%s takes over what it can, names the rest, and refuses a wrong file as a whole",
    async (name, serves, more) => {
      const path = fileWith(before);
      const env = { UNITY_BROKER_LOG_LEVEL: "", UNITY_BROKER_CONFIG: path };
      const serving = start(name, [name], env);
      await serving.line(serves);
      writeFileSync(path, after);
      serving.signal("SIGHUP");
      const read = await reloadedLine(serving, 1);
      expect((read.changed as string[]).sort()).toEqual(["limits.queued", "log.level", ...more]);
      expect(read.needRestart).toEqual(["expiry.unsent_hours"]);
      writeFileSync(path, "log: {level: debug}\nlimits:\n  queued: none\n");
      serving.signal("SIGHUP");
      const wrong = await reloadedLine(serving, 2);
      expect(wrong.problems).toEqual([expect.stringMatching(/broker\.yaml:3:3 limits\.queued/)]);
      // Still quiet: nothing of the wrong file holds.
      writeFileSync(path, before);
      serving.signal("SIGHUP");
      expect((await reloadedLine(serving, 3)).needRestart).toEqual([]);
      expect(serving.isRunning).toBe(true);
    },
  );
});

// `script` of util-linux gives it a terminal of its own, which closes when `script` dies.
it.runIf(process.platform === "linux")(
  "a process whose terminal was closed ends, and reloads nothing",
  async () => {
    const debug = join(here().folder, "debug");
    const command = `echo "pid $$"; exec '${process.execPath}' '${MAIN}' worker`;
    const child = spawn("script", ["-qefc", command, "/dev/null"], {
      env: { ...here().env, TERM: "xterm", MCP_DEBUG: debug },
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await until("it serves", () => said.includes("Worker for"));
    const pid = Number(/pid (\d+)/.exec(said)?.[1]);
    here().processes.guard(pid);
    process.kill(pid, "SIGHUP");
    await until("it reloads while its terminal is there", () =>
      said.includes("the configuration was read again"),
    );
    child.kill("SIGKILL");
    await until("it has ended", () => !hasProcess(pid));
    const logged = readdirSync(debug).map((name) => readFileSync(join(debug, name), "utf8"));
    expect(logged.join("").match(/the configuration was read again/g)).toHaveLength(1);
  },
);

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
