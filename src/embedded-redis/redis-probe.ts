import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "../shared/store/libraries.js";
import type { RedisAddress } from "./server.js";

/**
 * What stands at an address: `ready` serves commands; `loading` reads its append-only file; `silent` accepted the
 * connection and says nothing; `absent` nobody listens; `foreign` somebody else who refuses us.
 */
export type ProbeAnswer = "ready" | "loading" | "silent" | "absent" | "foreign";

/** A server need not be ours to be asked: the tests' containers have no password. */
type Address = RedisAddress | { readonly host: string; readonly port: number };

const PATIENCE_MS = 2_000;

/** Asks the server at this address once, with one connection of its own; never rejects. */
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
 * Waits until the server serves commands, as long as `keepWaiting` allows after each other answer.
 *
 * Gives the last answer; there is no event for "has loaded", so it asks again at short intervals.
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

/** The server's process id by its own account; undefined when it does not say. */
export async function processIdAt(address: Address): Promise<number | undefined> {
  return withConnection(address, async (redis) => {
    const found = /^process_id:(\d+)/m.exec(await redis.info("server").catch(() => ""));
    return found ? Number(found[1]) : undefined;
  });
}

/**
 * Asks the server to save and end, after a last command if one is given; it answers by closing the connection, which is
 * no error here.
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
    // Our own check: ioredis' would wait through loading, and its retries would hide that nothing listens.
    enableReadyCheck: false,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
  });
  redis.on("error", () => {
    // Each failure reaches us by the command that it fails.
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
  // It lives and speaks, though it refuses (a full disk does that): its users get the same error.
  if (/^[A-Z]+ /.test(said) && error.name === "ReplyError") return "ready";
  if (/timed out|ETIMEDOUT/i.test(said)) return "silent";
  return "absent";
}
