/** Connections to Redis, and the check that this Redis can be trusted with operations. */
import type { Writable } from "node:stream";
import { Redis } from "ioredis";
import { BrokerError } from "../errors.js";
import { claimStore } from "./schema.js";

/** Where a Redis listens: a unix socket's path, or host and port. Fits ioredis and BullMQ as it is. */
export interface RedisAddress {
  path?: string;
  host?: string;
  port?: number;
  username?: string;
  password?: string;
  db?: number;
  tls?: Record<string, never>;
}

/** A URL, or an address. */
export type RedisTarget = string | RedisAddress;

export interface StoreConnections {
  /** For commands; answers with an error within seconds while Redis is away. */
  commands: Redis;
  /** In subscriber mode; whoever subscribes does it again at each `ready`. */
  subscriber: Redis;
  /** What BullMQ opens its own connections with. */
  address: RedisAddress;
  storeId: string;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** How long a command may take before it fails with STORE_UNAVAILABLE, ms. */
  commandTimeoutMs?: number;
  /** Told about every lost and restored connection. */
  onError?: (error: Error) => void;
}

/**
 * Connects and checks version, eviction policy and schema; rejects with STORE_UNREACHABLE or STORE_UNFIT, saying
 * what was tried and what is wrong. Missing persistence is reported through `onError` but not refused.
 */
export async function connectStore(
  redis: RedisTarget,
  options: ConnectOptions = {},
): Promise<StoreConnections> {
  const target = optionsOf(redis);
  const commands = new Redis({
    ...target,
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    commandTimeout: options.commandTimeoutMs ?? 5_000,
    retryStrategy: reconnectPause,
  });
  let lastError: Error | undefined;
  const report = (error: Error): void => {
    lastError = error;
    options.onError?.(error);
  };
  commands.on("error", report);
  commands.on("connect", () => writeTogether(commands.stream));
  const subscriber = commands.duplicate({
    maxRetriesPerRequest: null,
    commandTimeout: undefined as never,
    // By itself it would leave a rejection unhandled where it is closed meanwhile; news.ts does it.
    autoResubscribe: false,
  });
  subscriber.on("error", report);
  const close = async (): Promise<void> => {
    commands.disconnect();
    subscriber.disconnect();
  };
  try {
    await commands.connect();
    await subscriber.connect();
    const warning = await checkStore(commands);
    if (warning) options.onError?.(new Error(warning));
    const storeId = await claimStore(commands);
    return { commands, subscriber, address: target, storeId, close };
  } catch (error) {
    await close();
    if (error instanceof BrokerError) throw error;
    const reason = lastError?.message || (error as Error).message;
    throw new BrokerError(
      "STORE_UNREACHABLE",
      `Tried Redis at ${describeTarget(target)}: ${reason}.`,
      {},
      error,
    );
  }
}

/**
 * Commands that are given in one turn of the event loop leave in one write: each write of its own costs both ends more
 * than the command does.
 */
function writeTogether(stream: Writable): void {
  const write = stream.write.bind(stream);
  stream.write = ((...chunk: Parameters<typeof write>) => {
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    return write(...chunk);
  }) as typeof stream.write;
}

/** ms before the next attempt to reach a Redis that is away. */
export function reconnectPause(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}

/** Errors of ioredis that mean "Redis is away", as opposed to a wrong command. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === "MaxRetriesPerRequestError" ||
    /Command timed out|Connection is closed|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|LOADING|Stream isn't writeable/.test(
      `${(error as NodeJS.ErrnoException).code ?? ""} ${error.message}`,
    )
  );
}

function optionsOf(redis: RedisTarget): RedisAddress {
  if (typeof redis !== "string") return redis;
  let url: URL;
  try {
    url = new URL(redis);
  } catch {
    // Not its text: it may hold a password, and a / or # in one is what usually breaks it.
    throw new BrokerError(
      "STORE_UNREACHABLE",
      "REDIS_URL is not a URL such as redis://:password@127.0.0.1:6379 (in a password write / as %2F, # as %23).",
    );
  }
  const db = Number(url.pathname.slice(1)) || 0;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 6379),
    ...(url.username ? { username: decodeURIComponent(url.username) } : {}),
    ...(url.password ? { password: decodeURIComponent(url.password) } : {}),
    ...(db ? { db } : {}),
    ...(url.protocol === "rediss:" ? { tls: {} } : {}),
  };
}

function describeTarget(target: RedisAddress): string {
  return target.path ?? `${target.host ?? "127.0.0.1"}:${target.port ?? 6379}`;
}

async function checkStore(redis: Redis): Promise<string | undefined> {
  const info = await redis.info();
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim() ?? "";
  const version = field("valkey_version") || field("redis_version");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 6 || (major === 6 && minor < 2)) {
    throw new BrokerError("STORE_UNFIT", `Redis ${version} is too old: 6.2 or Valkey is needed.`);
  }
  const policy = field("maxmemory_policy");
  if (policy && policy !== "noeviction") {
    throw new BrokerError(
      "STORE_UNFIT",
      `Redis evicts data (maxmemory-policy ${policy}): \`CONFIG SET maxmemory-policy noeviction\`.`,
    );
  }
  return field("aof_enabled") === "0"
    ? "Redis has no AOF (appendonly no): operations are lost when it stops."
    : undefined;
}
