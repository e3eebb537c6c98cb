/** What every command that serves needs beside its settings: a log on stderr, and the store, private Redis included. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { EmbeddedRedisOptions } from "../../embedded-redis/embedded-redis.js";
import { type Audit, createAudit } from "../../gateway/auth/audit.js";
import { createNoteFile } from "../../gateway/editors/known-editors-note.js";
import type { Config } from "../../shared/config.js";
import type { Log } from "../../shared/log.js";
import type { RedisTarget } from "../../shared/store/connect.js";
import { orderlyEnd } from "../../shared/store/incarnation.js";
import { openStore, type Store } from "../../shared/store/store.js";
import { runningEditors } from "../../worker/discovery/endpoint-folder.js";
import { ensureRecoveryKey, temporaryRecoveryKey } from "../../worker/recovery/recovery-key.js";
import { environment } from "../environment.js";
import { createLog } from "../log.js";
import { VERSION } from "../version.js";
import { openOnceReachable } from "./await-store.js";
import { createRevival, openPrivate } from "./private-redis.js";
import { ownFolders, readSettings, type Settings } from "./settings.js";
import { startTraces } from "./traces.js";

export interface Runtime extends Settings {
  log: Log;
  store: Store;
  originKey: Buffer;
  /** Which Editors the store knows: noted beside it, each store in a file of its own. */
  knownEditorsFile: string;
  /** Undefined: none is wanted. */
  audit: Audit | undefined;
  /** The ids of the Editors that run on this machine, by their endpoint files. */
  running(): Promise<string[]>;
  close(): Promise<void>;
}

const MINUTE = 60_000;
const MB = 1024 * 1024;
const HOUR = 60 * MINUTE;

export interface RuntimeOptions {
  /** How long a configured Redis that is away is waited for, ms. */
  storeWaitMs: number;
  log?: Log | undefined;
  /** This process ends a private Redis that it starts, when it has been idle: no keeper of its own is needed. */
  keepsRedis?: boolean | undefined;
}

export function openLog({ config, dataDir }: Settings): Log {
  return createLog(config, { dataDir, command: process.argv[2] ?? "broker" });
}

/** A user of several stores knows other Editors in each; an address may hold a password. */
function storeName({ REDIS_URL }: Config): string {
  if (REDIS_URL === undefined) return "private";
  return createHash("sha256").update(REDIS_URL).digest("hex").slice(0, 16);
}

/**
 * Connects to the store, starting the private Redis where no REDIS_URL is given; rejects with what was tried. A
 * configured Redis that is away is waited for up to `storeWaitMs`, by default not at all.
 */
export async function startRuntime(
  settings: Settings = readSettings(),
  { storeWaitMs, log = openLog(settings), keepsRedis }: RuntimeOptions = { storeWaitMs: 0 },
): Promise<Runtime> {
  const { config } = settings;
  ownFolders(settings);
  const embedded: EmbeddedRedisOptions = {
    dataDir: settings.dataDir,
    cacheDir: settings.cacheDir,
    env: environment(),
    say: (message) => log.info({}, message),
    idleMs: keepsRedis ? undefined : config.UNITY_BROKER_REDIS_IDLE_MINUTES * MINUTE,
    lastCommand: orderlyEnd(),
    ...(config.UNITY_BROKER_REDIS_BINARY === undefined ? {} : { binary: config.UNITY_BROKER_REDIS_BINARY }),
  };
  const traces = await startTraces(environment(), VERSION, log);
  const knownEditorsFile = join(settings.dataDir, "known-editors", `${storeName(config)}.json`);
  const storeId = (await createNoteFile(knownEditorsFile, log).read()).note?.storeId;
  const originKey = await originKeyOf(settings, log);
  const revive = config.REDIS_URL === undefined ? createRevival(embedded, log) : undefined;
  const open = (redis: RedisTarget): Promise<Store> =>
    openStore(redis, {
      storeId,
      retentionMs: config.UNITY_BROKER_RETENTION_HOURS * HOUR,
      maxRunning: config.UNITY_BROKER_MAX_RUNNING,
      resources: config.UNITY_BROKER_RESOURCES,
      maxQueued: config.UNITY_BROKER_MAX_QUEUED,
      maxInQueue: config.UNITY_BROKER_MAX_IN_QUEUE,
      resultsBudgetBytes: config.UNITY_BROKER_RESULTS_BUDGET_MB * MB,
      argumentsBudgetBytes: config.UNITY_BROKER_ARGUMENTS_BUDGET_MB * MB,
      principalShare: config.UNITY_BROKER_PRINCIPAL_SHARE / 100,
      partialsBudgetBytes: config.UNITY_BROKER_PARTIALS_BUDGET_MB * MB,
      filteredBudgetBytes: config.UNITY_BROKER_PARTS_BUDGET_MB * MB,
      onError(error) {
        log.warn({ error: error.message }, "Redis");
        revive?.();
      },
    });
  const { REDIS_URL } = config;
  const store =
    REDIS_URL === undefined
      ? await openPrivate(embedded, open)
      : await openOnceReachable(() => open(REDIS_URL), { log, waitMs: storeWaitMs });
  const keptDays = config.UNITY_BROKER_AUDIT_DAYS;
  const audit = keptDays === 0 ? undefined : createAudit(join(settings.dataDir, "audit"), log, { keptDays });
  const close = async (): Promise<void> => {
    await audit?.close();
    await store.close();
    await traces.close();
  };
  const running = runningEditors(settings.editorsFolder, log);
  return { ...settings, log, store, originKey, knownEditorsFile, audit, running, close };
}

/** A supervisor or an MCP client may start a process while Redis restarts. */
const SERVING = { storeWaitMs: 5_000 };

/** The same for a process that serves: it waits for a Redis that is away. Undefined if it is asked to stop before. */
export function startServing(
  settings: Settings,
  stopping: Promise<unknown>,
  options: Partial<RuntimeOptions> = {},
): Promise<Runtime | undefined> {
  return Promise.race([startRuntime(settings, { ...SERVING, ...options }), stopping.then(() => undefined)]);
}

/** A file that is named must be usable; without a data folder to write to, the process has a key of its own. */
async function originKeyOf({ config, dataDir }: Settings, log: Log): Promise<Buffer> {
  const named = config.UNITY_BROKER_ORIGIN_KEY_FILE;
  const file = named ?? join(dataDir, "origin.key");
  const key = ensureRecoveryKey(file);
  return named === undefined ? key.catch((error: Error) => temporaryRecoveryKey(log, file, error)) : key;
}
