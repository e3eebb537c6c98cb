/** What an owner has while it holds the lease, and what is left when it loses it. */

import { jobGivenBack } from "../broker/store.js";
import {
  editorOf,
  type State,
  type StoreState,
  type Work,
  type WorkerState,
  withEditor,
  withWorker,
} from "./state.js";

export function withoutLease(store: StoreState, editor: string): StoreState {
  const { [editor]: _gone, ...leases } = store.leases;
  return { ...store, leases };
}

/** The connection ends: what waited for an answer or an outcome asks again. */
export function disconnected(worker: WorkerState): WorkerState {
  const again = (work: Work): Work =>
    work.at === "asked" || work.at === "answered" || work.at === "following" ? started(work) : work;
  return { ...worker, link: null, works: worker.works.map(again) };
}

/** A new attempt. */
export const started = ({ logId, job }: Pick<Work, "logId" | "job">): Work => ({
  logId,
  job,
  at: "start",
  session: 0,
  isFresh: false,
  asks: "submit",
  revokes: null,
  after: null,
  record: null,
  found: null,
  questions: 0,
});

/** It lost the lease, or died: its jobs go back, its connection is closed. */
export function withoutOwnership(
  state: State,
  worker: WorkerState,
): Pick<State, "store" | "workers" | "editors"> {
  const editor = editorOf(state, worker.editor);
  return {
    store: worker.works.reduce((store, { job }) => jobGivenBack(store, job), state.store),
    ...withWorker(state, { ...worker, fence: null, link: null, importedIn: null, works: [], acks: [] }),
    ...(isSeated(state, worker) ? withEditor(state, { ...editor, seat: null }) : { editors: state.editors }),
  };
}

/** Does the Editor's socket belong to what this worker takes for its connection? */
export function isSeated(state: State, worker: WorkerState): boolean {
  const { up, session, seat } = editorOf(state, worker.editor);
  const { link } = worker;
  return (
    up &&
    link !== null &&
    session === link.session &&
    seat?.worker === worker.name &&
    seat.life === worker.life &&
    seat.connection === link.connection
  );
}
