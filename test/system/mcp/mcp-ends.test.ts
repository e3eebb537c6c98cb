/** However its client goes, `mcp` goes too, and leaves the private Redis to the others. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parentGone } from "../../../src/cli/processes/stop.js";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { type EmbeddedRedis, ensureEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { ask } from "../../../src/embedded-redis/redis-probe.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import { INITIALIZE } from "../../harness/mcp/mcp.js";
import { environment } from "../../harness/processes/installation.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { createProcesses, MAIN, type Processes, until } from "../../harness/processes/processes.js";
import { createDataDirectory, type TestDataDirectory } from "../../harness/redis/redis.js";

const { cacheDir } = defaultDirectories(process.env);

let folder: string;
let data: TestDataDirectory;
let redis: EmbeddedRedis;
let env: NodeJS.ProcessEnv;
let processes: Processes;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ujb-mcp-ends-"));
  data = createDataDirectory();
  redis = await ensureEmbeddedRedis({ dataDir: data.dataDir, cacheDir, env: process.env, say: () => {} });
  env = environment(folder, { UNITY_BROKER_DATA_DIR: data.dataDir, UNITY_BROKER_CACHE_DIR: cacheDir });
});
afterAll(async () => {
  await data.remove();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  processes = createProcesses();
});
afterEach(async () => {
  expect(await processes.close(), processes.logs()).toEqual([]);
  expect(identify(redis.pid)).toBeDefined();
  expect(await ask(redis.address)).toBe("ready");
});

const isGone = (pid: number) => until("the process is gone", () => identify(pid) === undefined);

/** A client that has a server and gets its first answer; `script` says what it does with the server's pipes. */
async function startKillableClient(stdio: string): Promise<{ client: ChildProcess; server: number }> {
  const client = spawn(
    process.execPath,
    [
      "-e",
      `const server = require("node:child_process").spawn(process.execPath, [${JSON.stringify(MAIN)}, "mcp"], { stdio: ${stdio} });
       process.stderr.write("pid " + server.pid + "\\n");
       server.stdout?.pipe(process.stdout);
       server.stdin?.write(${JSON.stringify(`${JSON.stringify(INITIALIZE)}\n`)});
       setInterval(() => {}, 1000);`,
    ],
    { env, stdio: ["pipe", "pipe", "pipe"] },
  );
  processes.guard(client.pid ?? 0);
  let said = "";
  client.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  client.stdin?.on("error", () => undefined);
  const answered = once(client.stdout as NodeJS.ReadableStream, "data");
  // Reaches the server only where it inherited this pipe.
  client.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
  await answered;
  const server = Number(/^pid (\d+)$/m.exec(said)?.[1]);
  processes.guard(server);
  expect(identify(server)).toBeDefined();
  return { client, server };
}

describe("mcp ends", () => {
  it("when its input ends", async () => {
    const { process: server } = await openStdioClient(processes.start("mcp", ["mcp"], env));
    server.endInput();
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("at %s", async (signal) => {
    const { process: server } = await openStdioClient(processes.start("mcp", ["mcp"], env));
    expect(await server.kill(signal)).toEqual({ code: 0, signal: null });
  });

  it("when nobody reads what it says, though its input stays open", async () => {
    const server = spawn(process.execPath, [MAIN, "mcp"], { env, stdio: ["pipe", "pipe", "ignore"] });
    processes.guard(server.pid ?? 0);
    server.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await once(server.stdout, "data");
    const ended = once(server, "exit");
    server.stdout.destroy();
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    expect(await ended).toEqual([0, null]);
  });

  it("when its client was killed and its pipes went with it", async () => {
    const { client, server } = await startKillableClient('["pipe", "pipe", "inherit"]');
    client.kill("SIGKILL");
    await isGone(server);
  });

  it("when its client was killed and somebody else holds the pipes", async () => {
    // These pipes are the test's own: no end of input comes.
    const { client, server } = await startKillableClient('"inherit"');
    client.kill("SIGKILL");
    await isGone(server);
    client.stdin?.destroy();
  });

  it("when asked while it still waits for its store", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const connected = once(silent, "connection");
    const server = processes.start("mcp", ["mcp"], { ...env, REDIS_URL: `redis://127.0.0.1:${port}` });
    await connected;
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe("where a process keeps its parent's id for ever, as on Windows", () => {
  it("the end of that process is noticed", async () => {
    const parent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    await once(parent, "spawn");
    let isNoticed = false;
    const gone = parentGone({ platform: "win32", parent: parent.pid ?? 0, everyMs: 5 }).then((reason) => {
      isNoticed = true;
      return reason;
    });
    const others = [0, 1, 2].map(() => parentGone({ platform: "win32", parent: -1, everyMs: 5 }));
    // Time enough for looks at the one that lives.
    await Promise.all(others);
    expect(isNoticed).toBe(false);
    parent.kill("SIGKILL");
    // Its timer keeps nobody alive: something else must.
    const alive = setInterval(() => {}, 1_000);
    expect(await gone).toMatch(/parent/);
    clearInterval(alive);
  });
});
