/** One owner's turn at one operation, and how such a turn may end. */
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Outcome } from "../../../../src/shared/wire/wire.js";
import { settled } from "../../../../src/worker/execution/outcome.js";
import { type Changed, changed, type Guard, jobDone, jobGivenBack, restored } from "../broker/store.js";
import type { Facts } from "../state/facts.js";
import {
  nonceOf,
  now,
  replaced,
  type State,
  type Work,
  type WorkerState,
  without,
  withWorker,
} from "../state/state.js";
import type { Rules } from "../switches.js";

export interface Turn {
  state: State;
  worker: WorkerState;
  work: Work;
  facts: Facts;
  rules: Rules;
}

export interface Move {
  says: string;
  changes: Partial<State>;
}

/** A write under the owner's fence. */
export function written(
  { state, worker, work }: Turn,
  change: (record: OperationRecord) => { record: OperationRecord; result?: unknown } | undefined,
  guard: Pick<Guard, "incarnation"> = {},
): Changed {
  return changed(state.store, work.logId, change, { nonce: nonceOf(worker), ...guard });
}

/** The work goes on like this. */
export function goesOn(turn: Turn, says: string, work: Work, changes: Partial<State> = {}): Move {
  const { state, worker } = turn;
  const works = replaced(worker.works, turn.work, work);
  return { says, changes: { ...changes, ...withWorker(state, { ...worker, works }) } };
}

/** `settled` or `refused`: nothing is left to do. */
export function ends(turn: Turn, says: string, store: State["store"], acknowledged?: string): Move {
  const { state, worker, work, facts, rules } = turn;
  const isTold = facts.acknowledges && acknowledged !== undefined;
  const acks = isTold ? [...new Set([...worker.acks, acknowledged])] : worker.acks;
  const after = { ...worker, acks, works: without(worker.works, work) };
  return { says, changes: { store: jobDone(store, work.job, rules), ...withWorker(state, after) } };
}

/** Another owner goes on: the job goes back. */
export function handsOver({ state, worker, work }: Turn, says: string): Move {
  const after = { ...worker, works: without(worker.works, work) };
  return { says, changes: { store: jobGivenBack(state.store, work.job), ...withWorker(state, after) } };
}

export function settles(turn: Turn, record: OperationRecord, outcome: Outcome, says: string): Move {
  const { logId } = record;
  const isKept = outcome.status === "completed" && !outcome.error;
  const { store } = turn.state;
  // The store went back behind this operation while it ran; its outcome must not be lost with it.
  const isOwner = store.leases[turn.worker.editor] === nonceOf(turn.worker);
  const known = isOwner ? { ...turn, state: { ...turn.state, store: restored(store, record) } } : turn;
  const change = written(known, (latest) => {
    const end = settled(latest, outcome, now(turn.state), undefined);
    return end && { record: end.record, result: isKept ? logId : undefined };
  });
  if (change.kind === "not_owner")
    return handsOver(turn, `may not store the end of ${logId}: the store fences it`);
  const word = "record" in change ? `is ${change.record.state}` : "is not in the store";
  return ends(turn, `${says}; ${logId} ${word}`, change.store, change.kind === "unknown" ? undefined : logId);
}
