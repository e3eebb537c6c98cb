/**
 * The short way: the script that creates an operation claims it for the owner in the same process, and the one that ends an
 * operation claims the next one of the lane (src/shared/store/scripts/claim.ts). Each is one step of the store; what follows
 * it is lost if the process dies.
 */
import { changeOf } from "../broker/claims.js";
import { changed } from "../broker/store.js";
import { started } from "../state/owner-state.js";
import {
  type Job,
  nonceOf,
  now,
  type State,
  type StoreState,
  type WorkerState,
  without,
  withWorker,
} from "../state/state.js";

/** The owners that a script could claim this job for, each with its claim; `by`: only this one. */
export function claimedFor({
  state,
  job,
  by,
}: {
  state: State;
  job: Job;
  by?: string;
}): { says: string; changes: Pick<State, "store" | "workers"> }[] {
  return state.workers.flatMap((worker) => {
    if (by !== undefined && worker.name !== by) return [];
    const store = claimedBy(state, worker, job);
    const { link } = worker;
    // Its lane is idle: it has no job, and none waits before this one.
    const isFirst = state.store.jobs.find(({ editor }) => editor === worker.editor) === job;
    if (!store || !link || !isFirst || worker.works.some((work) => work.job || work.logId === job.logId))
      return [];
    const record = store.records[job.logId] ?? null;
    const claim = { at: "claimed", session: link.session, isFresh: true, record } as const;
    const work = { ...started({ logId: job.logId, job }), ...claim, after: record?.after ?? null };
    const says = `${worker.name} has claimed ${job.logId} in session ${link.session}`;
    const taken = { ...store, jobs: without(store.jobs, job) };
    return [
      {
        says,
        changes: { store: taken, ...withWorker(state, { ...worker, works: [...worker.works, work] }) },
      },
    ];
  });
}

/** Undefined: it may not be claimed here (▲1, ▲11, ▲13), or asks for more than a plain claim. */
function claimedBy(state: State, worker: WorkerState, { logId }: Job): StoreState | undefined {
  const { store } = state;
  const record = store.records[logId];
  const isPlain =
    record && !record.cancel && record.executedAs === undefined && record.editor === worker.editor;
  if (!worker.link || !worker.fence || !isPlain || worker.importedIn !== store.incarnation) return undefined;
  const claim = changeOf(worker, (of) => of.claim(logId, `s${worker.link?.session}`));
  const guard = { nonce: nonceOf(worker), incarnation: worker.importedIn };
  const change = changed(store, logId, (latest) => claim(latest, now(state)), guard);
  return change.kind === "applied" ? change.store : undefined;
}
