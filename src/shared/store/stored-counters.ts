/** The store's counters, except those that the scripts which create and finish operations increment. */
import type { Redis } from "ioredis";
import type { Counts } from "../counters.js";
import { keys } from "./keys.js";

export interface StoredCounters {
  /** Counts events that write no operation. Written a moment later, many at once; lost while Redis is away, and with this process. */
  add(counts: Counts): void;
  /** Every counter of the store, with all that this process has counted. */
  read(): Promise<Counts>;
  /** Writes what is not written yet; not awaited. */
  close(): void;
}

/** A call counts several times, and many calls come in this time, ms. */
const TOGETHER_MS = 200;

export function createStoredCounters(redis: Redis): StoredCounters {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [counter, by] of waiting) redis.hincrby(keys.counters, counter, by).catch(() => undefined);
    waiting.clear();
  };

  return {
    add(counts) {
      for (const [counter, by] of Object.entries(counts))
        waiting.set(counter, (waiting.get(counter) ?? 0) + by);
      timer ??= setTimeout(write, TOGETHER_MS).unref();
    },

    async read() {
      write();
      const fields = await redis.hgetall(keys.counters);
      return Object.fromEntries(Object.entries(fields).map(([counter, count]) => [counter, Number(count)]));
    },

    close: write,
  };
}
