/** What every command that serves needs: configuration, a log on stderr, and the store, private Redis included. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { defaultDirectories } from "../embedded-redis/directories.js";
import type { EmbeddedRedisOptions } from "../embedded-redis/embedded-redis.js";
import { type Audit, createAudit } from "../gateway/audit.js";
import type { GatewayOptions } from "../gateway/gateway.js";
import { GATEWAY_DEFAULTS } from "../gateway/gateway.js";
import { createNoteFile } from "../gateway/known-editors-note.js";
import { type Config, readConfig } from "../shared/config.js";
import { WAIT_LIMITS } from "../shared/expiry.js";
import type { Log } from "../shared/log.js";
import { checkFolder, ownFolder } from "../shared/machine/private-folder.js";
import type { RedisTarget } from "../shared/redis/connect.js";
import { orderlyEnd } from "../shared/redis/incarnation.js";
import { openStore, type Store } from "../shared/redis/store.js";
import { REPLAY_DEFAULTS } from "../shared/replay.js";
import { unityLogPlaces } from "../worker/log-places.js";
import { ensureOriginKey, passingOriginKey } from "../worker/origin-key.js";
import { WORKER_DEFAULTS, type WorkerOptions } from "../worker/worker.js";
import { createLog } from "./log.js";
import { createRevival, openPrivate } from "./private-redis.js";

export interface Settings {
  config: Config;
  dataDir: string;
  cacheDir: string;
  editorsFolder: string;
  /** Editors that are named because they cannot be found. */
  named: Config["UNITY_BROKER_EDITORS"];
  tokensFile: string;
  localTokenFile: string;
}

export interface Runtime extends Settings {
  log: Log;
  store: Store;
  originKey: Buffer;
  /** Which Editors the store knows: noted beside it, each store in a file of its own. */
  knownEditorsFile: string;
  /** Undefined: none is wanted. */
  audit: Audit | undefined;
  close(): Promise<void>;
}

const MINUTE = 60_000;
const MB = 1024 * 1024;
const HOUR = 60 * MINUTE;

/** The variables that are not ours: NO_COLOR, APPDATA and the like. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}

/** process.env is read in this file and nowhere else. */
export function readSettings(): Settings {
  const config = withRedisPassword(readConfig(process.env));
  const directories = defaultDirectories(process.env);
  const dataDir = config.UNITY_BROKER_DATA_DIR ?? directories.dataDir;
  return {
    config,
    dataDir,
    cacheDir: config.UNITY_BROKER_CACHE_DIR ?? directories.cacheDir,
    editorsFolder: config.UNITY_BROKER_EDITORS_DIR ?? join(homedir(), ".unity-job-broker", "editors"),
    named: config.UNITY_BROKER_EDITORS,
    tokensFile: config.UNITY_BROKER_TOKENS_FILE ?? join(dataDir, "tokens.json"),
    localTokenFile: join(dataDir, "local.token"),
  };
}

/** An environment is shown by `docker inspect` and inherited; a file is neither. */
function withRedisPassword(config: Config): Config {
  const { REDIS_URL, REDIS_PASSWORD_FILE: file } = config;
  if (file === undefined) return config;
  try {
    if (REDIS_URL === undefined) throw new Error("it needs REDIS_URL");
    const url = new URL(REDIS_URL);
    url.password = encodeURIComponent(readFileSync(file, "utf8").trim());
    return { ...config, REDIS_URL: url.href };
  } catch (error) {
    const { message } = error as Error;
    throw new z.ZodError([{ code: "custom", path: ["REDIS_PASSWORD_FILE"], message, input: file }]);
  }
}

/** Other users get nothing out of this user's folders and nothing into them. Throws NotPrivate. */
export function ownFolders({ config, dataDir, cacheDir, editorsFolder }: Settings): void {
  const own = (folder: string, isChosen: boolean): void =>
    isChosen ? checkFolder(folder) : ownFolder(folder);
  own(dataDir, config.UNITY_BROKER_DATA_DIR !== undefined);
  own(cacheDir, config.UNITY_BROKER_CACHE_DIR !== undefined);
  if (config.UNITY_BROKER_EDITORS_DIR !== undefined) return;
  ownFolder(dirname(editorsFolder));
  ownFolder(editorsFolder);
}

/** A user of several stores knows other Editors in each; an address may hold a password. */
function storeName({ REDIS_URL }: Config): string {
  if (REDIS_URL === undefined) return "private";
  return createHash("sha256").update(REDIS_URL).digest("hex").slice(0, 16);
}

/** Connects to the store, starting the private Redis where no REDIS_URL is given; rejects with what was tried. */
export async function startRuntime(settings: Settings = readSettings()): Promise<Runtime> {
  const { config } = settings;
  ownFolders(settings);
  const log = createLog(config, { dataDir: settings.dataDir, command: process.argv[2] ?? "broker" });
  const embedded: EmbeddedRedisOptions = {
    dataDir: settings.dataDir,
    cacheDir: settings.cacheDir,
    env: process.env,
    say: (message) => log.info({}, message),
    idleMs: config.UNITY_BROKER_REDIS_IDLE_MINUTES * MINUTE,
    lastCommand: orderlyEnd(),
    ...(config.UNITY_BROKER_REDIS_BINARY === undefined ? {} : { binary: config.UNITY_BROKER_REDIS_BINARY }),
  };
  const knownEditorsFile = join(settings.dataDir, "known-editors", `${storeName(config)}.json`);
  const storeId = (await createNoteFile(knownEditorsFile, log).read()).note?.storeId;
  const originKey = await originKeyOf(settings, log);
  const revive = config.REDIS_URL === undefined ? createRevival(embedded, log) : undefined;
  const open = (redis: RedisTarget): Promise<Store> =>
    openStore(redis, {
      storeId,
      retentionMs: config.UNITY_BROKER_RETENTION_HOURS * HOUR,
      maxRunning: config.UNITY_BROKER_MAX_RUNNING,
      maxQueued: config.UNITY_BROKER_MAX_QUEUED,
      resultsBudgetBytes: config.UNITY_BROKER_RESULTS_BUDGET_MB * MB,
      argumentsBudgetBytes: config.UNITY_BROKER_ARGUMENTS_BUDGET_MB * MB,
      principalShare: config.UNITY_BROKER_PRINCIPAL_SHARE / 100,
      partialsBudgetBytes: config.UNITY_BROKER_PARTIALS_BUDGET_MB * MB,
      derivedBudgetBytes: config.UNITY_BROKER_PARTS_BUDGET_MB * MB,
      onError(error) {
        log.warn({ error: error.message }, "Redis");
        revive?.();
      },
    });
  const store =
    config.REDIS_URL === undefined ? await openPrivate(embedded, open) : await open(config.REDIS_URL);
  const keptDays = config.UNITY_BROKER_AUDIT_DAYS;
  const audit = keptDays === 0 ? undefined : createAudit(join(settings.dataDir, "audit"), log, { keptDays });
  const close = async (): Promise<void> => {
    await audit?.close();
    await store.close();
  };
  return { ...settings, log, store, originKey, knownEditorsFile, audit, close };
}

/** A file that is named must be usable; without a data folder to write to, the process has a key of its own. */
async function originKeyOf({ config, dataDir }: Settings, log: Log): Promise<Buffer> {
  const named = config.UNITY_BROKER_ORIGIN_KEY_FILE;
  const file = named ?? join(dataDir, "origin.key");
  const key = ensureOriginKey(file);
  return named === undefined ? key.catch((error: Error) => passingOriginKey(log, file, error)) : key;
}

export function gatewayOptions(config: Config): GatewayOptions {
  return {
    ...GATEWAY_DEFAULTS,
    replay: { ...REPLAY_DEFAULTS, replayWindowMs: config.UNITY_BROKER_REPLAY_MINUTES * MINUTE },
    limits: {
      ...WAIT_LIMITS,
      absentMs: config.UNITY_BROKER_ABSENT_MINUTES * MINUTE,
      unsentMs: config.UNITY_BROKER_UNSENT_HOURS * HOUR,
    },
    maxResultTokens: config.UNITY_BROKER_MAX_RESULT_TOKENS,
    executionClasses: config.UNITY_BROKER_EXECUTION_CLASSES,
    cancelOverdue: config.UNITY_BROKER_CANCEL_OVERDUE,
    confirmsDestructive: config.UNITY_BROKER_CONFIRM_DESTRUCTIVE,
    safetyPollMs: config.UNITY_BROKER_SAFETY_POLL_MS,
    sweepMs: config.UNITY_BROKER_SWEEP_MS,
    // By then no record is left that a call without a target could mean.
    forgetEditorMs: config.UNITY_BROKER_RETENTION_HOURS * HOUR,
  };
}

export function workerOptions(config: Config): WorkerOptions {
  const leaseMs = config.UNITY_BROKER_LEASE_MS;
  const lockMs = config.UNITY_BROKER_JOB_LOCK_MS;
  return {
    ...WORKER_DEFAULTS,
    retentionMs: config.UNITY_BROKER_RETENTION_HOURS * HOUR,
    replay: gatewayOptions(config).replay,
    lease: { ttlMs: leaseMs, renewMs: Math.ceil(leaseMs / 5) },
    jobLockMs: lockMs,
    stalledCheckMs: Math.ceil(lockMs / 3),
    ackDelayMs: config.UNITY_BROKER_ACK_DELAY_MS,
    maxResultBytes: config.UNITY_BROKER_MAX_RESULT_MB * MB,
    logPlaces: unityLogPlaces(config.UNITY_BROKER_EDITOR_LOGS),
    tools: {
      ...WORKER_DEFAULTS.tools,
      tools: config.UNITY_BROKER_MAX_TOOLS,
      listCharacters: config.UNITY_BROKER_TOOL_LIST_KB * 1000,
    },
  };
}
