/** BullMQ's queue of an Editor in memory, and the script that claims the operation of a job (src/shared/store/scripts/call.ts). */
import { isWaiting, jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import type { Claimant, ClaimedOperation } from "../../../src/shared/store/scripts/call.js";
import type { MemoryStore, StoreData } from "./store.js";

export interface Job {
  id: string;
  logId: string;
}

export interface Queue {
  waiting: Job[];
  /** Taken, by the owner with this nonce. */
  active: (Job & { by: string })[];
}

export function queueOf({ queues }: StoreData, editor: string): Queue {
  queues[editor] ??= { waiting: [], active: [] };
  return queues[editor];
}

const jobOf = (record: OperationRecord): Job => ({ id: jobIdOf(record), logId: record.logId });

/** What it had taken waits again, first of all. */
export function giveBack(data: StoreData, editor: string, by: string, jobId?: string): void {
  const queue = queueOf(data, editor);
  const back = queue.active.filter((job) => job.by === by && (jobId === undefined || job.id === jobId));
  queue.active = queue.active.filter((job) => !back.includes(job));
  queue.waiting = [...back.map(({ id, logId }) => ({ id, logId })), ...queue.waiting];
}

export function endJob(data: StoreData, editor: string, jobId: string): void {
  const queue = queueOf(data, editor);
  queue.active = queue.active.filter(({ id }) => id !== jobId);
}

/** Adds the job of an operation that waits, if it has none. */
export function addJob(data: StoreData, record: OperationRecord): void {
  const { waiting, active } = queueOf(data, record.editor);
  const job = jobOf(record);
  if (![...waiting, ...active].some(({ id }) => id === job.id)) waiting.push(job);
}

/** In one step, as the script does it; undefined: it is to be read first. */
export function claim(store: MemoryStore, jobId: string, claimant: Claimant): ClaimedOperation | undefined {
  const { data } = store;
  const logId = jobId.slice(jobId.indexOf(".") + 1);
  const found = data.documents[logId];
  const isOwner = data.leases[claimant.editor] === claimant.fence;
  if (!found || !isOwner || data.incarnation !== claimant.incarnation) return undefined;
  const { record } = found;
  if (!isWaiting(record.state) || record.cancel || record.executedAs || record.sentIn) return undefined;
  if (jobIdOf(record) !== jobId) return undefined;
  const claimed = {
    ...record,
    state: "dispatched",
    dispatchedAt: store.now(),
    sentIn: claimant.session,
  } as const;
  data.documents[logId] = { ...found, record: claimed };
  const chain = data.chains[record.hash];
  if (chain) chain.version += 1;
  store.onChange(logId);
  return { record: claimed, args: data.arguments[logId] ?? "{}" };
}
