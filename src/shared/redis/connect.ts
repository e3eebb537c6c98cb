/** Connections to Redis, and the check that this Redis can be trusted with operations. */
import type { Writable } from "node:stream";
import { Redis } from "ioredis";
import { BrokerError } from "../errors.js";
import { elsewhereInCluster, type Fitness, fitnessOf } from "./fitness.js";
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
  fitness: Fitness;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** The id that a store without one gets: the one by which Editors know it, where it was emptied. */
  storeId?: string | undefined;
  /** How long a command may take before it fails with STORE_UNAVAILABLE, ms. */
  commandTimeoutMs?: number;
  /** Told about every lost and restored connection. */
  onError?: (error: Error) => void;
}

/**
 * Connects and checks fitness and schema; rejects with STORE_UNREACHABLE or STORE_UNFIT, saying what was tried and what
 * is wrong. What only weakens the promise is reported through `onError`.
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
    reconnectOnError: isDemoted,
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
    const fitness = await checkStore(commands);
    for (const { says } of fitness.concerns) options.onError?.(new Error(says));
    const storeId = await claimStore(commands, options.storeId);
    return { commands, subscriber, address: target, storeId, fitness, close };
  } catch (error) {
    await close();
    if (error instanceof BrokerError) throw error;
    const elsewhere = elsewhereInCluster(error);
    if (elsewhere) throw elsewhere;
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

/**
 * The master became a replica under a connection that stands: only a new one, by the same name, may find the new
 * master. Nothing of the refused command was executed.
 */
export function isDemoted(error: Error): boolean {
  return /^(READONLY|UNBLOCKED)\b/.test(error.message);
}

/** Errors that mean "Redis is away", or takes no writes for now, as opposed to a wrong command. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === "MaxRetriesPerRequestError" ||
    isDemoted(error) ||
    /^(MASTERDOWN|NOREPLICAS|CLUSTERDOWN|MISCONF)\b/.test(error.message) ||
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

async function checkStore(redis: Redis): Promise<Fitness> {
  // Managed services forbid CONFIG.
  const setting = redis.config("GET", "appendfsync").then(
    (answer) => (answer as string[])[1],
    () => undefined,
  );
  return fitnessOf(await redis.info(), await setting);
}
