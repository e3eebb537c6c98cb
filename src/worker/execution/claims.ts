/** The writes of an owner before it sends an operation, and after it did not send it. */
import {
  isFinal,
  isFromBeforeLoss,
  next,
  nextAfter,
  type OperationEvent,
  type OperationRecord,
} from "../../shared/operation/operation.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { Changed } from "../../shared/store/operations/record.js";

export type Claims = ReturnType<typeof createClaims>;

export function createClaims(
  operations: Pick<Operations, "change">,
  owner: { readonly editorId: string; fence: string; importedIn(): string },
) {
  const { fence, importedIn } = owner;
  /**
   * No record, no dispatch (▲1): only a record with the edge `claimed`; the executor has compared the job. Resubmission (▲12):
   * its session is stored before the first byte leaves. Store incarnation (▲13): refused where the store may have lost
   * something since the Editor's operations were imported; one of a pool, which other Editors may have had, also where it lost
   * something since the operation was accepted. An operation that was returned unsent, and whose cancellation
   * was requested meanwhile, ends here.
   */
  const claim = (logId: string, session: string): Promise<Changed> =>
    operations.change(
      logId,
      (record, now) => {
        if (record.editor !== owner.editorId || isFromBeforeLoss(record, importedIn())) return undefined;
        const state = next(record.state, "claimed");
        const cancelled = record.cancel && next(record.state, "cancelled");
        if (state && cancelled) return { record: { ...record, state: cancelled, endedAt: now } };
        return state && { record: { ...record, state, dispatchedAt: now, sentIn: session } };
      },
      { fence, incarnation: importedIn() },
    );

  /** Resubmission (▲12): stores the new Editor session before the operation is sent there. */
  const resend = async (record: OperationRecord, session: string, returned: boolean): Promise<Changed> =>
    operations.change(
      record.logId,
      (latest, now) => {
        const after: OperationEvent = latest.cancel ? "cancelled" : "claimed";
        const state = returned ? nextAfter(latest.state, ["returned", after]) : latest.state;
        if (state === undefined || isFinal(latest.state)) return undefined;
        if (state === "cancelled") return { record: { ...latest, state, endedAt: now } };
        // A read that ran before its Editor was lost: keep its times in order.
        const dispatchedAt = latest.startedAt === undefined ? now : (latest.dispatchedAt ?? now);
        // Its ledger knows it: no other Editor of its pool has had it.
        const known = latest.pool === undefined ? {} : { incarnation: importedIn() };
        return { record: { ...latest, ...known, state, sentIn: session, dispatchedAt } };
      },
      fence,
    );

  /**
   * It waits again. `wasSent`: its ledger says that it has not begun. Then it stays this Editor's, for what was sent is no other's of its
   * pool; otherwise a claim of this process, of which no byte left, is taken back.
   */
  const giveBack = (logId: string, { wasSent }: { wasSent: boolean }): Promise<Changed> =>
    operations.change(
      logId,
      ({ dispatchedAt: _dispatchedAt, ...latest }) => {
        // Another operation answers for it: it can neither expire nor be cancelled as unsent.
        const state = latest.executedAs === undefined ? next(latest.state, "returned") : undefined;
        const { sentIn: _sentIn, ...unsent } = latest;
        return state && { record: { ...(wasSent ? latest : unsent), state } };
      },
      fence,
    );

  return { claim, resend, giveBack };
}
