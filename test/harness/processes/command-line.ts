/** The commands as a user types them, in a home of their own; whatever a test starts is ended and checked. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { readEndpoint } from "../../../src/embedded-redis/endpoint.js";
import { createDataDirectory } from "../redis/redis.js";
import { faultsOfTimes } from "../system/record-times.js";
import { BACKGROUND, endBrokers } from "./brokers.js";
import { environment } from "./installation.js";
import { expectNoLeak } from "./leaks.js";
import { createProcesses, MAIN, type Processes, type RunningProcess } from "./processes.js";

export interface Typed {
  code: number | null;
  stdout: string;
  stderr: string;
  ms: number;
}

export interface CommandLine {
  /** Runs a command to its end, in this process's folder or another. */
  type(args: readonly string[], more?: Record<string, string>, folder?: string): Promise<Typed>;
  /** Starts one that serves until it is killed. */
  start(
    name: string,
    args: readonly string[],
    more?: Record<string, string>,
    folder?: string,
  ): RunningProcess;
  here(): { processes: Processes; folder: string; dataDir: string; env: NodeJS.ProcessEnv };
  /** Closed after the test, before its processes end. */
  closeLater(close: () => Promise<unknown>): void;
}

/** Call it at the top of a test file. */
export function useCommandLine(): CommandLine {
  let place: ReturnType<CommandLine["here"]>;
  let removeData: () => Promise<void>;
  const closers: (() => Promise<unknown>)[] = [];

  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), "ujb-commands-"));
    const data = createDataDirectory();
    removeData = data.remove;
    const env = environment(folder, {
      UNITY_BROKER_DATA_DIR: data.dataDir,
      // The binary that other tests have obtained; everything else of the home directory is the test's own.
      UNITY_BROKER_CACHE_DIR: defaultDirectories(process.env).cacheDir,
      UNITY_BROKER_LOG_LEVEL: "info",
      UNITY_BROKER_ANSWERS: "full",
      ...BACKGROUND,
    });
    place = { processes: createProcesses(), folder, dataDir: data.dataDir, env };
  });

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    const faults = await place.processes.close();
    faults.push(...(await endBrokers(place.env)));
    faults.push(...(await faultsOfTimesIn(place.dataDir)));
    await removeData();
    rmSync(place.folder, { recursive: true, force: true });
    expect(faults, place.processes.logs()).toEqual([]);
    await expectNoLeak();
  });

  return {
    here: () => place,
    closeLater: (close) => void closers.push(close),
    start: (name, args, more = {}, folder = process.cwd()) =>
      place.processes.start(name, args, { ...place.env, ...more }, [MAIN], folder),

    async type(args, more = {}, folder = process.cwd()) {
      const startedAt = performance.now();
      const child = spawn(process.execPath, [MAIN, ...args], {
        env: { ...place.env, ...more },
        cwd: folder,
      });
      place.processes.guard(child.pid ?? 0);
      let stdout = "";
      let stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      return { code, stdout, stderr, ms: performance.now() - startedAt };
    },
  };
}

/** Of the records in the private Redis that the commands have used; none where it does not run. */
async function faultsOfTimesIn(dataDir: string): Promise<string[]> {
  const endpoint = readEndpoint(join(dataDir, "redis"));
  if (!endpoint) return [];
  const hand = new Redis({ ...endpoint.address, lazyConnect: true, retryStrategy: null });
  hand.on("error", () => undefined);
  try {
    const isThere = await hand.connect().then(
      () => true,
      () => false,
    );
    return isThere ? await faultsOfTimes(hand) : [];
  } finally {
    hand.disconnect();
  }
}
