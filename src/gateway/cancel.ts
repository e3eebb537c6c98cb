/** The verb cancel: what waits leaves the queue, what may run is asked for at its Editor, and what nobody can run any more ends. */
import { BrokerError } from "../shared/errors.js";
import type { OperationView } from "../shared/operation/answer.js";
import { goneOf, interruptAsGone } from "../shared/operation/gone.js";
import {
  type Caller,
  isFinal,
  isSurelyUnsent,
  next,
  type OperationRecord,
} from "../shared/operation/operation.js";
import type { Editors } from "../shared/store/editors/editors.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import type { Change } from "../shared/store/operations/record.js";
import type { Queues } from "../shared/store/queue.js";
import type { KnownEditorsReader } from "./editors/known-editors.js";
import type { Waiters } from "./exchange.js";
import type { Views } from "./views.js";

export type Cancel = (
  principal: string,
  logId: string,
  caller: Caller,
) => Promise<OperationView | "retention_ended" | undefined>;

interface CancelDeps extends Pick<Views, "viewOf" | "read"> {
  operations: Operations;
  editors: Pick<Editors, "find">;
  queues: Pick<Queues, "remove">;
  waiters: Pick<Waiters, "until">;
  knownEditors: Pick<KnownEditorsReader, "read">;
  askForCancel: (logId: string) => Promise<void>;
  /** The principal's record, whose caller knows its log_id. */
  ownNamed: Views["ownRecord"];
}

/** How long its end is waited for after the Editor was asked, ms; and where nobody is there who could end it. */
const END_MS = 8_000;
const AWAY_MS = 2_000;

export function createCancel(deps: CancelDeps): Cancel {
  const { operations, editors, queues, waiters, ownNamed, viewOf, read } = deps;

  const cancel: Cancel = async (principal, logId, caller) => {
    const own = await ownNamed(principal, logId);
    if (typeof own !== "object") return own;
    const editor = await editors.find(own.editor);
    const here = editor?.connected === true;
    const known = await deps.knownEditors.read();
    let isElsewhere = false;
    const decide = (record: OperationRecord, now: number): Change | undefined => {
      // An Editor has taken it from its pool, or given it back: what is known of the other place says nothing.
      isElsewhere = record.editor !== own.editor;
      if (isElsewhere) return undefined;
      const gone = goneOf(record, editor, here);
      const ended = gone && interruptAsGone(record, gone, editor, now);
      if (ended) return { record: ended };
      const state = isSurelyUnsent(record, known) && next(record.state, "cancelled");
      const cancelledBy = caller.id;
      if (state) return { record: { ...record, state, endedAt: now, cancelledBy } };
      return isFinal(record.state) || record.cancel
        ? undefined
        : { record: { ...record, cancel: { requestedAt: now }, cancelledBy } };
    };
    const changed = await operations.change(logId, decide, { incarnation: known.incarnation });
    // Store incarnation (▲13): the store was lost at this moment.
    if (changed.kind === "incarnation" || isElsewhere) return cancel(principal, logId, caller);
    if (changed.kind === "full") throw new BrokerError("STORE_FULL", "The cancellation cannot be stored.");
    if (!("record" in changed)) return undefined;
    if (isFinal(changed.record.state)) {
      if (changed.kind === "applied") await queues.remove(changed.record);
      return viewOf(changed.record);
    }
    await deps.askForCancel(logId);
    await waiters.until(
      logId,
      async () => {
        const record = await operations.find(logId);
        const isRefused = record?.cancel?.answer === "not_cancellable";
        return record === undefined || isFinal(record.state) || isRefused ? true : undefined;
      },
      { ms: here ? END_MS : AWAY_MS, follows: true },
    );
    return read(principal, logId);
  };
  return cancel;
}
