/** BullMQ's queue of an Editor in memory, and the claims that scripts make of it (src/shared/store/scripts/claim.ts). */
import { isWaiting, jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import type { ClaimedOperation } from "../../../src/shared/store/same-process/local-lanes.js";
import type { Claimant } from "../../../src/shared/store/scripts/claim.js";
import { LANE_PLACES } from "../../../src/shared/tools/tool.js";
import type { MemoryStore, StoreData } from "./store.js";

export interface Job {
  id: string;
  logId: string;
}

export interface Queue {
  waiting: Job[];
  /** Taken, by the owner with this nonce. */
  active: (Job & { by: string })[];
  /** The job that was taken with a claim, by its token. */
  claims: Record<string, string>;
}

export function queueOf({ queues }: StoreData, editor: string): Queue {
  queues[editor] ??= { waiting: [], active: [], claims: {} };
  return queues[editor];
}

export const jobOf = (record: OperationRecord): Job => ({ id: jobIdOf(record), logId: record.logId });

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

/** Takes the job at the head of the queue with the claim of its operation, if both may be. Part of the script that asks for it. */
export function claimNext(store: MemoryStore, claimant: Claimant): ClaimedOperation | undefined {
  const { data } = store;
  const queue = queueOf(data, claimant.editor);
  const [job] = queue.waiting;
  const found = job && data.documents[job.logId];
  if (!found || queue.active.length >= LANE_PLACES[claimant.lane]) return undefined;
  const { record } = found;
  const isOwner = data.leases[claimant.editor] === claimant.fence;
  if (!isOwner || data.incarnation !== claimant.incarnation) return undefined;
  if (!isWaiting(record.state) || record.cancel || record.executedAs || jobIdOf(record) !== job.id)
    return undefined;
  const claimed = {
    ...record,
    state: "dispatched",
    dispatchedAt: store.now(),
    sentIn: claimant.session,
  } as const;
  data.documents[job.logId] = { ...found, record: claimed };
  const chain = data.chains[record.hash];
  if (chain) chain.version += 1;
  queue.waiting.shift();
  queue.active.push({ ...job, by: claimant.fence });
  store.onChange(job.logId);
  queue.claims[claimant.token] = job.id;
  return { record: claimed, args: data.arguments[job.logId] ?? "{}", claimant };
}

/** What was claimed with it by a script whose reply was lost. */
export function findClaim({ data }: MemoryStore, claimant: Claimant): ClaimedOperation | undefined {
  const queue = queueOf(data, claimant.editor);
  const job = queue.active.find(({ id }) => id === queue.claims[claimant.token]);
  const record = job && data.documents[job.logId]?.record;
  return record && { record, args: data.arguments[job.logId] ?? "{}", claimant };
}
