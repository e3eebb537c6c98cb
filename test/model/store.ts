/** The store's steps, each indivisible: what the one script of src/shared/redis/apply.ts and its readers do. */
import type { Snapshot } from "../../src/shared/decide.js";
import { isFinal, jobIdOf, type OperationRecord } from "../../src/shared/operation.js";
import { HASH, type Job, type Request, type State, type StoreState, type Work } from "./state.js";
import type { Rules } from "./switches.js";

export const EMPTY_STORE: StoreState = {
  records: {},
  results: {},
  newest: null,
  open: null,
  at: {},
  forced: {},
  mutations: 0,
  jobs: [],
  doneJobs: [],
  leases: {},
  epochs: {},
  ledgers: {},
};

type Change = { record: OperationRecord; result?: unknown } | undefined;
export type Changed = { store: StoreState } & (
  | { kind: "applied" | "unchanged"; record: OperationRecord }
  | { kind: "unknown" | "fenced" }
);

/** Reads, changes and writes in one step: the script refuses a write of anything else than what was read. */
export function changed(
  store: StoreState,
  logId: string,
  change: (record: OperationRecord) => Change,
  /** The owner's nonce and its Editor. */
  fence?: { nonce: string; editor: string },
): Changed {
  const before = store.records[logId];
  if (!before) return { kind: "unknown", store };
  const wanted = change(before);
  if (!wanted) return { kind: "unchanged", record: before, store };
  if (fence && store.leases[fence.editor] !== fence.nonce) return { kind: "fenced", store };
  const { record, result } = wanted;
  const results = result === undefined ? store.results : { ...store.results, [logId]: String(result) };
  const records = { ...store.records, [logId]: record };
  return { kind: "applied", record, store: { ...store, records, results } };
}

/** A new record and the pointers of its chain. */
export function created(store: StoreState, record: OperationRecord): StoreState {
  const { logId, editor, effect } = record;
  const mutations = store.mutations + (effect === "read_only" ? 0 : 1);
  return {
    ...store,
    records: { ...store.records, [logId]: { ...record, mutationSeq: mutations } },
    newest: logId,
    open: record.editorOpen ? logId : store.open,
    at: { ...store.at, [editor]: logId },
    forced: record.supersedes === undefined ? store.forced : { ...store.forced, [record.supersedes]: logId },
    mutations,
  };
}

/** ▲10 The store had lost this record: it takes its place in the chain again, before whatever was made meanwhile. */
export function restored(store: StoreState, lost: OperationRecord): StoreState {
  const { logId, editor, supersedes } = lost;
  if (store.records[logId]) return store;
  const isNewest = store.newest === null || store.newest === lost.after;
  const record = { ...lost, order: isNewest ? Number(logId.slice(2)) : 0 };
  if (isNewest) return created(store, record);
  const after = created(store, record);
  const forced = supersedes === undefined ? {} : { [supersedes]: logId };
  return {
    ...after,
    newest: store.newest,
    open: store.open ?? after.open,
    at: { [editor]: logId, ...store.at },
    forced: { ...forced, ...store.forced },
  };
}

/** What a gateway reads of the hash before it decides. */
export function snapshotOf(
  store: StoreState,
  request: Request,
  editors: readonly string[],
  now: number,
): Snapshot {
  const pointers = new Set([store.newest, store.open, ...Object.values(store.at)]);
  const records = [...pointers].flatMap((logId) => (logId && store.records[logId]) || []);
  const forcedId = request.names === null ? undefined : store.forced[request.names];
  return {
    now,
    newest: store.newest,
    records,
    forced: forcedId === undefined ? undefined : store.records[forcedId],
    editors: editors.map((id) => ({ id, mutationSeq: store.mutations })),
  };
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

export const jobGivenBack = (store: StoreState, job: Job | null): StoreState =>
  job ? { ...store, jobs: [job, ...store.jobs] } : store;

/** As a copy of the store has it: jobs under way are waiting in it. */
export function copyOf({ store, workers }: State): StoreState {
  const active = workers.flatMap(({ works }) => works.flatMap(({ job }) => job ?? []));
  const missing = active.filter(({ logId }) => !store.jobs.some((job) => job.logId === logId));
  return missing.length === 0 ? store : { ...store, jobs: [...missing, ...store.jobs] };
}

export const openRecords = (store: StoreState, editor: string): OperationRecord[] =>
  Object.values(store.records).filter((record) => record.editor === editor && !isFinal(record.state));
