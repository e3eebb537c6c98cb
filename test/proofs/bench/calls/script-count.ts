/** How many scripts the calls of one client run, each to an idle lane. */
import { Redis } from "ioredis";
import { scriptsOf } from "../../../harness/redis/scripts-of.js";
import { mainLaneIdle } from "../../../harness/system/idle-lane.js";
import { called, type Home } from "../clients/home.js";

/** Scripts by what they are for (scripts-of.ts). */
export interface ScriptCount {
  calls: number;
  writes: number;
  claims: number;
  /** One at most for each call: the note of its delivery, after the answer. */
  amendments: number;
  bullmq: number;
}

const CALLS = 20;

/** A script to create, one to claim, and one to end: what a call takes of the store before its answer, beside BullMQ's own. */
export const isUsual = ({ calls, writes, claims, amendments }: ScriptCount): boolean =>
  // The note of the call before the first one may be among them.
  writes === 2 * calls && claims === calls && amendments <= calls + 1;

export async function countScripts(home: Home): Promise<ScriptCount> {
  const redis = new Redis(await home.redis());
  const client = await home.client();
  try {
    await called(client);
    const [editorId = ""] = home.editors;
    const scripts = await scriptsOf(redis, async () => {
      for (let at = 0; at < CALLS; at += 1) {
        await mainLaneIdle(redis, editorId);
        await called(client);
      }
    });
    return {
      calls: CALLS,
      writes: scripts.writes.length,
      claims: scripts.claims.length,
      amendments: scripts.amendments.length,
      bullmq: scripts.bullmq.length,
    };
  } finally {
    await client.close();
    redis.disconnect();
  }
}
