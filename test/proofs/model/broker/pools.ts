/**
 * Pools (▲13): how an operation comes from its pool to an Editor and back, with the real conditions of
 * src/worker/execution/lane.ts and src/gateway/editors/pool-keeper.ts. Each is one script (src/shared/store/scripts/move.ts).
 */
import { goesBack, opensAgain } from "../../../../src/gateway/editors/pool-keeper.js";
import {
  isFinal,
  isWaiting,
  jobIdOf,
  markAsSent,
  type OperationRecord,
  type StoreLosses,
} from "../../../../src/shared/operation/operation.js";
import { mayBeTaken } from "../../../../src/worker/execution/lane.js";
import { spend } from "../bounds.js";
import type { Offer } from "../offer.js";
import { type Entry, nonceOf, POOL, type State, type StoreState, type WorkerState } from "../state/state.js";
import type { Rules } from "../switches.js";
import { changed, hasJob, jobAdded, openRecords } from "./store.js";

/** The Editors that were there before the store lost something, and have not brought what they know since. */
export function lossesOf({ editors, store }: Pick<State, "editors" | "store">): StoreLosses {
  const { imported, incarnation } = store;
  const missing = editors
    .filter(({ id, ledger }) => ledger.fence !== null && imported[id] !== incarnation)
    .map(({ id }) => id);
  return { missing, incarnation };
}

/** An Editor that is idle takes the first operation that it may. */
export function takesFromPool(state: State, worker: WorkerState, rules: Rules, offer: Offer): void {
  const { store } = state;
  const { editor, importedIn } = worker;
  const isIdle = openRecords(store, editor).length === 0 && !store.jobs.some((job) => job.editor === editor);
  if (importedIn !== store.incarnation || store.leases[editor] !== nonceOf(worker) || !isIdle) return;
  const waiting = store.jobs.flatMap((job) => (job.editor === POOL ? (store.records[job.logId] ?? []) : []));
  const next = waiting.find((record) => {
    const incarnation = rules.off === "poolsForgetLosses" ? record.incarnation : importedIn;
    return mayBeTaken(record, [POOL], incarnation ?? "");
  });
  if (next)
    offer("part", `${editor} takes ${next.logId} from its pool`, { store: moved(store, next, editor) });
}

/** The janitor's part: what an Editor does not begin is its pool's again; what waits since a loss is taken again when all are back. */
export function keepsPools(state: State, rules: Rules, offer: Offer): void {
  const { store } = state;
  const losses = lossesOf(state);
  for (const record of openRecords(store, POOL)) {
    const { logId } = record;
    if (!hasJob(state, logId)) {
      const added = jobAdded(state, record, rules);
      if (added) offer("part", `the janitor adds the job of ${logId} to its pool`, { store: added });
    }
    if (!opensAgain(record, losses)) continue;
    const opened = changed(store, logId, () => ({ record: { ...record, incarnation: losses.incarnation } }));
    offer("part", `the janitor opens the pool for ${logId} again`, { store: opened.store });
  }
  for (const { id, up } of state.editors) {
    const isHere = up && state.workers.some(({ editor, link }) => editor === id && link);
    for (const record of openRecords(store, id)) {
      if (state.left.pauses > 0 && isHere && goesBack(record, false, losses))
        offer("fault", `${id} is paused: ${record.logId} goes back to its pool`, {
          store: moved(store, record, POOL),
          left: spend(state.left, "pauses"),
        });
      const isSentBack = rules.off === "sentGoesBack" && record.pool !== undefined && !isHere;
      if (isSentBack || goesBack(record, isHere, losses)) {
        const { sentIn: _sent, dispatchedAt: _at, ...unsent } = record;
        const back = moved(store, isSentBack ? { ...unsent, state: "queued" } : record, POOL);
        offer("part", `the janitor gives ${record.logId} back to its pool`, { store: back });
      }
    }
  }
}

/** What the Editor's ledger knows is its own, wherever an older copy of the store shows it (src/worker/recovery/rebuild.ts). */
export function takenOver(store: StoreState, editor: string, entries: readonly Entry[]): StoreState {
  return entries.reduce((at, { id }) => {
    const record = at.records[id];
    const sent = record?.pool === undefined || isFinal(record.state) ? undefined : markAsSent(record);
    if (!record || !sent) return at;
    const here = record.editor === editor ? at : moved(at, record, editor);
    return changed(here, id, () => ({ record: { ...sent, editor } })).store;
  }, store);
}

/** What was revoked goes back to the pool: only where a rule is off. */
export function givenBackRevoked(store: StoreState, { logId }: OperationRecord): StoreState {
  const record = store.records[logId];
  if (!record || isFinal(record.state)) return store;
  const { sentIn: _sent, dispatchedAt: _at, ...unsent } = record;
  return moved(store, { ...unsent, state: "queued" }, POOL);
}

/** In its new place, with its job: as it is now, or as it is to become. */
function moved(store: StoreState, record: OperationRecord, to: string): StoreState {
  const { logId } = record;
  const there = { ...record, editor: to };
  const jobs = store.jobs.filter((job) => job.logId !== logId);
  return {
    ...store,
    records: { ...store.records, [logId]: there },
    at: { ...store.at, [to]: logId },
    jobs: isWaiting(there.state) ? [...jobs, { id: jobIdOf(there), logId, editor: to }] : jobs,
  };
}
