/** What is loaded: a private Redis as installations have it, a worker and a gateway, each a process, and Editors in one more. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import type { RedisAddress } from "../../../src/shared/store/connect.js";
import { keys } from "../../../src/shared/store/keys.js";
import { createProcesses, type RunningProcess, until } from "../../harness/processes/processes.js";
import { createDataDirectory } from "../../harness/redis/redis.js";
import type { Closers } from "../bench/closers.js";
import { environment } from "../bench/environment.js";
import { type OwnProcess, startOwnProcess } from "../bench/floors/child-process.js";
import type { EditorsSettings, SessionsSettings } from "./settings.js";

export interface LoadedEditor {
  editorId: string;
  counterFile: string;
}

/** By a process that has just collected its garbage. */
export interface Held {
  /** Heap and buffers. */
  megabytes: number;
  /** Those that keep it alive. */
  timers: number;
  sockets: number;
}

export interface Stage {
  readonly address: RedisAddress;
  readonly redis: Redis;
  /** Process ids by what they are. */
  readonly pids: ReadonlyMap<string, number>;
  /** Collects the garbage of gateway and worker; what they hold then. */
  collect(): Promise<Record<"gateway" | "worker", Held>>;
  /** Resolves when the store knows them all, connected. */
  startEditors(count: number): Promise<readonly LoadedEditor[]>;
  /** Processes with so many sessions in all, every one greeted. */
  startSessions(sessions: number, processes: number): Promise<readonly OwnProcess<unknown>[]>;
}

/** At SIGUSR2: V8 collects when it likes, and what is garbage by then is no growth. */
const COLLECTING = `--import data:text/javascript,${encodeURIComponent(`
import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const open = process.getActiveResourcesInfo();
  const timers = open.filter((what) => what === "Timeout").length;
  const sockets = open.filter((what) => /^(TCP|Pipe)(Socket)?Wrap$/.test(what)).length;
  writeSync(2, "holds " + JSON.stringify({ megabytes: (heapUsed + external) / 1e6, timers, sockets }) + "\\n");
});`)}`;

async function heldBy(running: RunningProcess): Promise<Held> {
  const said = (): string[] =>
    [...running.stderr.matchAll(/^holds (\{.*\})$/gm)].map(([, held = ""]) => held);
  const before = said().length;
  running.signal("SIGUSR2");
  return JSON.parse(await until(`${running.name} says what it holds`, () => said()[before])) as Held;
}

const EDITORS = new URL("./editors-process.ts", import.meta.url);
const SESSIONS = new URL("./sessions-process.ts", import.meta.url);
/** Principals, so that the limits of one are out of the way. */
const PRINCIPALS = 20;

/** Rejects when a part does not start; `closers` then holds the ends of those that did. */
export async function setStage(closers: Closers): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-load-"));
  closers.add(() => rmSync(folder, { recursive: true, force: true }));
  const data = createDataDirectory();
  closers.add(() => data.remove());
  const { dataDir } = data;
  const { cacheDir } = defaultDirectories(process.env);
  const { address } = await ensureEmbeddedRedis({ dataDir, cacheDir, env: process.env, say: console.error });
  const redis = new Redis(address);
  // Its server is ended before it.
  redis.on("error", () => undefined);
  closers.add(() => redis.disconnect());
  const env = environment(folder, dataDir, cacheDir);
  const file = createTokens(join(dataDir, "tokens.json"));
  const tokens: string[] = [];
  for (let at = 0; at < PRINCIPALS; at += 1) tokens.push(await file.create(`principal-${at}`));

  const processes = createProcesses();
  closers.add(async () => {
    const faults = await processes.close();
    if (faults.length > 0) throw new Error(faults.join("\n"));
  });
  const collecting = { ...env, NODE_OPTIONS: COLLECTING };
  const worker = processes.start("worker", ["worker"], collecting);
  await worker.line(/^Worker for/);
  const gateway = processes.start("gateway", ["gateway", "--port", "0"], collecting);
  const [, url = ""] = await gateway.line(/^MCP endpoint: (\S+)$/);
  const pids = new Map([
    ["gateway", gateway.pid],
    ["worker", worker.pid],
    ["Redis", Number(/^process_id:(\d+)/m.exec(await redis.info("server"))?.[1])],
  ]);

  const startOwn = <Ready>(file: URL, settings: object): OwnProcess<Ready> => {
    const own = startOwnProcess<Ready>(file, settings, env);
    processes.guard(own.pid);
    closers.add(own.close);
    return own;
  };
  return {
    ...{ address, redis, pids },
    async collect() {
      const [ofGateway, ofWorker] = await Promise.all([heldBy(gateway), heldBy(worker)]);
      return { gateway: ofGateway, worker: ofWorker };
    },
    async startEditors(count) {
      const settings: EditorsSettings = { folder, editorsFolder: env.UNITY_BROKER_EDITORS_DIR ?? "", count };
      const own = startOwn<{ editors: LoadedEditor[] }>(EDITORS, settings);
      pids.set("Editors", own.pid);
      const { editors } = await own.ready;
      await until(
        "every Editor's tools are known",
        async () => (await redis.exists(...editors.map(({ editorId }) => keys.catalog(editorId)))) === count,
        60_000,
      );
      return editors;
    },
    async startSessions(sessions, count) {
      const started = Array.from({ length: count }, (_, at) => {
        const own = { sessions: sessions / count, name: `client ${at + 1}` };
        return startOwn(SESSIONS, { url, tokens, ...own } satisfies SessionsSettings);
      });
      for (const [at, { pid }] of started.entries()) pids.set(`clients ${at + 1}`, pid);
      await Promise.all(started.map(({ ready }) => ready));
      return started;
    },
  };
}
