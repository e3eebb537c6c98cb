/** How many scripts the calls of one client run, each after the answer of the last. */
import { Redis } from "ioredis";
import { scriptsOf } from "../../../harness/redis/scripts-of.js";
import { called, type Home } from "../clients/home.js";

/** Scripts by what they are for (scripts-of.ts). */
export interface ScriptCount {
  calls: number;
  writes: number;
  claims: number;
  bullmq: number;
}

const CALLS = 20;

/** A script to create and claim, and one to end: what a call takes on the short way, and nothing else. */
export const isShortWay = ({ calls, writes, claims, bullmq }: ScriptCount): boolean =>
  writes === 2 * calls && claims === 0 && bullmq === 0;

export async function countScripts(home: Home): Promise<ScriptCount> {
  const redis = new Redis(await home.redis());
  const client = await home.client();
  try {
    // The script that notes its delivery, if any, is over when the next answer is there.
    await called(client);
    const { writes, claims, bullmq } = await scriptsOf(redis, async () => {
      for (let at = 0; at < CALLS; at += 1) await called(client);
    });
    return { calls: CALLS, writes: writes.length, claims: claims.length, bullmq: bullmq.length };
  } finally {
    await client.close();
    redis.disconnect();
  }
}
