/** Finds out what answers at the address of a Redis. */
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "../shared/store/libraries.js";
import type { RedisAddress } from "./server.js";

/**
 * What answers at an address: `ready` serves commands; `loading` reads its append-only file; `silent` accepted the
 * connection and does not answer; `absent`: nothing listens; `foreign`: another server, which refuses us.
 */
export type ProbeAnswer = "ready" | "loading" | "silent" | "absent" | "foreign";

/** Not only for our own servers: the tests' containers have no password. */
type Address = RedisAddress | { readonly host: string; readonly port: number };

const PATIENCE_MS = 2_000;

/** Asks the server at this address once, over its own connection; never rejects. */
export async function ask(address: Address): Promise<ProbeAnswer> {
  return withConnection(address, async (redis) => {
    try {
      await redis.ping();
      return "ready";
    } catch (error) {
      return judge(error as NodeJS.ErrnoException);
    }
  });
}

/**
 * Waits until the server serves commands, as long as `keepWaiting` agrees after each other answer.
 *
 * Answers with the last result; Redis has no event for "has loaded", so it asks again at short intervals.
 */
export async function awaitAnswer(
  address: Address,
  keepWaiting: (answer: ProbeAnswer) => boolean,
): Promise<ProbeAnswer> {
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const answer = await ask(address);
    if (answer === "ready" || !keepWaiting(answer)) return answer;
    await delay(pause);
  }
}

/** The process id that the server reports; undefined if it does not. */
export async function processIdAt(address: Address): Promise<number | undefined> {
  return withConnection(address, async (redis) => {
    const found = /^process_id:(\d+)/m.exec(await redis.info("server").catch(() => ""));
    return found ? Number(found[1]) : undefined;
  });
}

/**
 * Asks the server to save and exit, after a last command if one is given; it answers by closing the connection, which is
 * not an error here.
 */
export async function askToShutDown(address: Address, lastCommand: readonly string[] = []): Promise<void> {
  const [name, ...words] = lastCommand;
  await withConnection(address, async (redis) => {
    if (name !== undefined) await redis.call(name, ...words).catch(() => undefined);
    await redis.shutdown().catch(() => undefined);
  });
}

async function withConnection<T>(address: Address, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({
    ...address,
    lazyConnect: true,
    // Without ioredis' own ready check, which would wait while Redis loads, and without retries, which would hide that nothing listens.
    enableReadyCheck: false,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
  });
  redis.on("error", () => {
    // Each failure is reported by the command that fails.
  });
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

function judge(error: NodeJS.ErrnoException): ProbeAnswer {
  const said = error.message;
  if (/LOADING/.test(said)) return "loading";
  if (/NOAUTH|WRONGPASS|NOPERM/.test(said)) return "foreign";
  // It is alive but refuses the command (a full disk causes that): its users get the same error.
  if (/^[A-Z]+ /.test(said) && error.name === "ReplyError") return "ready";
  if (/timed out|ETIMEDOUT/i.test(said)) return "silent";
  return "absent";
}
