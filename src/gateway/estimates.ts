/** Reads what an estimate needs: what goes before a waiting operation, and how long identical calls took before. */
import { isPool } from "../shared/editors/target.js";
import { type Estimate, estimateOf, type Timed } from "../shared/operation/estimate.js";
import { isWaiting, type OperationRecord } from "../shared/operation/operation.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import { LANE_PLACES } from "../shared/tools/tool.js";

/** More than so many before it are not read: an answer must stay cheap. */
const MOST_AHEAD = 50;
/** How many earlier operations of a call are looked at for one that completed. */
const LOOKED_BACK = 3;

export interface Estimates {
  /** `ahead`: those before it in its queue, undefined if it runs; `members`: the Editors that serve its pool. `now`: store clock, ms. */
  of(
    record: OperationRecord,
    around: { ahead: readonly string[] | undefined; members: readonly string[]; now: number },
  ): Promise<Estimate>;
}

export function createEstimates(operations: Pick<Operations, "find" | "openOf">): Estimates {
  /** What the last identical call that completed took: another call of the tool says nothing of this one. */
  const lastTime = async ({ after }: OperationRecord): Promise<number | undefined> => {
    let logId = after;
    for (let steps = 0; logId !== null && steps < LOOKED_BACK; steps += 1) {
      const before = await operations.find(logId);
      if (before?.state === "completed" && before.executionMs !== undefined) return before.executionMs;
      logId = before?.after ?? null;
    }
    return undefined;
  };

  const timed = async (record: OperationRecord, now: number): Promise<Timed> => ({
    usualMs: await lastTime(record),
    ranMs:
      record.state === "running" && record.startedAt !== undefined
        ? Math.max(0, now - record.startedAt)
        : undefined,
  });

  /** What its pool's Editors have, in any lane, since only an idle one takes it; then what is before it in its queue. Undefined: too many. */
  const aheadOf = async (
    record: OperationRecord,
    ids: readonly string[],
    members: readonly string[],
  ): Promise<OperationRecord[] | undefined> => {
    const before = await Promise.all(ids.map((logId) => operations.find(logId)));
    const there = await Promise.all(members.map((editor) => operations.openOf(editor, MOST_AHEAD + 1)));
    if (there.some(({ length }) => length > MOST_AHEAD)) return undefined;
    const ahead = [...there.flat(), ...before.filter((each) => each !== undefined)].filter(
      ({ logId }) => logId !== record.logId,
    );
    return ahead.length > MOST_AHEAD ? undefined : ahead;
  };

  return {
    async of(record, { ahead: ids, members, now }) {
      const own = await timed(record, now);
      if (!isWaiting(record.state)) return estimateOf(own, undefined, 1);
      // An Editor takes one at a time from its pools.
      const places = isPool(record.editor) ? members.length : LANE_PLACES[record.lane];
      if (ids === undefined || ids.length > MOST_AHEAD || places === 0) return {};
      const ahead = await aheadOf(record, ids, members);
      if (ahead === undefined) return {};
      const times = await Promise.all(ahead.map((each) => timed(each, now)));
      return estimateOf(own, times, places);
    },
  };
}
