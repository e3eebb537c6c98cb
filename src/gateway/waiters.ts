/** Waits for operations: woken by a message, with a slow look as the safety net only. */
import type { News } from "../shared/redis/news.js";

export interface Waiters {
  /**
   * Calls `look` now and again whenever the operation changed, until it answers something; undefined when the time
   * is over or the signal aborts. Never touches the operation. A failing `look` rejects the wait.
   */
  until<T>(
    logId: string,
    look: () => Promise<T | undefined>,
    wait: { ms: number; signal?: AbortSignal | undefined },
  ): Promise<T | undefined>;
  /** Ends every wait as if its time were over. */
  close(): void;
}

export function createWaiters(news: News, options: { safetyPollMs: number }): Waiters {
  const wakers = new Map<string, Set<() => void>>();
  let closed = false;
  const stop = news.on("changed", (logId) => {
    for (const wake of wakers.get(logId) ?? []) wake();
  });

  const join = (logId: string, wake: () => void): (() => void) => {
    const set = wakers.get(logId) ?? new Set();
    wakers.set(logId, set.add(wake));
    return () => {
      set.delete(wake);
      if (set.size === 0) wakers.delete(logId);
    };
  };

  return {
    async until(logId, look, { ms, signal }) {
      const deadline = performance.now() + ms;
      let wake: () => void = () => undefined;
      // Counts messages, so that one that comes while `look` reads is not slept over.
      let news = 0;
      const leave = join(logId, () => {
        news += 1;
        wake();
      });
      try {
        for (;;) {
          const seen = news;
          const found = await look();
          if (found !== undefined) return found;
          const left = deadline - performance.now();
          if (left <= 0 || signal?.aborted || closed) return undefined;
          if (news !== seen) continue;
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.min(left, options.safetyPollMs));
            const done = (): void => {
              clearTimeout(timer);
              signal?.removeEventListener("abort", done);
              resolve();
            };
            wake = done;
            signal?.addEventListener("abort", done, { once: true });
          });
        }
      } finally {
        leave();
      }
    },

    close() {
      closed = true;
      stop();
      for (const set of wakers.values()) for (const wake of set) wake();
    },
  };
}
