/** Notes which operations were given up by the request that created them, and who wants them all the same. */
import { abandoned, known } from "../shared/abandoned.js";
import type { OperationRecord } from "../shared/operation.js";
import type { Operations } from "../shared/redis/operations.js";
import { createRecent } from "../shared/redis/recent.js";
import type { RpcId } from "../shared/rpc.js";

export interface Abandonment {
  /** The client cancelled the request that created the operation, and no answer to it was written. */
  abandon(logId: string): Promise<void>;
  /**
   * Somebody else waits for the operation, or is told its log_id: it stays. Answers the record as it is then; it may have
   * left the queue just before. Writes at most once for an operation.
   */
  want(record: OperationRecord): Promise<OperationRecord>;
}

export function createAbandonment(operations: Pick<Operations, "change">): Abandonment {
  return {
    async abandon(logId) {
      await operations.change(logId, (record, now) => {
        const changed = abandoned(record, now);
        return changed && { record: changed };
      });
    },

    async want(record) {
      if (!known(record)) return record;
      const changed = await operations.change(record.logId, (latest) => {
        const wanted = known(latest);
        return wanted && { record: wanted };
      });
      return "record" in changed ? changed.record : record;
    },
  };
}

/** What one client's requests created, by the client's own request ids. */
export interface Creations {
  /** The request has come; what an earlier one of the same id was is forgotten. */
  asked(requestId: RpcId): void;
  created(requestId: RpcId, logId: string): void;
  /** From now on the answer may reach the client: it may know the log_id. */
  answering(requestId: RpcId): void;
  /** `notifications/cancelled`: before or after the operation was created. */
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
  const creations = createRecent<Creation>(REMEMBERED);
  const note = (requestId: RpcId, news: Creation): void => {
    const key = `${typeof requestId} ${requestId}`;
    const creation = { ...creations.get(key), ...news };
    creations.set(key, creation);
    const { logId, isAnswered, isCancelled } = creation;
    if (logId !== undefined && isCancelled && !isAnswered) onAbandoned(logId);
  };
  return {
    asked: (requestId) => creations.set(`${typeof requestId} ${requestId}`, {}),
    created: (requestId, logId) => note(requestId, { logId }),
    answering: (requestId) => note(requestId, { isAnswered: true }),
    cancelled: (requestId) => note(requestId, { isCancelled: true }),
  };
}
