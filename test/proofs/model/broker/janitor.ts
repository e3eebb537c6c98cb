/** src/gateway/janitor.ts: lost jobs are added again, and what waited too long for its Editor expires. */
import { EXPIRY_LIMITS, expiryOf } from "../../../../src/shared/operation/expiry.js";
import { isWaiting, next, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import { spend } from "../bounds.js";
import type { Offer } from "../offer.js";
import { now, type State } from "../state/state.js";
import type { Rules } from "../switches.js";
import { keepsPools } from "./pools.js";
import { changed, hasJob, jobAdded, openRecords } from "./store.js";

export function sweeps(state: State, rules: Rules, offer: Offer): void {
  keepsPools(state, rules, offer);
  for (const editor of state.editors) {
    const isHere = editor.up && state.workers.some((one) => one.editor === editor.id && one.link);
    for (const record of openRecords(state.store, editor.id)) {
      const { logId } = record;
      if (!isWaiting(record.state)) continue;
      if (!hasJob(state, logId)) restoresJob(state, record, rules, offer);
      if (isHere || state.left.expiries === 0) continue;
      const at = record.acceptedAt + EXPIRY_LIMITS.absentMs;
      const event = expiryOf(record, record.acceptedAt, at, EXPIRY_LIMITS);
      const after = event && next(record.state, event);
      if (!after) continue;
      const error = { code: "EXPIRED", type: "expired", message: "" };
      const end = changed(state.store, logId, (latest) => ({
        record: { ...latest, state: after, endedAt: now(state), error },
      }));
      const isHeld = rules.off === "jobIdsReused";
      const jobs = isHeld ? end.store.jobs : end.store.jobs.filter((job) => job.logId !== logId);
      offer("fault", `the Editor is away for long: ${logId} expires, as never sent`, {
        store: { ...end.store, jobs },
        left: spend(state.left, "expiries"),
      });
    }
  }
}

function restoresJob(state: State, record: OperationRecord, rules: Rules, offer: Offer): void {
  const store = jobAdded(state, record, rules);
  if (!store) return;
  offer("part", `the janitor adds the job of ${record.logId}`, { store });
}
