/** A configured Redis that is away for a moment, as while it restarts: a process that serves waits for it at its start. */
import { setTimeout as delay } from "node:timers/promises";
import { BrokerError } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import { isStoreAway, reconnectPause } from "../../shared/store/connect.js";

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
