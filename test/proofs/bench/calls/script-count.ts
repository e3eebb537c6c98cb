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
/** BullMQ's worker looks into an idle lane every few seconds: a call at that moment is taken by it, and claimed by the owner. */
export const MOST_CLAIMS = 4;

/** A script to create and claim, and one to end: what a call takes on the short way before its answer. */
export const isShortWay = ({ calls, writes, claims, amendments, bullmq }: ScriptCount): boolean =>
  // The note of the call before the first one may be among them.
  writes === 2 * calls && claims <= MOST_CLAIMS && amendments <= calls + 1 && bullmq === 0;

export async function countScripts(home: Home): Promise<ScriptCount> {
  const redis = new Redis(await home.redis());
  const client = await home.client();
  try {
    await called(client);
    const [editorId = ""] = home.editors;
    const scripts = await scriptsOf(redis, async () => {
      for (let at = 0; at < CALLS; at += 1) {
        // A call before the worker waits again is the owner's to claim: a third script, as often as the machine is slow.
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
