/** Connections to Redis, and the check that this Redis can be trusted with operations. */
import type { Writable } from "node:stream";
import type { SentinelConnectionOptions } from "ioredis";
import type { NetStream } from "ioredis/built/types.js";
import { BrokerError } from "../errors.js";
import { type HostAndPort, NO_REDIS_URL, type RedisUrl, readRedisUrl } from "../redis-url.js";
import { channels } from "./keys.js";
import { Redis, SentinelConnector } from "./libraries.js";
import { isStoreFull } from "./operations/limits.js";
import { checkRedis, elsewhereInCluster, type RedisCheck } from "./redis-check.js";
import { claimStore } from "./schema.js";

// Connections that follow the master which Sentinels name.

/** What ioredis and BullMQ need to find the master. */
interface ThroughSentinels {
  sentinels: HostAndPort[];
  /** By which they know the master. */
  name: string;
  /** A master that hangs never ends its connections: they are left when a Sentinel says that there is another. */
  failoverDetector: true;
  Connector: new (options: unknown) => SentinelConnector;
  /** ms; a machine that is gone refuses nothing. */
  connectTimeout: number;
  sentinelCommandTimeout: number;
}

export function throughSentinels(sentinels: readonly HostAndPort[], name: string): ThroughSentinels {
  return {
    ...{ sentinels: [...sentinels], name, failoverDetector: true, Connector: FollowingConnector },
    ...{ connectTimeout: 3_000, sentinelCommandTimeout: 2_000 },
  };
}

/**
 * ioredis watches the Sentinels on behalf of one connection, and goes on when that has ended by itself: their message then
 * interrupts the next attempt to connect, after which ioredis makes no other, ever.
 */
class FollowingConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override async connect(...given: Parameters<SentinelConnector["connect"]>): Promise<NetStream> {
    const stream = await super.connect(...given);
    stream.once("close", () => {
      const { failoverDetector } = this as unknown as { failoverDetector: { cleanup(): void } | null };
      failoverDetector?.cleanup();
    });
    return stream;
  }
}

/** Where a Redis listens: a unix socket's path, host and port, or the Sentinels that know. Both ioredis and BullMQ accept it. */
export interface RedisAddress extends Partial<ThroughSentinels> {
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
  /** For commands; while Redis is away a command fails within seconds. */
  commands: Redis;
  /** In subscriber mode; subscribers subscribe again at each `ready`. */
  subscriber: Redis;
  /** For BullMQ's own connections. */
  address: RedisAddress;
  storeId: string;
  redisCheck: RedisCheck;
  /**
   * Rejects with STORE_UNFIT while this Redis must not be trusted with new operations: a restart or a failover may have
   * brought other settings. They are read after each reconnection and every minute, and while they are unfit at each call.
   */
  assertFit(): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** The id given to a store that has none. After the store was emptied: the id by which the Editors know it. */
  storeId?: string | undefined;
  /** How long a command may take before it fails with STORE_UNAVAILABLE, ms. */
  commandTimeoutMs?: number;
  /** How often the settings of the running Redis are read again, ms. */
  fitnessCheckMs?: number;
  /** Called for every lost and restored connection. */
  onError?: (error: Error) => void;
}

/**
 * Connects, then checks Redis and schema. Rejects with STORE_UNREACHABLE or STORE_UNFIT; the message says what was tried
 * and what is wrong. Weaknesses that do not prevent use are reported through `onError`.
 */
export async function connectStore(
  redis: RedisTarget,
  options: ConnectOptions = {},
): Promise<StoreConnections> {
  const target = optionsOf(redis);
  let isFirst = true;
  const commands = new Redis({
    ...target,
    // At first: rejects, as with a server that is away. Later ioredis would give up for ever.
    sentinelRetryStrategy: (attempt) => (isFirst ? null : reconnectPause(attempt)),
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
  // What is wrong with a Sentinel: the error that follows says only that none answered.
  let sentinelSaid: string | undefined;
  commands.on("sentinelError", ({ message }: Error) => {
    sentinelSaid = message.endsWith("invalid reply: null") ? "they know no master of this name" : message;
  });
  commands.on("connect", () => writeTogether(commands.stream));
  const subscriber = commands.duplicate({
    maxRetriesPerRequest: null,
    commandTimeout: undefined as never,
    // ioredis would leave an unhandled rejection if the connection closes during resubscription; connect.ts resubscribes.
    autoResubscribe: false,
  });
  subscriber.on("error", report);
  let watched: ReturnType<typeof watchFitness> | undefined;
  const close = async (): Promise<void> => {
    watched?.close();
    commands.disconnect();
    subscriber.disconnect();
  };
  try {
    await commands.connect();
    await subscriber.connect();
    isFirst = false;
    const redisCheck = await checkStore(commands);
    for (const { says } of redisCheck.concerns) options.onError?.(new Error(says));
    const storeId = await claimStore(commands, options.storeId);
    watched = watchFitness(commands, redisCheck, report, options.fitnessCheckMs ?? 60_000);
    const { assertFit } = watched;
    return { commands, subscriber, address: target, storeId, redisCheck, assertFit, close };
  } catch (error) {
    await close();
    if (error instanceof BrokerError) throw error;
    const elsewhere = elsewhereInCluster(error);
    if (elsewhere) throw elsewhere;
    const reason = sentinelSaid || lastError?.message || (error as Error).message;
    throw new BrokerError("STORE_UNREACHABLE", `Tried ${describeTarget(target)}: ${reason}.`, {}, error);
  }
}

/** `found`: at the start. What is new since then is reported once. */
function watchFitness(redis: Redis, found: RedisCheck, report: (error: Error) => void, everyMs: number) {
  let said = new Set(found.concerns.map(({ says }) => says));
  let unfit: BrokerError | undefined;
  let isDue = false;
  let checking: Promise<void> | undefined;

  const checkNow = async (): Promise<void> => {
    try {
      const { concerns } = await checkStore(redis);
      for (const { says } of concerns) if (!said.has(says)) report(new Error(says));
      said = new Set(concerns.map(({ says }) => says));
      unfit = undefined;
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      if (error.message !== unfit?.message) report(error);
      unfit = error;
    }
    isDue = false;
  };
  const check = (): Promise<void> => {
    checking ??= checkNow().finally(() => {
      checking = undefined;
    });
    return checking;
  };
  const again = (): void => {
    isDue = true;
    // A Redis that is away is asked by the next call.
    check().catch(() => undefined);
  };
  redis.on("ready", again);
  const timer = setInterval(again, everyMs).unref();

  return {
    async assertFit(): Promise<void> {
      if (isDue || unfit) await check();
      if (unfit) throw unfit;
    },
    close(): void {
      clearInterval(timer);
      redis.off("ready", again);
    },
  };
}

/**
 * Sends all commands of one turn of the event loop in one write: a separate write costs both ends more than the command
 * itself.
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
 * The master became a replica while the connection stayed open. Only a new connection to the same name may reach the new
 * master. The refused command was not executed.
 */
export function isDemoted(error: Error): boolean {
  return /(^|-)(READONLY|UNBLOCKED)\b/.test(error.message);
}

// Older servers name the cause of a script's error behind a dash.

/** Is Redis away, or refusing writes for now (as opposed to a wrong command)? */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === "MaxRetriesPerRequestError" ||
    isDemoted(error) ||
    /(^|-)(MASTERDOWN|NOREPLICAS|CLUSTERDOWN|MISCONF|BUSY|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM)\b/.test(
      error.message,
    ) ||
    /Command timed out|Command aborted|Connection is closed|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|LOADING|Stream isn't writeable|All sentinels are unreachable/.test(
      `${(error as NodeJS.ErrnoException).code ?? ""} ${error.message}`,
    )
  );
}

/** What a fault of the store is called, whatever command met it; undefined: it is none. */
export function storeFault(error: unknown): BrokerError | undefined {
  if (error instanceof BrokerError) return error;
  if (!(error instanceof Error)) return undefined;
  // Of a transaction: why each of its commands was refused; a lost connection is the reason of all, and of itself.
  const { previousErrors = [] } = error as { previousErrors?: Error[] };
  return [...previousErrors, error].map(faultOf).find((fault) => fault !== undefined);
}

function faultOf(error: Error): BrokerError | undefined {
  if (isStoreFull(error)) return new BrokerError("STORE_FULL", "Redis has no memory left.", {}, error);
  if (/\bMISCONF\b/.test(error.message))
    return new BrokerError(
      "STORE_UNAVAILABLE",
      "Redis cannot write to its disk, which may be full.",
      {},
      error,
    );
  return isStoreAway(error) ? new BrokerError("STORE_UNAVAILABLE", "", {}, error) : undefined;
}

function optionsOf(redis: RedisTarget): RedisAddress {
  if (typeof redis !== "string") return redis;
  let url: RedisUrl;
  try {
    url = readRedisUrl(redis);
  } catch {
    throw new BrokerError("STORE_UNREACHABLE", `REDIS_URL ${NO_REDIS_URL}.`);
  }
  const { hosts, masterName, username, password, db, isTls } = url;
  return {
    ...(masterName === undefined ? hosts[0] : throughSentinels(hosts, masterName)),
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(db ? { db } : {}),
    ...(isTls ? { tls: {} } : {}),
  };
}

function describeTarget({ sentinels, name, path, host, port }: RedisAddress): string {
  if (sentinels)
    return `the master ${name}, by the Sentinels ${sentinels.map((each) => `${each.host}:${each.port}`).join(", ")}`;
  return `Redis at ${path ?? `${host ?? "127.0.0.1"}:${port ?? 6379}`}`;
}

async function checkStore(redis: Redis): Promise<RedisCheck> {
  // Managed services forbid CONFIG.
  const setting = redis.config("GET", "appendfsync").then(
    (answer) => (answer as string[])[1],
    () => undefined,
  );
  return checkRedis(await redis.info(), await setting);
}

// Publishes changes to every process that listens. A message may be lost: a waiter also reads the store.

export type NotifierChannel = keyof typeof channels;

export interface Notifier {
  /**
   * Calls `listener` with the message's subject (a log_id or an editor_id) until the returned function is called. `onGap`:
   * earlier messages may have been missed, so data read from the store may be stale. Called after each reconnect, and once
   * for `changed`, which is subscribed only while it has a listener; the other channels are subscribed from the start.
   */
  on(channel: NotifierChannel, listener: (subject: string) => void, onGap?: () => void): () => void;
  close(): void;
}

const { changed, ...ALWAYS } = channels;

/** Resubscribes after each reconnect. Resolves once Redis has confirmed, so that no later message is missed. */
export async function createNotifier(subscriber: Redis): Promise<Notifier> {
  const listeners = new Map<
    string,
    Set<{ listener: (subject: string) => void; onGap?: (() => void) | undefined }>
  >();
  const onMessage = (channel: string, subject: string): void => {
    for (const { listener } of listeners.get(channel) ?? []) listener(subject);
  };
  const reportGap = (): void => {
    for (const set of listeners.values()) for (const { onGap } of set) onGap?.();
  };
  subscriber.on("message", onMessage);
  const isFollowed = (): boolean => (listeners.get(changed)?.size ?? 0) > 0;
  const subscribe = (): Promise<unknown> =>
    subscriber.subscribe(...Object.values(ALWAYS), ...(isFollowed() ? [changed] : []));
  await subscribe();
  // Fails only if the connection is lost or closed: the next `ready`, if any, subscribes again.
  const ignore = (): undefined => undefined;
  const onReady = (): void => void subscribe().then(reportGap, ignore);
  subscriber.on("ready", onReady);
  return {
    on(name, listener, onGap) {
      const channel = channels[name];
      const set = listeners.get(channel) ?? new Set();
      const subscription = { listener, onGap };
      listeners.set(channel, set.add(subscription));
      if (channel === changed) subscriber.subscribe(changed).then(onGap, ignore);
      return () => {
        const isLast = set.delete(subscription) && set.size === 0;
        if (isLast && channel === changed) subscriber.unsubscribe(changed).catch(ignore);
      };
    },
    close() {
      subscriber.off("message", onMessage);
      subscriber.off("ready", onReady);
    },
  };
}
