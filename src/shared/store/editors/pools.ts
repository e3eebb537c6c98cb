/** The pools that operations were accepted for (src/shared/editors/target.ts), and what waits in them. */
import type { Redis } from "ioredis";
import { LANES, type Lane } from "../../tools/tool.js";
import { channels, keys } from "../keys.js";
import { logIdOf, type Queues } from "../queue.js";

/** A job in a pool's queue, and the operation that it names. */
export interface PoolJob {
  id: string;
  lane: Lane;
  logId: string;
}

export interface Pools {
  ids(): Promise<string[]>;
  /** The jobs in the pool, in their order, so many of each lane from this one on. */
  next(pool: string, from: number, count: number): Promise<PoolJob[]>;
  /** Has idle Editors look into the pools. */
  wake(): Promise<void>;
  /** Nothing waits in it, and nothing was accepted for it for the retention: what is left of it is removed like that of an Editor. */
  retireUnused(pool: string, now: number): Promise<void>;
}

export function createPools(
  redis: Redis,
  queues: Pick<Queues, "waiting">,
  { retentionMs }: { retentionMs: number },
): Pools {
  const ids = (): Promise<string[]> => redis.zrange(keys.pools, 0, "-1");
  return {
    ids,

    async next(pool, from, count) {
      const waiting = LANES.map(async (lane) => {
        const ids = await queues.waiting(pool, lane, from, count);
        return ids.map((id) => ({ id, lane, logId: logIdOf(id) }));
      });
      return (await Promise.all(waiting)).flat();
    },

    async wake() {
      for (const pool of await ids()) await redis.publish(channels.pools, pool);
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
