/** The store's counters, except those that the scripts which create and finish operations increment. */
import type { Redis } from "ioredis";
import type { Counts } from "../counters.js";
import { keys } from "./keys.js";

export interface StoredCounters {
  /** Counts events that write no operation. Not awaited, and lost while Redis is away. */
  add(counts: Counts): void;
  /** Every counter of the store. */
  read(): Promise<Counts>;
}

export function createStoredCounters(redis: Redis): StoredCounters {
  return {
    add(counts) {
      for (const [counter, by] of Object.entries(counts)) {
        redis.hincrby(keys.counters, counter, by).catch(() => undefined);
      }
    },

    async read() {
      const fields = await redis.hgetall(keys.counters);
      return Object.fromEntries(Object.entries(fields).map(([counter, count]) => [counter, Number(count)]));
    },
  };
}
