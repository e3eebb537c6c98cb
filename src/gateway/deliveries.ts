/** Notes on records who asked for an outcome, who got it and who has read it (askings.ts), one note of an operation after the other. */
import { abandoned } from "../shared/operation/abandoned.js";
import { asked, delivered, givenUp, named, undelivered } from "../shared/operation/askings.js";
import { type Caller, isFinal, type OperationRecord } from "../shared/operation/operation.js";
import type { Operations } from "../shared/store/operations/operation-store.js";

export interface Deliveries {
  /** The caller waits for the outcome of this operation, which is its principal's. */
  asks(caller: Caller, logId: string): Promise<void>;
  /** An answer with the outcome was delivered to a request of this caller, or is about to be; `isRead`: so that it has read it. */
  delivered(caller: Caller, logId: string, how: { isRead: boolean }): Promise<void>;
  /** The connection was reset before the caller can have read it. */
  undelivered(caller: Caller, logId: string): Promise<void>;
  /**
   * The caller named this log_id in a message: it has read what was delivered to it before. Nothing happens to another
   * principal's operation.
   */
  named(by: { principal: string; caller: Caller }, logId: string): Promise<void>;
  /**
   * The client cancelled an unanswered request for this operation; `isOwn`: it created it; `isTimeout`: only because its time
   * was over. Nothing happens to another principal's operation.
   */
  givenUp(
    by: { principal: string; caller: Caller },
    request: { logId: string; isOwn: boolean; isTimeout: boolean },
  ): Promise<void>;
  /** Resolves when what is being noted at this moment is stored, or has failed: a call that came after it must find it. */
  noted(): Promise<void>;
}

export function createDeliveries(operations: Pick<Operations, "change">): Deliveries {
  type Edit = (record: OperationRecord, now: number) => OperationRecord | undefined;

  /** By log_id: the last note that is being stored. */
  const storing = new Map<string, Promise<void>>();

  const inOrder = (logId: string, store: () => Promise<void>): Promise<void> => {
    const before = storing.get(logId) ?? Promise.resolve();
    const stored = before.catch(() => undefined).then(store);
    storing.set(logId, stored);
    const forget = (): void => {
      if (storing.get(logId) === stored) storing.delete(logId);
    };
    stored.then(forget, forget);
    return stored;
  };

  const change = (logId: string, edit: Edit): Promise<void> =>
    inOrder(logId, async () => {
      await operations.change(logId, (record, now) => {
        const changed = edit(record, now);
        return changed && { record: changed };
      });
    });

  /** Of an ended operation, or of the one that answers for it (▲10 b). */
  const changeOutcome = (logId: string, edit: Edit): Promise<void> =>
    inOrder(logId, async () => {
      for (let at: string | undefined = logId; at !== undefined; ) {
        let answeredBy: string | undefined;
        await operations.change(at, (record, now) => {
          answeredBy = record.executedAs;
          const changed = answeredBy === undefined && isFinal(record.state) ? edit(record, now) : undefined;
          return changed && { record: changed };
        });
        at = answeredBy;
      }
    });

  return {
    asks: (caller, logId) => change(logId, (record) => asked(record, caller)),
    delivered: (caller, logId, { isRead }) =>
      changeOutcome(logId, (record, now) => delivered(record, caller, { now, isRead })),
    undelivered: (caller, logId) => changeOutcome(logId, (record) => undelivered(record, caller)),
    named: ({ principal, caller }, logId) =>
      changeOutcome(logId, (record) => (record.principal === principal ? named(record, caller) : undefined)),
    givenUp: ({ principal, caller }, { logId, isOwn, isTimeout }) =>
      change(logId, (record, now) => {
        if (record.principal !== principal) return undefined;
        const left = isOwn ? abandoned(record, now) : undefined;
        return isTimeout ? left : (givenUp(left ?? record, caller) ?? left);
      }),
    noted: async () => void (await Promise.allSettled(storing.values())),
  };
}
