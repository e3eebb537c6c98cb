/** `unity-broker worker` as processes of their own, beside a system in this one: to be killed, stopped and blocked. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EndpointFile } from "../../../src/shared/wire/wire.js";
import { type Cable, forwarded, layCable } from "../system/cable.js";
import type { System } from "../system/system.js";
import { environment } from "./installation.js";
import { createProcesses, type Processes, type RunningProcess, until } from "./processes.js";

export interface WorkerProcess {
  readonly process: RunningProcess;
  readonly toRedis: Cable;
  readonly toEditor: Cable;
  /** The Editor's endpoint file was written anew: this worker's copy, which leads through its cable, as well. */
  follow(): void;
  /** As if the Editor were no longer on this worker's host. */
  forget(): void;
  /** Its event loop stands still, in the middle of whatever it does; settles when it does. */
  block(): Promise<void>;
  unblock(): void;
  /** Settles when it has said this on stderr, before or from now on. */
  says(words: string): Promise<void>;
}

export interface WorkerProcesses {
  /** Rejects when it does not serve; `env` on top of the fast timings. */
  start(system: Pick<System, "redis" | "editor">, env?: Record<string, string>): Promise<WorkerProcess>;
  /** The same for an Editor that is not the system's. */
  startFor(
    system: Pick<System, "redis">,
    endpoint: () => EndpointFile,
    env?: Record<string, string>,
  ): Promise<WorkerProcess>;
  /** Ends all; answers what did not end as it should. The next ones may be started afterwards. */
  close(): Promise<string[]>;
}

/** At SIGUSR2 nothing of the process goes on until the file is there: a true endless loop, not a signal that stops it. */
const BLOCKABLE = `
import { existsSync, writeSync } from "node:fs";
const cell = new Int32Array(new SharedArrayBuffer(4));
process.on("SIGUSR2", () => {
  writeSync(2, "the event loop is blocked\\n");
  while (!existsSync(process.env.UJB_TEST_UNBLOCK)) Atomics.wait(cell, 0, 0, 5);
});`;

export function createWorkerProcesses(): WorkerProcesses {
  const closers: (() => Promise<void>)[] = [];
  /** Whatever is left behind must be able to end. */
  const releases: (() => void)[] = [];
  let processes: Processes | undefined;

  const startFor: WorkerProcesses["startFor"] = async (system, endpoint, env = {}) => {
    const folder = mkdtempSync(join(tmpdir(), "ujb-worker-"));
    const editors = join(folder, "editors");
    mkdirSync(editors);
    const toRedis = await layCable(() => system.redis.connection);
    const toEditor = await layCable(() => ({ host: "127.0.0.1", port: endpoint().port }));
    closers.push(async () => {
      await Promise.all([toRedis.close(), toEditor.close()]);
      rmSync(folder, { recursive: true, force: true });
    });
    const file = join(editors, "editor.json");
    const follow = (): void => {
      writeFileSync(`${file}.new`, JSON.stringify(forwarded(endpoint(), toEditor)), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    };
    follow();
    const unblocked = join(folder, "unblock");
    processes ??= createProcesses();
    const process = processes.start(
      "worker",
      ["worker"],
      environment(folder, {
        // What has ended is acknowledged at once.
        UNITY_BROKER_ACK_DELAY_MS: "30",
        ...env,
        REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
        UNITY_BROKER_DATA_DIR: folder,
        NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(BLOCKABLE)}`,
        UJB_TEST_UNBLOCK: unblocked,
      }),
    );
    const says = (words: string): Promise<void> =>
      until(`the worker says "${words}"`, () => process.stderr.includes(words)).then(() => undefined);
    await process.line(/^Worker for/);
    const unblock = (): void => writeFileSync(unblocked, "");
    releases.push(() => {
      unblock();
      toRedis.fix();
      toEditor.fix();
    });
    return {
      process,
      toRedis,
      toEditor,
      follow,
      forget: () => rmSync(file),
      async block() {
        process.signal("SIGUSR2");
        await says("the event loop is blocked");
      },
      unblock,
      says,
    };
  };

  return {
    start: (system, env) => startFor(system, () => system.editor.endpoint(), env),
    startFor,
    async close() {
      for (const release of releases.splice(0)) release();
      const faults = (await processes?.close()) ?? [];
      processes = undefined;
      for (const close of closers.splice(0).reverse()) await close();
      return faults;
    },
  };
}
