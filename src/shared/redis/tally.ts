/** The store's counters beside those that the writing script adds to by itself (apply.ts). */
import type { Redis } from "ioredis";
import type { Counts } from "../tally.js";
import { keys } from "./keys.js";

export interface Tally {
  /** Counts what is no write of an operation. Nobody waits for it: while Redis is away, it is not counted. */
  add(counts: Counts): void;
  /** Every counter of the store. */
  read(): Promise<Counts>;
}

export function createTally(redis: Redis): Tally {
  return {
    add(counts) {
      for (const [counter, by] of Object.entries(counts)) {
        redis.hincrby(keys.tally, counter, by).catch(() => undefined);
      }
    },

    async read() {
      const fields = await redis.hgetall(keys.tally);
      return Object.fromEntries(Object.entries(fields).map(([counter, count]) => [counter, Number(count)]));
    },
  };
}
