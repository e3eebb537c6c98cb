/** Opens the private Redis for a command, and starts it again if it ended: killed, or idle for too long. */
import { type EmbeddedRedisOptions, ensureEmbeddedRedis } from "../../embedded-redis/embedded-redis.js";
import { BrokerError } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import type { RedisTarget } from "../../shared/store/connect.js";

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
