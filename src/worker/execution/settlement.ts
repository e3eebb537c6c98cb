/** Stores an operation's begin and end: from the Editor's report, or from the operation that answers in its place. */
import { fieldsOf } from "../../shared/log.js";
import { isFinal, type OperationRecord } from "../../shared/operation/operation.js";
import type { Changed } from "../../shared/store/operations/changes.js";
import { inSpan, type TraceContext } from "../../shared/traces.js";
import type { Outcome } from "../../shared/wire/wire.js";
import { traceExecution } from "./execution-spans.js";
import type { AttemptResult, ExecutorDeps, ExecutorResult } from "./executor-deps.js";
import { ResultRefused, withoutResult } from "./large-result.js";
import { answeredBy, type Ending, settled, started } from "./outcome.js";

export interface Settlement {
  /** Stores the outcome with its result, waiting as long as the results are above their quota; then the Editor may forget it. */
  settle(
    record: OperationRecord,
    outcome: Outcome,
    signal: AbortSignal,
    how?: Pick<Ending, "isCollected"> & { trace?: TraceContext | undefined },
  ): Promise<ExecutorResult>;
  /** Chain check (▲10 b): another operation answers the call; this one takes its state once it has ended. */
  copyOutcomeOf(record: OperationRecord, executedAs: string, signal: AbortSignal): Promise<AttemptResult>;
  markStarted(record: OperationRecord): Promise<Changed>;
}

export function createSettlement(deps: ExecutorDeps): Settlement {
  const { operations, editor, fence } = deps;

  /**
   * A result that the Editor cannot hand out, or that is refused, is missing for good: the outcome says so, because it
   * must not look like an empty result.
   */
  const collected = async (logId: string, reported: Outcome) => {
    try {
      return { outcome: reported, result: await editor.result(logId, reported) };
    } catch (error) {
      if (!(error instanceof ResultRefused)) throw error;
      deps.log.warn({ log_id: logId, error: error.message }, "the result of an operation cannot be taken");
      return { outcome: withoutResult(reported, error), result: undefined };
    }
  };

  const settle: Settlement["settle"] = (record, reported, signal, { trace = record.trace, ...how } = {}) =>
    inSpan("settle", { parent: trace }, (span) => {
      span.set({ "unity_broker.outcome": reported.status });
      return stored(record, reported, signal, { ...how, trace });
    });

  const stored = async (
    record: OperationRecord,
    reported: Outcome,
    signal: AbortSignal,
    { trace, ...how }: Pick<Ending, "isCollected"> & { trace: TraceContext | undefined },
  ): Promise<ExecutorResult> => {
    const { outcome, result } = await collected(record.logId, reported);
    const evidence = outcome.status === "interrupted" ? await deps.evidence(record) : undefined;
    /** No produced result is lost (invariant 3): an outcome above the results' quota stays with the Editor, unacknowledged, until there is room. */
    const end = async (): Promise<Changed> => {
      for (;;) {
        const changed = await operations.change(
          record,
          (latest, now) => settled(latest, outcome, now, editor.mark(), { ...how, evidence, result }),
          fence,
        );
        if (changed.kind !== "full" || signal.aborted) return changed;
        await deps.awaitResultQuota(signal);
      }
    };
    let changed = await end();
    if (changed.kind === "unknown") {
      // Record recovery (▲10 d): the store lost this operation while it ran; its outcome must not be lost with it.
      await operations.restore(record, fence);
      changed = await end();
    }
    if (changed.kind === "not_owner" || changed.kind === "full") return "handed_over";
    if (changed.kind === "applied") {
      const { tool, state, executionMs } = changed.record;
      deps.log.debug({ ...fieldsOf(record), tool, state, executionMs }, "an operation has ended");
      traceExecution(record, outcome, trace);
    }
    // Durable acknowledgement (▲14): after the write, never before.
    if (changed.kind !== "unknown") deps.acknowledge(record.logId);
    return "settled";
  };

  const copyOutcomeOf: Settlement["copyOutcomeOf"] = async ({ logId }, executedAs, signal) => {
    const processed = await deps.processShared(executedAs);
    if (signal.aborted || processed === "handed_over") return "handed_over";
    const other = await operations.find(executedAs);
    // The store lost it once more: ask the Editor again.
    const forget = ({ executedAs: _lost, ...record }: OperationRecord) => ({ record });
    const changed = await operations.change(
      logId,
      (record) => {
        if (isFinal(record.state)) return undefined;
        return other ? answeredBy(record, other) : forget(record);
      },
      fence,
    );
    if (changed.kind === "not_owner") return "handed_over";
    if (!("record" in changed) || isFinal(changed.record.state)) return "settled";
    await deps.pause(signal);
    return "try_again";
  };

  return { settle, copyOutcomeOf, markStarted: (record) => operations.change(record, started, fence) };
}
