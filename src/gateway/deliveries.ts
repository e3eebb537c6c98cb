/** Notes on records who asked for an outcome, who got it and who has read it (askings.ts), one note of an operation after the other. */
import { abandoned } from "../shared/operation/abandoned.js";
import { asked, delivered, givenUp, named, undelivered } from "../shared/operation/askings.js";
import { type Caller, isFinal, type OperationRecord } from "../shared/operation/operation.js";
import type { Operations } from "../shared/store/operations/operation-store.js";

/** By its log_id; a record that was read before need not be read again. */
type Named = Parameters<Operations["change"]>[0];

export interface Deliveries {
  /** The caller waits for the outcome of this operation, which is its principal's. */
  asks(caller: Caller, logId: string): Promise<void>;
  /**
   * An answer with the outcome was delivered to a request of this caller, or is about to be; `isRead`: so that it has read it.
   * Answers whether that is new.
   */
  delivered(caller: Caller, operation: Named, how: { isRead: boolean }): Promise<boolean>;
  /** The connection was reset before the caller can have read it; nothing happens where that delivery, as `noted`, was not new. */
  undelivered(caller: Caller, logId: string, noted: Promise<boolean>): Promise<void>;
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
  const storing = new Map<string, Promise<unknown>>();

  const inOrder = <Stored>(logId: string, store: () => Promise<Stored>): Promise<Stored> => {
    const before = storing.get(logId) ?? Promise.resolve();
    const stored = before.catch(() => undefined).then(store);
    storing.set(logId, stored);
    const forget = (): void => {
      if (storing.get(logId) === stored) storing.delete(logId);
    };
    stored.then(forget, forget);
    return stored;
  };

  /** Of the operation, or of the one that answers for it (▲10 b); answers whether it changed. */
  const change = (operation: Named, edit: Edit, given = Promise.resolve(true)): Promise<boolean> =>
    inOrder(typeof operation === "string" ? operation : operation.logId, async () => {
      if (!(await given)) return false;
      for (let at = operation; ; ) {
        let answeredBy: string | undefined;
        const done = await operations.change(at, (record, now) => {
          answeredBy = record.executedAs;
          const changed = answeredBy === undefined ? edit(record, now) : undefined;
          return changed && { record: changed };
        });
        if (answeredBy === undefined) return done.kind === "applied";
        at = answeredBy;
      }
    });

  const changeOutcome = (operation: Named, edit: Edit, given?: Promise<boolean>): Promise<boolean> =>
    change(operation, (record, now) => (isFinal(record.state) ? edit(record, now) : undefined), given);

  return {
    async asks(caller, logId) {
      await change(logId, (record) => asked(record, caller));
    },
    delivered: (caller, operation, { isRead }) =>
      changeOutcome(operation, (record, now) => delivered(record, caller, { now, isRead })),
    async undelivered(caller, logId, noted) {
      await changeOutcome(logId, (record) => undelivered(record, caller), noted);
    },
    async named({ principal, caller }, logId) {
      await changeOutcome(logId, (record) =>
        record.principal === principal ? named(record, caller) : undefined,
      );
    },
    async givenUp({ principal, caller }, { logId, isOwn, isTimeout }) {
      await change(logId, (record, now) => {
        if (record.principal !== principal) return undefined;
        const left = isOwn && record.logId === logId ? abandoned(record, now) : undefined;
        return isTimeout ? left : (givenUp(left ?? record, caller) ?? left);
      });
    },
    noted: async () => void (await Promise.allSettled(storing.values())),
  };
}
