/** A lane that nothing disturbs: BullMQ's workers wait to be woken, and look for nothing by themselves. */
import { keys, queueName } from "../../../src/shared/store/keys.js";
import { LANE_PLACES } from "../../../src/shared/tools/tool.js";
import { eventually } from "../../harness/eventually.js";
import type { System } from "../../harness/system/system.js";

export const HOUR = 3_600_000;

export const UNDISTURBED = { idleLookMs: HOUR, stalledCheckMs: HOUR };

/** Resolves when the last job of the main lane has been put away, and BullMQ's workers wait for the next. */
export async function mainLaneIdle({ hand, editor }: Pick<System, "hand" | "editor">): Promise<void> {
  const active = keys.jobs(queueName(editor.editorId, "main"), "active");
  await eventually(async () => {
    const blocked = String(await hand.client("LIST")).match(/cmd=bzpopmin/g) ?? [];
    return (await hand.llen(active)) === 0 && blocked.length === Object.keys(LANE_PLACES).length;
  }, "the lane is idle");
}
