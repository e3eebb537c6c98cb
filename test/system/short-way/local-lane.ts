/** A lane of this process in which a test stands for the owner: what scripts claim for it is only noted. */
import { jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { keys, queueName } from "../../../src/shared/store/keys.js";
import type {
  ClaimedOperation,
  LaneJob,
  LocalLane,
} from "../../../src/shared/store/same-process/local-lanes.js";
import type { Claimant } from "../../../src/shared/store/scripts/claim.js";
import type { Store } from "../../../src/shared/store/store.js";
import { operation } from "../../unit/shared/record.js";

export const EDITOR = "shop@1";
export const QUEUE = queueName(EDITOR, "main");
export const OWNER = "nonce of the owner";

export interface NotedLane {
  /** Claims with this; undefined: the lane takes nothing. */
  claimant: Claimant | undefined;
  begun: ClaimedOperation[];
  /** What followed an end: the next operation, or undefined. */
  ended: (ClaimedOperation | undefined)[];
  /** Jobs under way, by their ids. */
  jobs: Map<string, { id: string; token: string }>;
}

/** Holds the Editor's lease, in the store's present incarnation. */
export async function ownLane(
  store: Store,
  hand: { set(key: string, value: string): unknown },
): Promise<NotedLane> {
  await hand.set(keys.lease(EDITOR), OWNER);
  const lane: NotedLane = {
    claimant: {
      editor: EDITOR,
      lane: "main",
      fence: OWNER,
      session: 'session "1"/é',
      incarnation: await store.operations.incarnation(),
      token: "token",
      lockMs: 60_000,
    },
    begun: [],
    ended: [],
    jobs: new Map(),
  };
  const localLane: LocalLane = {
    place() {
      const { claimant } = lane;
      const begin = (claimed: ClaimedOperation): void => {
        lane.begun.push(claimed);
        holds(lane, claimed);
      };
      return claimant && { claimant, begin, leave: () => undefined, lost: () => undefined };
    },
    jobOf(jobId): LaneJob | undefined {
      const job = lane.jobs.get(jobId);
      const ended = (next: ClaimedOperation | undefined): void => {
        lane.ended.push(next);
        lane.jobs.delete(jobId);
        if (next) holds(lane, next);
      };
      return job && { ...job, claimant: () => lane.claimant, ended, lost: () => undefined };
    },
  };
  store.localLanes.set(QUEUE, localLane);
  return lane;
}

function holds(lane: NotedLane, { record, claimant }: ClaimedOperation): void {
  const id = jobIdOf(record);
  lane.jobs.set(id, { id, token: claimant.token });
}

let created = 0;

/** A new operation of its own hash. */
export async function create(
  store: Store,
  logId: string,
  changes: Partial<OperationRecord> = {},
): Promise<OperationRecord> {
  const { operations } = store;
  created += 1;
  const about = { hash: `hash ${created}`, incarnation: await operations.incarnation() };
  const acceptedAt = await operations.now();
  const record = operation({ logId, editor: EDITOR, acceptedAt, ...about, ...changes });
  const answer = await operations.create(record, JSON.stringify({ Name: logId }), "0");
  if (answer.kind !== "created") throw new Error(answer.kind);
  return answer.record;
}

/** By its owner. */
export const end = (store: Store, logId: string, changes: Partial<OperationRecord> = {}) =>
  store.operations.change(
    logId,
    (record, now) => ({ record: { ...record, state: "completed", endedAt: now, ...changes } }),
    OWNER,
  );
