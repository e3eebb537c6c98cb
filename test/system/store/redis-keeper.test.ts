/** What becomes of the private Redis when nobody is there: it ends after a while, and is there again when needed. */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openPrivate, startRuntime } from "../../../src/cli/processes/runtime.js";
import { readSettings } from "../../../src/cli/processes/settings.js";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import {
  type EmbeddedRedis,
  type EmbeddedRedisOptions,
  ensureEmbeddedRedis,
  stopEmbeddedRedis,
} from "../../../src/embedded-redis/embedded-redis.js";
import { startKeeper } from "../../../src/embedded-redis/keeper-start.js";
import { readConfig } from "../../../src/shared/config.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import { openStore } from "../../../src/shared/store/store.js";
import { environment } from "../../harness/processes/installation.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { createProcesses, until } from "../../harness/processes/processes.js";
import { createDataDirectory, redisHere, type TestDataDirectory } from "../../harness/redis/redis.js";

const { cacheDir } = defaultDirectories(process.env);
const silent = () => {};

let data: TestDataDirectory;
let folder: string;
let options: EmbeddedRedisOptions;
const clients: Redis[] = [];

beforeEach(() => {
  data = createDataDirectory();
  folder = mkdtempSync(join(tmpdir(), "ujb-keeper-"));
  options = { dataDir: data.dataDir, cacheDir, env: process.env, say: silent };
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await data.remove();
  rmSync(folder, { recursive: true, force: true });
});

function connect({ address }: EmbeddedRedis): Redis {
  const client = new Redis({ ...address, retryStrategy: null });
  client.on("error", silent);
  clients.push(client);
  return client;
}

const isGone = ({ pid }: EmbeddedRedis) => until("the server has ended", () => identify(pid) === undefined);

describe("a private Redis that nobody uses", () => {
  test.each(["as on this system", "as on Windows, by TCP and password"])(
    "ends with its data kept, and the next one has it (%s)",
    async (how) => {
      let given = options;
      if (how.includes("Windows")) {
        const { file, libraryPath } = await redisHere();
        const env = { ...process.env, LD_LIBRARY_PATH: libraryPath.join(":") };
        given = { ...options, platform: "win32", binary: file, env };
      }
      const first = await ensureEmbeddedRedis({ ...given, idleMs: 200 });
      const client = connect(first);
      await client.set("operation", "executed");
      client.disconnect();

      await isGone(first);

      const second = await ensureEmbeddedRedis(given);
      expect(second).toMatchObject({ started: true, address: first.address });
      expect(await connect(second).get("operation")).toBe("executed");
    },
  );

  test("is not ended while one client is connected, though that one is silent", async () => {
    const server = await ensureEmbeddedRedis({ ...options, idleMs: 100 });
    const watcher = connect(server);
    const watching = await watcher.monitor();
    clients.push(watching as Redis);
    let looks = 0;
    watching.on("monitor", (_time: string, [name]: string[]) => {
      if (name === "INFO") looks += 1;
    });

    // Each look comes after a quarter of the idle time.
    await until("the keeper looked again and again", () => looks >= 20);
    expect(identify(server.pid)).toBeDefined();

    for (const client of [watcher, watching]) client.disconnect();
    await isGone(server);
  });

  test("ends when the only client was killed", async () => {
    const processes = createProcesses();
    const env = environment(folder, {
      UNITY_BROKER_DATA_DIR: data.dataDir,
      UNITY_BROKER_CACHE_DIR: cacheDir,
      UNITY_BROKER_REDIS_IDLE_MINUTES: "0.01",
    });
    const { process: mcp } = await openStdioClient(processes.start("mcp", ["mcp"], env));
    const endpoint = readFileSync(join(data.dataDir, "redis", "endpoint.json"), "utf8");
    await mcp.kill("SIGKILL");
    await isGone(JSON.parse(endpoint));
    await processes.close();
  });

  test("a client that comes while it is being ended has it started again", async () => {
    let losses = 0;
    const store = await openPrivate(options, async (redis) => {
      // It has just answered.
      if (losses === 0) await stopEmbeddedRedis(options);
      losses += 1;
      return openStore(redis, { retentionMs: 60_000 });
    });
    expect(losses).toBe(2);
    expect(await store.operations.now()).toBeGreaterThan(0);
    await store.close();

    // A server that refuses again and again is told, not tried for ever.
    const always = openPrivate(options, async () => openStore("redis://127.0.0.1:1", { retentionMs: 1 }));
    await expect(always).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  });

  test("brokers that come and go around its end never fail, and lose nothing", async () => {
    const config = readConfig({ UNITY_BROKER_REDIS_IDLE_MINUTES: "0.001", UNITY_BROKER_LOG_LEVEL: "silent" });
    const editorsFolder = join(folder, "home", "editors");
    const settings = { ...readSettings(), config, dataDir: data.dataDir, cacheDir, editorsFolder };
    const ids = new Set<string>();
    const servers = new Set<number>();
    const rounds = 40;
    for (let round = 0; round < rounds; round += 1) {
      const runtime = await startRuntime(settings);
      ids.add(runtime.store.storeId());
      await runtime.store.editors.ids();
      servers.add(JSON.parse(readFileSync(join(data.dataDir, "redis", "endpoint.json"), "utf8")).pid);
      await runtime.close();
      // From well before the end of the idle time (60 ms) to well after it.
      await new Promise((next) => setTimeout(next, 40 + round));
    }
    expect(ids.size).toBe(1);
    expect(servers.size).toBeGreaterThan(2);
    expect(servers.size).toBeLessThanOrEqual(rounds);
  });
});

describe("the keeper", () => {
  test("counts who came and went between two looks as a use", async () => {
    const said: string[] = [];
    let connections = 1;
    let isVisited = true;
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      const answer = (command: string): void => {
        const words = command.split("\r\n").filter((_, at) => at > 0 && at % 2 === 0);
        said.push(words.join(" ").trim());
        // Nobody but the keeper is there whenever it looks.
        const bulk = words.includes("LIST")
          ? "id=1 name=\n"
          : `total_connections_received:${connections}\r\n`;
        if (words[0] === "AUTH") socket.write("+OK\r\n");
        else if (words[0] !== "SHUTDOWN") socket.write(`$${bulk.length}\r\n${bulk}\r\n`);
        if (isVisited) connections += 1;
      };
      // Several commands may come in one piece.
      socket.on("data", (chunk) =>
        chunk
          .toString()
          .split(/(?=\*\d+\r\n)/)
          .forEach(answer),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const address = { host: "127.0.0.1", port, password: "secret" };

    startKeeper({ address, idleMs: 40 }, { env: process.env, directory: folder });
    await until("it looked many times", () => said.length > 40);
    expect(said[0]).toBe("AUTH secret");
    expect(said).not.toContain("SHUTDOWN");

    isVisited = false;
    await until("it ends the server", () => said.at(-1) === "SHUTDOWN");
    const [socket] = sockets as [Socket];
    const left = once(socket, "close");
    socket.end();
    await left;
    server.close();
    await once(server, "close");
  });
});

describe("the server's log", () => {
  test("is turned at a start when it grew large, and one old one is kept", async () => {
    const directory = join(data.dataDir, "redis");
    await mkdir(directory, { recursive: true });
    const log = join(directory, "redis.log");
    writeFileSync(log, "the beginning of the old log\n");
    truncateSync(log, 5 * 1024 * 1024 + 1);
    writeFileSync(`${log}.old`, "the one before");

    const first = await ensureEmbeddedRedis(options);

    expect(statSync(log).size).toBeLessThan(100_000);
    expect(readFileSync(`${log}.old`, "utf8")).toMatch(/^the beginning of the old log/);
    // A small one goes on.
    const before = statSync(log).size;
    await stopEmbeddedRedis(options);
    await ensureEmbeddedRedis(options);
    expect(statSync(log).size).toBeGreaterThan(before);
    expect(first.started).toBe(true);
  });
});
