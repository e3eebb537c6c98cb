/** MCP_DEBUG: what a client hides is in a file. */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../../../src/cli/processes/runtime.js";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { environment } from "../../harness/processes/installation.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { createProcesses } from "../../harness/processes/processes.js";
import { createDataDirectory, type TestDataDirectory } from "../../harness/redis/redis.js";

let folder: string;
let data: TestDataDirectory;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-debug-"));
  data = createDataDirectory();
});
afterEach(async () => {
  await data.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe("mcp with MCP_DEBUG", () => {
  const serve = async (debug: string) => {
    const processes = createProcesses();
    const env = environment(folder, {
      UNITY_BROKER_DATA_DIR: data.dataDir,
      UNITY_BROKER_CACHE_DIR: defaultDirectories(process.env).cacheDir,
      UNITY_BROKER_LOG_LEVEL: "info",
      MCP_DEBUG: debug,
    });
    const client = await openStdioClient(processes.start("mcp", ["mcp"], env));
    await client.request("tools/list");
    await client.close();
    expect(await processes.close()).toEqual([]);
    return client.process;
  };

  it("logs everything to a file that is the user's own, and stdout stays protocol", async () => {
    const { pid, stdout, stderr } = await serve("1");
    const file = join(data.dataDir, "logs", `unity-broker-mcp-${pid}.log`);
    const levels = linesOf(readFileSync(file, "utf8")).map(({ level }) => level);
    expect(levels).toContain(20);
    expect(levels).toContain(30);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // Beside it, stderr has what it always has.
    const said = linesOf(stderr).map(({ level }) => level);
    expect(said).toContain(30);
    expect(said).not.toContain(20);
    for (const line of linesOf(stdout)) expect(line).toMatchObject({ jsonrpc: "2.0" });
  });

  it("0 is off", async () => {
    await serve("0");
    expect(readdirSync(data.dataDir)).not.toContain("logs");
  });

  it("a folder that cannot be written is said, and the work goes on", async () => {
    writeFileSync(join(folder, "taken"), "");
    const { stderr } = await serve(join(folder, "taken", "logs"));
    expect(stderr).toContain("MCP_DEBUG: the file cannot be written");
  });
});

describe("the folder", () => {
  it("keeps the newest twenty, and what is not a log of ours", () => {
    const logs = join(folder, "logs");
    mkdirSync(logs);
    const others = [
      "notes.txt",
      "mcp-1.log",
      "worker-12.log",
      "unity-broker-mcp-1.log.old",
      "unity-broker.log",
    ];
    for (const name of others) {
      writeFileSync(join(logs, name), "");
      utimesSync(join(logs, name), new Date(), new Date(0));
    }
    for (let age = 1; age <= 30; age += 1) {
      const file = join(logs, `unity-broker-mcp-${1_000_000 + age}.log`);
      writeFileSync(file, "");
      utimesSync(file, new Date(), new Date(Date.now() - age * 60_000));
    }
    const config = { UNITY_BROKER_LOG_LEVEL: "silent", MCP_DEBUG: logs } as const;
    createLog(config, { dataDir: folder, command: "worker" }).debug({}, "here");

    const left = readdirSync(logs);
    expect(left).toEqual(expect.arrayContaining(others));
    expect(left.filter((name) => /^unity-broker-[a-z]+-\d+\.log$/.test(name))).toHaveLength(20);
    expect(left).toContain("unity-broker-mcp-1000019.log");
    expect(left).not.toContain("unity-broker-mcp-1000020.log");
    expect(readFileSync(join(logs, `unity-broker-worker-${process.pid}.log`), "utf8")).toContain(
      '"msg":"here"',
    );
  });

  const logTo = (logs: string): void => {
    const config = { UNITY_BROKER_LOG_LEVEL: "silent", MCP_DEBUG: logs } as const;
    createLog(config, { dataDir: folder, command: "worker" }).debug({}, "here");
  };
  const own = (): string => join(folder, `unity-broker-worker-${process.pid}.log`);

  it.each([
    ["a link", (target: string) => symlinkSync(target, own())],
    ["a second name of it", (target: string) => linkSync(target, own())],
  ])("whose file is %s to another file: that one stays as it was", (_how, lay) => {
    const target = join(folder, "target");
    writeFileSync(target, "mine", { mode: 0o644 });
    lay(target);
    logTo(folder);
    expect(readFileSync(target, "utf8")).toBe("mine");
    expect(statSync(target).mode & 0o777).toBe(0o644);
  });

  it("makes an own file of before private, and writes there", () => {
    writeFileSync(own(), "", { mode: 0o644 });
    logTo(folder);
    expect(readFileSync(own(), "utf8")).toContain('"msg":"here"');
    expect(statSync(own()).mode & 0o777).toBe(0o600);
  });

  it("does not wait for the reader of a pipe", () => {
    execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', own()]);
    logTo(folder);
    expect(lstatSync(own()).isFIFO()).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "writes to no file of another user and deletes none (needs root to make one)",
    () => {
      writeFileSync(own(), "");
      chownSync(own(), 65534, 65534);
      for (let age = 1; age <= 25; age += 1) {
        const file = join(folder, `unity-broker-mcp-${age}.log`);
        writeFileSync(file, "");
        chownSync(file, 65534, 65534);
      }
      logTo(folder);
      expect(readFileSync(own(), "utf8")).toBe("");
      rmSync(own());
      logTo(folder);
      expect(readFileSync(own(), "utf8")).toContain('"msg":"here"');
      expect(readdirSync(folder).filter((name) => /^unity-broker-mcp-/.test(name))).toHaveLength(25);
    },
  );
});

function linesOf(text: string): { level?: number }[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}
