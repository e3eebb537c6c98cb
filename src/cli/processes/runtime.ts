/** What every command that serves needs beside its settings: a log on stderr, and the store, private Redis included. */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
} from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type DestinationStream, destination, multistream, pino, stdSerializers } from "pino";
import type { Environment } from "../../embedded-redis/directories.js";
import { type EmbeddedRedisOptions, ensureEmbeddedRedis } from "../../embedded-redis/embedded-redis.js";
import { type Audit, createAudit } from "../../gateway/auth/audit.js";
import { createNoteFile } from "../../gateway/editors/known-editors.js";
import type { Config } from "../../shared/config.js";
import { BrokerError } from "../../shared/errors.js";
import { makeOwnFolder } from "../../shared/machine/private-folder.js";
import { printable, printableLine } from "../../shared/printable.js";
import { isStoreAway, type RedisTarget, reconnectPause } from "../../shared/store/connect.js";
import { orderlyEnd } from "../../shared/store/schema.js";
import { openStore, type Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import { runningEditors } from "../../worker/discovery/endpoint-folder.js";
import { ensureRecoveryKey, temporaryRecoveryKey } from "../../worker/recovery/recovery-key.js";
import { environment } from "../environment.js";
import { VERSION } from "../version.js";
import type { Traces } from "./open-traces.js";
import { ownFolders, readSettings, type Settings } from "./settings.js";

// A configured Redis that is away for a moment, as while it restarts: a process that serves waits for it at its start.

/** `waitMs`: for so long an attempt that finds Redis away is repeated; then it rejects as the last attempt did. */
export async function openOnceReachable<S>(
  open: () => Promise<S>,
  { log, waitMs }: { log: Log; waitMs: number },
): Promise<S> {
  const until = performance.now() + waitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      const isAway = error instanceof BrokerError && isStoreAway(error.cause);
      if (!isAway || performance.now() >= until) throw error;
      if (attempt === 1) log.warn({ seconds: waitMs / 1000 }, "Redis is away: the start waits for it");
      await delay(reconnectPause(attempt));
    }
  }
}

// Whether this process records traces: OpenTelemetry's own variables say it. Off, nothing of its SDK is loaded.

const OFF: Traces = { close: async () => undefined };

/**
 * Of the exporters only `otlp`: `console` would write to the stream on which MCP is spoken. Without any of these variables the
 * SDK would send to a collector on this machine; here they are off.
 */
function areWanted(env: Environment): boolean {
  if (/^true$/i.test(env.OTEL_SDK_DISABLED ?? "")) return false;
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (exporter) return exporter === "otlp";
  return Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

/** A process without the SDK, which npm may have left out, is reported and records nothing. */
export async function startTraces(env: Environment, version: string, log: Log): Promise<Traces> {
  if (!areWanted(env)) return OFF;
  try {
    const { openTraces } = await import("./open-traces.js");
    return openTraces(env, version, log);
  } catch (error) {
    const fix = "Install the package without --omit=optional, or unset OTEL_TRACES_EXPORTER.";
    log.warn({ error: (error as Error).message }, `Traces are not recorded. ${fix}`);
    return OFF;
  }
}

// Opens the private Redis for a command, and starts it again if it ended: killed, or idle for too long.

/** After so many losses in a row the cause is not that it was idle. */
const ATTEMPTS = 3;

/** It may end between the look and the connection, for having been idle for too long: then it is started again. */
export async function openPrivate<S>(
  options: EmbeddedRedisOptions,
  open: (redis: RedisTarget) => Promise<S>,
): Promise<S> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await open((await ensureEmbeddedRedis(options)).address);
    } catch (error) {
      const wasLost = error instanceof BrokerError && error.code === "STORE_UNREACHABLE";
      if (!wasLost || attempts === ATTEMPTS) throw error;
    }
  }
}

/** A private Redis that was killed comes back under the same address, and the connections with it. */
export function createRevival(options: EmbeddedRedisOptions, log: Log): () => void {
  let underWay = false;
  return () => {
    if (underWay) return;
    underWay = true;
    ensureEmbeddedRedis(options)
      .catch((error: Error) => log.error({ error: error.message }, "the private Redis could not be started"))
      .finally(() => {
        underWay = false;
      });
  };
}

// Secrets that may get into a log line through an error's message: tokens, and passwords in addresses.

/** A gateway's token (auth/tokens.ts), an Editor's proof or token (64 hexadecimal digits or more), `user:password@`. */
const SECRETS: readonly [RegExp, string][] = [
  [/\bujb_[\w-]{20,}/g, "ujb_[redacted]"],
  [/("(?:token|proof|password|authorization|pushKey)"\s*:\s*")[^"]+/gi, "$1[redacted]"],
  [/(\bBearer\s+)[\w.~+/-]+=*/gi, "$1[redacted]"],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*:)[^\s@/"]+(?=@)/gi, "$1[redacted]"],
];

export function withoutSecrets(line: string): string {
  return SECRETS.reduce((text, [secret, instead]) => text.replace(secret, instead), line);
}

// The log on a terminal: lines for people; programs get JSON.

/** pino's numbers. */
const LEVELS: Record<number, string> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

/** `line`: as pino writes it. Other text stays unchanged. */
export function readableLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { level, time, pid: _pid, hostname: _hostname, msg, ...values } = entry;
  const at = new Date(Number(time)).toISOString().slice(11, 19);
  const fields = Object.entries(values).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const severity = (LEVELS[Number(level)] ?? String(level)).padEnd(5);
  return `${printableLine([`${at} ${severity} ${String(msg)}`, ...fields].join("  "))}\n`;
}

// The log file of MCP_DEBUG: it belongs to this user, in a folder that may be shared with others.

/** Most logs kept, this one included. */
const KEPT = 20;

/** Only files with such names are ever deleted: the folder may contain other logs. */
const OWN_NAME = /^unity-broker-[a-z]+-\d+\.log$/;

/**
 * Opens the log of this process in `folder` and deletes all but the newest of the earlier ones.
 *
 * Follows no link and writes to no file of another user: a shared folder may contain either, under a name that is
 * easy to guess. Throws if the file cannot be used.
 */
export function openDebugFile(folder: string, command: string): { file: string; descriptor: number } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const word = /^[a-z]+$/.test(command) ? command : "broker";
  const file = join(folder, `unity-broker-${word}-${process.pid}.log`);
  // Windows has neither of the last two. Without O_NONBLOCK, opening a pipe waits for its reader.
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const found = fstatSync(descriptor);
    if (!isOwn(found)) throw new Error(`${file} is not a regular file of this user: delete it`);
    // A log of an earlier process with this id may be readable for others.
    fchmodSync(descriptor, 0o600);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  prune(folder);
  return { file, descriptor };
}

/** A second name of a file (a hard link) may lead to one that is not a log at all. */
function isOwn(found: Stats): boolean {
  const uid = process.getuid?.();
  return found.isFile() && found.nlink === 1 && (uid === undefined || found.uid === uid);
}

function prune(folder: string): void {
  const logs = readdirSync(folder)
    .filter((name) => OWN_NAME.test(name))
    .map((name) => ({
      file: join(folder, name),
      found: lstatSync(join(folder, name), { throwIfNoEntry: false }),
    }))
    .filter(({ found }) => found !== undefined && isOwn(found))
    .sort((one, other) => (other.found?.mtimeMs ?? 0) - (one.found?.mtimeMs ?? 0));
  for (const { file } of logs.slice(KEPT)) {
    try {
      rmSync(file, { force: true });
    } catch {
      // Windows does not delete a log that a process still writes.
    }
  }
}

// The log of a command: on stderr, as lines on a terminal and as JSON elsewhere; with MCP_DEBUG also in a file, because clients hide stderr.

/**
 * Opens the log. Each line is written before the call returns, so that none is lost if the process dies.
 *
 * A file that cannot be written is reported on stderr and not used: a debug log must not stop the work.
 */
export function createLog(
  config: Pick<Config, "UNITY_BROKER_LOG_LEVEL" | "MCP_DEBUG">,
  place: { dataDir: string; command: string },
  redact: (line: string) => string = withoutSecrets,
): Log {
  const hooks = { streamWrite: redact };
  // Else an Error under this name is written as {}.
  const serializers = { error: stdSerializers.err };
  const level = config.UNITY_BROKER_LOG_LEVEL;
  const stderr = onTerminal(
    destination({ dest: 2, sync: true }),
    process.stderr.isTTY ? readableLine : undefined,
  );
  const folder = logFolder(config.MCP_DEBUG, place.dataDir);
  if (folder === undefined) return pino({ level, hooks, serializers }, stderr);
  try {
    // A folder that the user named may contain other files, so its mode stays.
    if (dirname(folder) === place.dataDir) makeOwnFolder(folder);
    const { file, descriptor } = openDebugFile(folder, place.command);
    const debug = onTerminal(destination({ fd: descriptor, sync: true }));
    const streams = [
      { level: "debug" as const, stream: debug },
      // pino cannot log without a stream.
      ...(level === "silent" ? [] : [{ level, stream: stderr }]),
    ];
    const log = pino({ level: "debug", hooks, serializers }, multistream(streams));
    log.info({ file }, "MCP_DEBUG: everything is logged to this file");
    return log;
  } catch (error) {
    const log = pino({ level, hooks, serializers }, stderr);
    log.warn({ folder, error: (error as Error).message }, "MCP_DEBUG: the file cannot be written");
    return log;
  }
}

/** A terminal may obey characters that JSON does not escape. */
function onTerminal(
  stream: DestinationStream,
  read: (line: string) => string = (line) => line,
): DestinationStream {
  return { write: (line) => stream.write(printable(read(line))) };
}

/** Undefined if no file is wanted. */
function logFolder(wanted: string | undefined, dataDir: string): string | undefined {
  if (wanted === undefined || /^(0|false|off|no)$/i.test(wanted)) return undefined;
  const isPath = isAbsolute(wanted) || /[\\/]/.test(wanted);
  return isPath ? resolve(wanted) : join(dataDir, "logs");
}

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
