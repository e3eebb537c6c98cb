/**
 * Delays the write `queued` (the job was added and read back) for a moment. A free lane has claimed the operation by then,
 * directly from `accepted`, so the two writes do not conflict. An operation that a crash leaves as accepted gets its job
 * again, which is harmless (▲1).
 */
import type { Log } from "../shared/log.js";
import type { Notifier } from "../shared/store/notifier.js";

export interface QueuedNotice {
  added(logId: string): void;
  close(): void;
}

/** About the time of one Unity frame: a reader of the record notices no difference. */
const HOLD_MS = 20;

export function createQueuedNotice(
  { notifier, tell, log }: { notifier: Notifier; tell: (logId: string) => Promise<unknown>; log: Log },
  options: { holdMs: number } = { holdMs: HOLD_MS },
): QueuedNotice {
  const held = new Map<string, NodeJS.Timeout>();
  const release = (logId: string): void => {
    clearTimeout(held.get(logId));
    held.delete(logId);
  };
  const stop = notifier.on("ended", release);
  return {
    added(logId) {
      release(logId);
      const due = (): void => {
        held.delete(logId);
        tell(logId).catch((error: Error) =>
          log.debug(
            { logId, error: error.message },
            "could not mark the operation as queued; the janitor will",
          ),
        );
      };
      held.set(logId, setTimeout(due, options.holdMs));
    },
    close() {
      stop();
      for (const timer of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
