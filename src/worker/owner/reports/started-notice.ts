/**
 * Delays for a moment the write that an operation runs. A quick tool has ended by then: its record goes from
 * dispatched to its end in one write, so the two writes do not conflict. If a crash leaves it dispatched,
 * the next owner asks the Editor about it all the same: resubmission (▲12).
 */
import type { Log } from "../../../shared/log.js";
import { callHandler } from "../../editor/editor-notices.js";

export interface StartedNotice {
  started(operationId: string): void;
  /** Something of it is about to be shown: marks it as started now if that is still held back. */
  shown(operationId: string): Promise<void>;
  ended(operationId: string): void;
  close(): void;
}

export function createStartedNotice(
  { markStarted, log }: { markStarted: (operationId: string) => Promise<unknown>; log: Log },
  options: { holdMs: number },
): StartedNotice {
  const held = new Map<string, NodeJS.Timeout>();
  /** True if it was held. */
  const release = (operationId: string): boolean => {
    clearTimeout(held.get(operationId));
    return held.delete(operationId);
  };
  return {
    ended: (operationId) => void release(operationId),
    async shown(operationId) {
      if (release(operationId)) await markStarted(operationId);
    },
    started(operationId) {
      release(operationId);
      const due = (): void => {
        held.delete(operationId);
        callHandler(log, "started", () => markStarted(operationId));
      };
      held.set(operationId, setTimeout(due, options.holdMs));
    },
    close() {
      for (const timer of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
