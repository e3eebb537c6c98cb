/** The store's steps, each indivisible: what the scripts of src/shared/store/scripts and their readers do. */

import type { Moment } from "../../../../src/shared/operation/again.js";
import type { Snapshot } from "../../../../src/shared/operation/decide.js";
import {
  countsAsChange,
  isFinal,
  jobIdOf,
  mayHaveBegun,
  type OperationRecord,
} from "../../../../src/shared/operation/operation.js";
import { HASH, type Job, now, type Request, type State, type StoreState, type Work } from "../state/state.js";
import type { Rules } from "../switches.js";

export const EMPTY_STORE: StoreState = {
  incarnation: "i1",
  imported: {},
  entered: 0,
  records: {},
  results: {},
  newest: null,
  at: {},
  began: {},
  forced: {},
  mutations: 0,
  own: {},
  marks: {},
  jobs: [],
  doneJobs: [],
  leases: {},
  epochs: {},
  ledgers: {},
};

type Change = { record: OperationRecord; result?: unknown } | undefined;
export type Changed = { store: StoreState } & (
  | { kind: "applied" | "unchanged"; record: OperationRecord }
  | { kind: "unknown" | "not_owner" | "incarnation" }
);

/** The owner's nonce, which must hold the lease of the Editor that the record names; ▲13 only in this incarnation. */
export interface Guard {
  nonce: string;
  incarnation?: string | null;
}

/** Reads, changes and writes in one step: the script refuses a write of anything else than what was read. */
export function changed(
  store: StoreState,
  logId: string,
  change: (record: OperationRecord) => Change,
  guard?: Guard,
): Changed {
  const before = store.records[logId];
  if (!before) return { kind: "unknown", store };
  const wanted = change(before);
  if (!wanted) return { kind: "unchanged", record: before, store };
  if (guard?.incarnation !== undefined && guard.incarnation !== store.incarnation) {
    return { kind: "incarnation", store };
  }
  if (guard && store.leases[before.editor] !== guard.nonce) return { kind: "not_owner", store };
  const { record, result } = wanted;
  const results = result === undefined ? store.results : { ...store.results, [logId]: String(result) };
  const records = { ...store.records, [logId]: record };
  return { kind: "applied", record, store: { ...store, records, results, began: begunIn(store, record) } };
}

/** A restored one that others followed takes nobody's place. */
function begunIn({ began }: StoreState, record: OperationRecord): StoreState["began"] {
  const { logId, editor, rebuilt, order } = record;
  if (began[editor] === logId) return began;
  if (!mayHaveBegun(record)) return rebuilt && !isFinal(record.state) ? { [editor]: logId, ...began } : began;
  return rebuilt && order === 0 ? { [editor]: logId, ...began } : { ...began, [editor]: logId };
}

/** A new record and the pointers of its chain. */
export function created(store: StoreState, record: OperationRecord): StoreState {
  const { logId, editor, createdBy } = record;
  const counts = countsAsChange(record);
  const mutations = store.mutations + (counts ? 1 : 0);
  const entered = store.entered + 1;
  return {
    ...store,
    entered,
    records: { ...store.records, [logId]: { ...record, mutationSeq: mutations, entered, order: entered } },
    newest: logId,
    at: { ...store.at, [editor]: logId },
    forced: record.supersedes === undefined ? store.forced : { ...store.forced, [record.supersedes]: logId },
    began: begunIn(store, record),
    mutations,
    own: counts ? { ...store.own, [createdBy.caller ?? ""]: mutations } : store.own,
  };
}

/** ▲5 What it joined is a change of its own. */
export function joined(store: StoreState, record: OperationRecord, caller: string): StoreState {
  const own = store.own[caller] ?? 0;
  if (!countsAsChange(record) || own >= record.mutationSeq) return store;
  return { ...store, own: { ...store.own, [caller]: record.mutationSeq } };
}

/** ▲10 The store had lost this record: it takes its place in the chain again, before whatever was made meanwhile. */
export function restored(store: StoreState, lost: OperationRecord): StoreState {
  const { logId, editor, supersedes } = lost;
  if (store.records[logId]) return store;
  const isNewest = store.newest === null || store.newest === lost.after;
  const { incarnation } = store;
  const after = created(store, { ...lost, incarnation });
  if (isNewest) return after;
  const record = after.records[logId] as OperationRecord;
  const forced = supersedes === undefined ? {} : { [supersedes]: logId };
  return {
    ...after,
    records: { ...after.records, [logId]: { ...record, order: 0 } },
    newest: store.newest,
    at: { [editor]: logId, ...store.at },
    forced: { ...forced, ...store.forced },
  };
}

/** What is known of the Editors now, for this caller. */
export function momentOf(state: State, caller: string): Moment {
  const { incarnation, mutations, own, marks } = state.store;
  const callerMutationSeq = own[caller];
  const editors = state.editors.map(({ id }) => ({
    id,
    mutationSeq: mutations,
    callerMutationSeq,
    mark: marks[id],
  }));
  return { now: now(state), incarnation, editors };
}

/** What a gateway reads of the hash before it decides (src/shared/store/operations/record.ts). */
export function snapshotOf(state: State, store: StoreState, request: Request): Snapshot {
  const pointers = new Set([store.newest, ...Object.values(store.at), ...Object.values(store.began)]);
  const pointedAt = [...pointers].flatMap((logId) => (logId && store.records[logId]) || []);
  const others = pointedAt.flatMap(({ executedAs }) => (executedAs && store.records[executedAs]) || []);
  const forcedId = request.names === null ? undefined : store.forced[request.names];
  return {
    ...momentOf(state, request.caller),
    newest: store.newest,
    records: [...new Set([...pointedAt, ...others])],
    forced: forcedId === undefined ? undefined : executionOf(store, forcedId),
  };
}

/** ▲10 (b) The operation that answers for this one. */
export function executionOf(store: StoreState, logId: string): OperationRecord | undefined {
  const record = store.records[logId];
  return record?.executedAs === undefined ? record : store.records[record.executedAs];
}

const idOf = (record: OperationRecord, { off }: Rules): string =>
  off === "jobIdsReused" ? HASH : jobIdOf(record);

/** Is the job waiting, or with an owner that lives? */
export function hasJob(state: State, logId: string): boolean {
  return (
    state.store.jobs.some((job) => job.logId === logId) ||
    state.workers.some(({ works }) => works.some((work) => work.job?.logId === logId))
  );
}

/** Adds the record's job; false where the id is taken by another one, which then makes adding do nothing. */
export function jobAdded(state: State, record: OperationRecord, rules: Rules): StoreState | false {
  const { store } = state;
  const id = idOf(record, rules);
  const active = state.workers.flatMap(({ works }) => works.flatMap((work: Work) => work.job ?? []));
  const known = [...store.jobs, ...active].find((job) => job.id === id);
  if (known || store.doneJobs.includes(id)) return known?.logId === record.logId ? store : false;
  return { ...store, jobs: [...store.jobs, { id, logId: record.logId, editor: record.editor }] };
}

/** The job has been carried through. */
export function jobDone(store: StoreState, job: Job | null, { off }: Rules): StoreState {
  if (!job || off !== "jobIdsReused") return store;
  return { ...store, doneJobs: [...store.doneJobs, job.id] };
}

/** One whose operation is somewhere else meanwhile was removed with that. */
export function jobGivenBack(store: StoreState, job: Job | null): StoreState {
  const record = job && store.records[job.logId];
  if (!job || (record?.pool !== undefined && record.editor !== job.editor)) return store;
  return { ...store, jobs: [job, ...store.jobs] };
}

/** As a copy of the store has it: jobs under way are waiting in it. */
export function copyOf({ store, workers }: State): StoreState {
  const active = workers.flatMap(({ works }) => works.flatMap(({ job }) => job ?? []));
  const missing = active.filter(({ logId }) => !store.jobs.some((job) => job.logId === logId));
  return missing.length === 0 ? store : { ...store, jobs: [...missing, ...store.jobs] };
}

export const openRecords = (store: StoreState, editor: string): OperationRecord[] =>
  Object.values(store.records).filter((record) => record.editor === editor && !isFinal(record.state));
