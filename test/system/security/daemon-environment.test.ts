/** What processes inherit that outlive the shell they were started from: none of its secrets. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { daemonEnvironment } from "../../../src/shared/daemon-environment.js";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { until } from "../../harness/processes/processes.js";

const { start } = useCommandLine();

const SECRETS = {
  AWS_SECRET_ACCESS_KEY: "planted-aws",
  NPM_TOKEN: "planted-npm",
  UNITY_BROKER_TOKEN_OF_ANOTHER: "planted-broker",
  NODE_OPTIONS: "--no-deprecation",
};
const SIGNS = /planted-|NODE_OPTIONS/;

/** The running children of a process, by program and arguments. */
function childrenOf(pid: number): { pid: number; command: string; environ: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (Number(parent) !== pid || state === "Z") return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return [{ pid: Number(name), command, environ: readFileSync(`/proc/${name}/environ`, "utf8") }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

/** Whichever of them this machine has. */
const SERVER = /(redis|valkey)-server/;

describe.runIf(existsSync("/proc/self/environ"))("a secret of the shell", () => {
  test("is not in the broker in the background, nor in its private Redis", async () => {
    const client = await openStdioClient(start("mcp", ["mcp"], SECRETS));
    const { pid } = client.process;
    const [broker] = childrenOf(pid).filter(({ command }) => command.includes("main.js broker"));
    expect(broker?.environ).toMatch(/(^|\0)PATH=/);
    expect(broker?.environ).not.toMatch(SIGNS);
    const [redis] = await until("its Redis runs", () => {
      const found = childrenOf(broker?.pid ?? 0).filter(({ command }) => SERVER.test(command));
      return found.length > 0 && found;
    });
    expect(redis?.environ).not.toMatch(SIGNS);
    await client.close();
  });

  test("is not in the private Redis, nor in its keeper", async () => {
    const client = await openStdioClient(start("mcp", ["mcp", "--in-process"], SECRETS));
    const { pid } = client.process;
    expect(readFileSync(`/proc/${pid}/environ`, "utf8"), "the test would see it").toMatch(SIGNS);
    const daemons = await until("both run", () => {
      const found = childrenOf(pid).filter(
        ({ command }) => SERVER.test(command) || command.includes("keeper.js"),
      );
      return found.length === 2 && found;
    });
    for (const { environ, command } of daemons) expect(environ, command).not.toMatch(SIGNS);
    const keeper = daemons.find(({ command }) => command.includes("keeper.js"));
    expect(keeper?.environ).toMatch(/(^|\0)PATH=/);
    await client.close();
  });

  test.runIf(hasDotnet)("is not in the C# stand-in of an Editor", async () => {
    const editor = start("simulate", ["simulate", "--engine", "dotnet", "--port", "0"], SECRETS);
    await editor.line(/^Simulated Unity Editor/);
    const [host] = childrenOf(editor.pid).filter(({ command }) => command.includes("EditorHost"));
    expect(host?.environ).toMatch(/(^|\0)PATH=/);
    expect(host?.environ).not.toMatch(SIGNS);
  });
});

test("Windows' variables are passed in any case, and others are not", () => {
  const given = {
    Path: "C:\\bin",
    SystemRoot: "C:\\Windows",
    Secret: "s",
    PATHS: "x",
    HTTP_PROXY: "http://u:p@h",
  };
  expect(daemonEnvironment(given)).toEqual({ Path: "C:\\bin", SystemRoot: "C:\\Windows" });
  expect(daemonEnvironment(given, ["HTTP_PROXY"])).toHaveProperty("HTTP_PROXY");
});
