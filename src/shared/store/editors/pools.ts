/** The pools that operations were accepted for (src/shared/editors/pool.ts), and what waits in them. */
import type { Redis } from "ioredis";
import { LANES } from "../../tools/tool.js";
import { keys, queueName } from "../keys.js";

export interface Pools {
  ids(): Promise<string[]>;
  /** The log_ids of the operations that are next in the pool, at most so many of each lane. */
  next(pool: string, most: number): Promise<string[]>;
  /** Nothing waits in it, and nothing was accepted for it for the retention: what is left of it is removed like that of an Editor. */
  retireUnused(pool: string, now: number): Promise<void>;
}

export function createPools(redis: Redis, { retentionMs }: { retentionMs: number }): Pools {
  return {
    ids: () => redis.zrange(keys.pools, 0, "-1"),

    async next(pool, most) {
      const waiting = LANES.map((lane) =>
        redis.zrange(keys.jobs(queueName(pool, lane), "prioritized"), 0, `${most - 1}`),
      );
      // <hash>.<log_id>
      return (await Promise.all(waiting)).flat().map((jobId) => jobId.slice(jobId.indexOf(".") + 1));
    },

    async retireUnused(pool, now) {
      const [acceptedAt, open] = await Promise.all([
        redis.zscore(keys.pools, pool),
        redis.exists(keys.open(pool)),
      ]);
      if (open === 1 || acceptedAt === null || now - Number(acceptedAt) < retentionMs) return;
      // If one is accepted at this moment the pool is put back (forgotten.ts).
      await redis.multi().zrem(keys.pools, pool).zadd(keys.served, now, pool).exec();
    },
  };
}
