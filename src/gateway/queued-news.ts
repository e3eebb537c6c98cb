/**
 * Holds the news that an operation's job was added and read back for a moment. A lane that is free has claimed it by
 * then, from `accepted` too, and the two writes do not meet. What a crash leaves as accepted gets its job once more,
 * which is harmless (▲1).
 */
import type { Log } from "../shared/log.js";
import type { News } from "../shared/redis/news.js";

export interface QueuedNews {
  added(logId: string): void;
  close(): void;
}

/** Unity draws a frame in about this time: who looks at a record sees no difference. */
const HOLD_MS = 20;

export function createQueuedNews(
  { news, tell, log }: { news: News; tell: (logId: string) => Promise<unknown>; log: Log },
  options: { holdMs: number } = { holdMs: HOLD_MS },
): QueuedNews {
  const held = new Map<string, NodeJS.Timeout>();
  const release = (logId: string): void => {
    clearTimeout(held.get(logId));
    held.delete(logId);
  };
  const stop = news.on("ended", release);
  return {
    added(logId) {
      release(logId);
      const due = (): void => {
        held.delete(logId);
        tell(logId).catch((error: Error) =>
          log.debug({ logId, error: error.message }, "not shown as queued; the sweeper does it"),
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
