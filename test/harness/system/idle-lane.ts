/** A lane that nothing disturbs: BullMQ's workers wait to be woken, and look for nothing by themselves. */
import type { Redis } from "ioredis";
import { keys, queueName } from "../../../src/shared/store/keys.js";
import { LANE_PLACES } from "../../../src/shared/tools/tool.js";
import { eventually } from "../eventually.js";

export const HOUR = 3_600_000;

export const UNDISTURBED = { idleLookMs: HOUR, stalledCheckMs: HOUR };

/** Resolves when the last job of its main lane has been put away, and BullMQ's workers wait for the next; one Editor is served. */
export async function mainLaneIdle(hand: Redis, editorId: string): Promise<void> {
  const active = keys.queue(queueName(editorId, "main"), "active");
  await eventually(async () => {
    const blocked = String(await hand.client("LIST")).match(/cmd=bzpopmin/g) ?? [];
    return (await hand.llen(active)) === 0 && blocked.length === Object.keys(LANE_PLACES).length;
  }, "the lane is idle");
}
