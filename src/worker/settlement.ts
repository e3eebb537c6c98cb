/** How an operation's begin and end are stored: from what the Editor says, or from what answers in its place. */
import { isFinal, type OperationRecord } from "../shared/operation.js";
import type { Changed } from "../shared/redis/operations.js";
import type { Outcome } from "../shared/wire.js";
import { ResultRefused, withoutResult } from "./large-result.js";
import { answeredBy, type Ending, settled, started } from "./outcome.js";
import type { ProcessDeps, Processed } from "./process-deps.js";

export interface Settlement {
  /** Stores the outcome with its result, however long there is no room for it; then the Editor may be told. */
  settle(
    record: OperationRecord,
    outcome: Outcome,
    signal: AbortSignal,
    how?: Pick<Ending, "isCollected">,
  ): Promise<Processed>;
  /** ▲10 (b) Another operation answers the call: this one takes its state when that has ended. Undefined: try again. */
  takeOutcome(
    record: OperationRecord,
    executedAs: string,
    signal: AbortSignal,
  ): Promise<Processed | undefined>;
  markStarted(logId: string): Promise<Changed>;
}

export function createSettlement(deps: ProcessDeps): Settlement {
  const { operations, editor, fence } = deps;

  /** What the Editor cannot hand out, or should not, is missing for good; nobody may take that for an empty result. */
  const collected = async (logId: string, told: Outcome) => {
    try {
      return { outcome: told, result: await editor.result(logId, told) };
    } catch (error) {
      if (!(error instanceof ResultRefused)) throw error;
      deps.warn({ logId, error: error.message }, "the result of an operation is not taken");
      return { outcome: withoutResult(told, error), result: undefined };
    }
  };

  const settle: Settlement["settle"] = async (record, told, signal, how) => {
    const { outcome, result } = await collected(record.logId, told);
    const evidence = outcome.status === "interrupted" ? await deps.evidence(record) : undefined;
    /** Invariant 3: an outcome without room in the store stays with the Editor, unacknowledged, until there is some. */
    const end = async (): Promise<Changed> => {
      for (;;) {
        const changed = await operations.change(
          record.logId,
          (latest, now) => settled(latest, outcome, now, editor.mark(), { ...how, evidence, result }),
          fence,
        );
        if (changed.kind !== "full" || signal.aborted) return changed;
        await deps.roomAgain(signal);
      }
    };
    let changed = await end();
    if (changed.kind === "unknown") {
      // ▲10 The store went back behind this operation while it ran; its outcome must not be lost with it.
      await operations.restore(record, fence);
      changed = await end();
    }
    if (changed.kind === "fenced" || changed.kind === "full") return "handed_over";
    if (changed.kind !== "unknown") deps.acknowledge(record.logId);
    return "settled";
  };

  const takeOutcome: Settlement["takeOutcome"] = async ({ logId }, executedAs, signal) => {
    const processed = await deps.alsoProcess(executedAs);
    if (signal.aborted || processed === "handed_over") return "handed_over";
    const other = await operations.find(executedAs);
    // Lost with the store once more: the Editor is asked anew.
    const forget = ({ executedAs: _lost, ...record }: OperationRecord) => ({ record });
    const changed = await operations.change(
      logId,
      (record) => {
        if (isFinal(record.state)) return undefined;
        return other ? answeredBy(record, other) : forget(record);
      },
      fence,
    );
    if (changed.kind === "fenced") return "handed_over";
    if (!("record" in changed) || isFinal(changed.record.state)) return "settled";
    await deps.pause(signal);
    return undefined;
  };

  return { settle, takeOutcome, markStarted: (logId) => operations.change(logId, started, fence) };
}
