/**
 * Holds the news that an operation runs back for a moment. A quick tool has ended by then: its record goes from
 * dispatched to its end in one write, and the two writes do not meet. Nothing is decided on `running`: what a crash
 * leaves as dispatched is asked of the Editor just the same (▲12).
 */
import type { Log } from "../shared/log.js";
import { callHandler } from "./editor-notices.js";

export interface StartedNews {
  started(operationId: string): void;
  /** Something is to be shown of it: tells now what is still held back. */
  shown(operationId: string): Promise<void>;
  ended(operationId: string): void;
  close(): void;
}

export function createStartedNews(
  { tell, log }: { tell: (operationId: string) => Promise<void>; log: Log },
  options: { holdMs: number },
): StartedNews {
  const held = new Map<string, NodeJS.Timeout>();
  /** True if it was held. */
  const release = (operationId: string): boolean => {
    clearTimeout(held.get(operationId));
    return held.delete(operationId);
  };
  return {
    ended: (operationId) => void release(operationId),
    async shown(operationId) {
      if (release(operationId)) await tell(operationId);
    },
    started(operationId) {
      release(operationId);
      const due = (): void => {
        held.delete(operationId);
        callHandler(log, "started", () => tell(operationId));
      };
      held.set(operationId, setTimeout(due, options.holdMs));
    },
    close() {
      for (const timer of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
