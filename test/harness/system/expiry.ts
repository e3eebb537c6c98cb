import type { Redis } from "ioredis";

/** When a key of a test's Redis expires, if nobody renews it. */
export interface Expiry {
  /** By the clock of Redis; negative: it has expired. */
  leftMs(): Promise<number>;
}

/** As it is now; rejects if the key is not there, or never expires. */
export async function expiryOf(hand: Redis, key: string): Promise<Expiry> {
  const now = async (): Promise<number> => msOf(await hand.time());
  // In this order the end is at most too early.
  const at = await now();
  const left = await hand.pttl(key);
  if (left < 0) throw new Error(`${key} has no expiry: ${left}`);
  return { leftMs: async () => at + left - (await now()) };
}

function msOf([seconds, micros]: readonly (string | number)[]): number {
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}
