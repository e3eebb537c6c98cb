/** Records which operations were given up by the request that created them, and which of those another caller wants. */

import { createBoundedMemory } from "../shared/bounded-memory.js";
import { abandoned, markKnown } from "../shared/operation/abandoned.js";
import type { OperationRecord } from "../shared/operation/operation.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import type { RpcId } from "../shared/wire/rpc.js";

export interface Abandonment {
  /** The client cancelled the request that created the operation, and no answer to it was written. */
  abandon(logId: string): Promise<void>;
  /**
   * Another caller waits for the operation or receives its log_id, so it stays. Answers the present record, which may have
   * left the queue just before. Writes at most once per operation.
   */
  markWanted(record: OperationRecord): Promise<OperationRecord>;
}

export function createAbandonment(operations: Pick<Operations, "change">): Abandonment {
  return {
    async abandon(logId) {
      await operations.change(logId, (record, now) => {
        const changed = abandoned(record, now);
        return changed && { record: changed };
      });
    },

    async markWanted(record) {
      if (!markKnown(record)) return record;
      const changed = await operations.change(record.logId, (latest) => {
        const wanted = markKnown(latest);
        return wanted && { record: wanted };
      });
      return "record" in changed ? changed.record : record;
    },
  };
}

/** The operations that one client's requests created, by the client's own request ids. */
export interface Creations {
  /**
   * The request has arrived; an earlier one of the same id is forgotten. `isResumed`: unless it is that one, taken up again.
   * False: that one was cancelled.
   */
  asked(requestId: RpcId, isResumed?: boolean): boolean;
  created(requestId: RpcId, logId: string): void;
  /** From now on the answer may reach the client, which may then know the log_id. */
  answering(requestId: RpcId): void;
  /** `notifications/cancelled` arrived, before or after the operation was created. */
  cancelled(requestId: RpcId): void;
}

interface Creation {
  logId?: string;
  isAnswered?: boolean;
  isCancelled?: boolean;
}

/** Cancellations come while a request is open, or soon after its connection was lost. */
const REMEMBERED = 200;

/** `onAbandoned`: the request was cancelled unanswered, and created this operation. */
export function createCreations(onAbandoned: (logId: string) => void): Creations {
  const creations = createBoundedMemory<Creation>(REMEMBERED);
  const keyOf = (requestId: RpcId): string => `${typeof requestId} ${requestId}`;
  const note = (requestId: RpcId, addition: Creation): void => {
    const key = keyOf(requestId);
    const creation = { ...creations.get(key), ...addition };
    creations.set(key, creation);
    const { logId, isAnswered, isCancelled } = creation;
    if (logId !== undefined && isCancelled && !isAnswered) onAbandoned(logId);
  };
  return {
    asked(requestId, isResumed = false) {
      const key = keyOf(requestId);
      if (!isResumed) creations.set(key, {});
      return creations.get(key)?.isCancelled !== true;
    },
    created: (requestId, logId) => note(requestId, { logId }),
    answering: (requestId) => note(requestId, { isAnswered: true }),
    cancelled: (requestId) => note(requestId, { isCancelled: true }),
  };
}
