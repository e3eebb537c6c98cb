/** The store as it was at one moment: what comes back from a backup, or after a fail-over that lost the last writes. */
import type { Redis } from "ioredis";

export interface StoreCopy {
  /** The store is as it was then. */
  restore(): Promise<void>;
}

export async function copyStore(hand: Redis): Promise<StoreCopy> {
  const copied: { key: string; ttl: number; bytes: Buffer }[] = [];
  for (const key of await hand.keys("*")) {
    const bytes = await hand.dumpBuffer(key);
    const ttl = Math.max(0, await hand.pttl(key));
    if (bytes) copied.push({ key, ttl, bytes });
  }
  return {
    async restore() {
      const all = hand.multi().flushall();
      for (const { key, ttl, bytes } of copied) all.restore(key, ttl, bytes);
      await all.exec();
    },
  };
}
