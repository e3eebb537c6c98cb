import type { Redis } from "ioredis";
import { keys } from "../../../src/shared/store/keys.js";

export interface LeaseEnd {
  /** The nonce of the owner that held it. */
  ownerNonce: string;
  /** How long that lease would still be valid, by the clock of Redis; negative: it has expired. */
  leftMs(): Promise<number>;
}

/** When the lease that an Editor's owner holds now expires, if the owner does not renew it again. */
export async function leaseEnd(hand: Redis, editor: string): Promise<LeaseEnd> {
  const [[, ownerNonce], [, left], [, at]] = (await hand
    .multi()
    .get(keys.lease(editor))
    .pttl(keys.lease(editor))
    .time()
    .exec()) as [[null, string | null], [null, number], [null, [string, string]]];
  if (ownerNonce === null) throw new Error(`nobody holds the lease of ${editor}`);
  const end = msOf(at) + left;
  return {
    ownerNonce,
    leftMs: async () => end - msOf((await hand.time()) as unknown as [string, string]),
  };
}

function msOf([seconds, micros]: [string | number, string | number]): number {
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}
