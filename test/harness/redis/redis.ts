import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Redis } from "ioredis";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { stopEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { findRedisBinary, type RedisBinary } from "../../../src/embedded-redis/package/binary.js";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { awaitAnswer } from "../../../src/embedded-redis/redis-probe.js";
import { launchServer, logTail, type RedisAddress } from "../../../src/embedded-redis/server.js";
import { containerEngineAnswers, startContainerRedis } from "./redis-container.js";

/** Names a copy of a test server's data; ends with the server. */
export type RedisCopy = string;

/** A real Redis of a test's own, empty at first. */
export interface TestRedis {
  /** For `new Redis(connection)` and for BullMQ's `connection`; the same after `restart()`. */
  readonly connection: RedisAddress | { host: string; port: number };
  /** Deletes every key. */
  flush(): Promise<void>;
  /** Ends the server as a power cut would (SIGKILL); resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts a server on the same data, killing the present one if it still runs; resolves when it serves. */
  restart(): Promise<void>;
  /** Copies the data as it is now; may be called while it serves. */
  copy(): Promise<RedisCopy>;
  /** Kills the server and starts one on this copy: what was written since is lost, and every connection. */
  restore(copy: RedisCopy): Promise<void>;
  /** Ends the server and deletes its data; may be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts a Redis server for one test file: a container if an engine answers, else a private child process.
 *
 * Every write is on disk before its reply (`appendfsync always`), so a kill loses nothing that a test has seen
 * acknowledged. No server outlives the test process, even when that is killed.
 */
export async function startTestRedis(): Promise<TestRedis> {
  const server = (await containerEngineAnswers()) ? await startContainerRedis() : await startProcessRedis();
  return { ...server, flush: () => flushAll(server.connection) };
}

let ofThisProcess: Promise<TestRedis> | undefined;

/**
 * The server that the files of one test process share, one file at a time: a file leaves it running and empty. It ends
 * with the process.
 */
export function sharedTestRedis(): Promise<TestRedis> {
  ofThisProcess ??= startTestRedis();
  return ofThisProcess;
}

/** From PATH or the cache; the global set-up has obtained one where there was none. */
export function redisHere(): Promise<RedisBinary> {
  const { cacheDir } = defaultDirectories(process.env);
  return findRedisBinary({ cacheDir, env: process.env, say: (message) => console.error(message) });
}

/** Writes a program that is this machine's Redis under another name, whatever libraries that one needs. */
export async function plantRedis(file: string): Promise<void> {
  const server = await redisHere();
  const { LD_LIBRARY_PATH: libraries = "" } = withLibraries(process.env, server.libraryPath);
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const script = `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${server.file}' "$@"\n`;
  writeFileSync(file, script, { mode: 0o755 });
}

async function startProcessRedis(): Promise<Omit<TestRedis, "flush">> {
  const binary = await redisHere();
  // Directly below the temporary directory: a socket's path has at most 104 bytes on macOS.
  const directory = mkdtempSync(join(tmpdir(), "ujb-test-"));
  const connection = { path: join(directory, "s") };
  let server: ChildProcess | undefined;
  let watchdog: ChildProcess | undefined;

  const start = async () => {
    server = launchServer({
      binary,
      directory,
      address: connection,
      env: process.env,
      detached: false,
    });
    const started = server;
    if (started.pid === undefined) throw (await once(started, "error"))[0];
    watchdog = whenWeEnd('kill -9 "$0" 2>/dev/null; rm -rf "$1"', [String(started.pid), directory]);
    const answer = await awaitAnswer(
      connection,
      () => started.exitCode === null && started.signalCode === null,
    );
    if (answer !== "ready")
      throw new Error(`The test's Redis did not start (${answer}):\n${logTail(directory)}`);
  };
  const kill = async () => {
    const ending = server;
    server = undefined;
    if (ending && ending.exitCode === null && ending.signalCode === null) {
      const gone = once(ending, "exit");
      ending.kill("SIGKILL");
      await gone;
    }
    watchdog?.kill("SIGKILL");
    watchdog = undefined;
  };

  /** A file of this name before Redis 7, a folder since. */
  const data = (): string[] => readdirSync(directory).filter((name) => name.startsWith("appendonly"));
  const putInto = (to: string, from: string, names: string[]): void => {
    for (const name of names) cpSync(join(from, name), join(to, name), { recursive: true });
  };

  await start();
  return {
    connection,
    kill,
    async restart() {
      await kill();
      await start();
    },
    async copy() {
      const copy = mkdtempSync(join(directory, "copy-"));
      // Every write was flushed before its reply: what a test has seen is in the files.
      putInto(copy, directory, data());
      return copy;
    },
    async restore(copy) {
      await kill();
      for (const name of data()) rmSync(join(directory, name), { recursive: true });
      putInto(directory, copy, readdirSync(copy));
      await start();
    },
    async stop() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Deletes every key of a server; rejects when it is not there. */
async function flushAll(connection: TestRedis["connection"]): Promise<void> {
  const redis = new Redis({ ...connection, maxRetriesPerRequest: 1 });
  redis.on("error", () => {
    // The command's rejection says the same.
  });
  try {
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
}

export interface TestDataDirectory {
  readonly dataDir: string;
  /** Ends the embedded server that runs there, if any, and deletes everything. */
  remove(): Promise<void>;
}

/**
 * A broker's data directory for tests of the embedded server, which by design outlives the process that starts it.
 *
 * Here it does not: it ends with `remove()`, or with the test process, by whatever means that ends.
 */
export function createDataDirectory(): TestDataDirectory {
  // As on a Mac ("Application Support") and in many a user's name: every path must get through quoting whole.
  const dataDir = mkdtempSync(join(tmpdir(), "ujb däta-"));
  const endpoint = join(dataDir, "redis", "endpoint.json");
  const watchdog = whenWeEnd(
    'kill -9 $(sed -n \'s/.*"pid":\\([0-9]*\\).*/\\1/p\' "$0") 2>/dev/null; rm -rf "$1"',
    [endpoint, dataDir],
  );
  return {
    dataDir,
    async remove() {
      await stopEmbeddedRedis({ dataDir });
      watchdog?.kill("SIGKILL");
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * A shell that waits for this process to end, by whatever means, and then runs a script ($0 and $1 are `args`).
 *
 * The system closes its standard input when we die. It has a session of its own, so that Ctrl-C does not reach it.
 * Undefined on Windows, which has no such shell: there a killed test run leaves its servers behind.
 */
function whenWeEnd(script: string, args: [string, string]): ChildProcess | undefined {
  if (process.platform === "win32") return undefined;
  const shell = spawn("/bin/sh", ["-c", `read -r _; ${script}`, ...args], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Neither may keep a test process from ending: its end is what they wait for.
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return shell;
}
