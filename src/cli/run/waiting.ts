/** Waits for an operation, over as many waits and connections as it takes. */
import type { Answer } from "../../shared/operation/answer.js";
import type { ProgressNote } from "../client/broker-client.js";
import { BrokerAway, type BrokerSession } from "./broker-session.js";
import type { ConsoleLog } from "./console-log.js";

export interface WaitOptions {
  /** When the wait ends, by performance.now(). */
  until: number;
  /** Ends the wait; the operation goes on. */
  signal: AbortSignal;
  /** Every answer, the last one too. */
  onAnswer(answer: Answer): void;
  onProgress?: ((note: ProgressNote) => void) | undefined;
  /** Takes the Console's lines, before the answer is handed on. */
  log?: ConsoleLog | undefined;
}

export type Waited =
  | { kind: "answered"; answer: Answer }
  | { kind: "interrupted" }
  /** The broker does not say any more how it is. */
  | { kind: "away"; reason: string };

/** One wait, s: short at first, so that a person sees soon what happens. Every answer may have new partial results. */
const STEPS_S = [1, 2, 3, 5];

/** The longest wait while the Console talks, s. */
const TALKING_S = 1;

/** How much later than its end its answer may come, ms. */
const LATE_MS = 10_000;

export async function waitForEnd(
  session: BrokerSession,
  logId: string,
  options: WaitOptions,
): Promise<Waited> {
  const { until, signal, onAnswer, onProgress, log } = options;
  try {
    for (let round = 0; ; round += 1) {
      const left = Math.max(0, (until - performance.now()) / 1000);
      const longest = STEPS_S[Math.min(round, STEPS_S.length - 1)] ?? 1;
      const step = log?.isTalking() ? Math.min(longest, TALKING_S) : longest;
      const timeout = log?.hasMore() ? 0 : Math.min(left, step);
      const wait = { log_id: logId, wait: timeout > 0, timeout };
      const asking = {
        signal,
        until,
        onProgress,
        limitMs: timeout * 1000 + LATE_MS,
        ...(log ? { meta: log.question(), onMeta: log.take } : {}),
      };
      const answer = await session.call("get_operation_result", wait, asking);
      // A refusal says nothing about the operation.
      if (answer.status === "error" && answer.state === undefined)
        return { kind: "away", reason: answer.message };
      onAnswer(answer);
      // The end is answered at once, as often as it takes to read all lines before it.
      if (log?.hasMore() && answer.status !== "running") continue;
      if (answer.status !== "running" || left <= step) return { kind: "answered", answer };
    }
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    if (error instanceof BrokerAway) return { kind: "away", reason: error.message };
    throw error;
  }
}
