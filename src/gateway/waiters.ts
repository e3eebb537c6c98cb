/** Waits for operations: woken by a message, with a slow look as the safety net only. */
import type { News } from "../shared/redis/news.js";

export interface Wait {
  ms: number;
  signal?: AbortSignal | undefined;
  /** Woken by every change; else by the end only. */
  follows?: boolean;
}

export interface Waiters {
  /**
   * Calls `look` now and again whenever the operation ended, or changed where the wait follows it, until it answers
   * something; undefined when the time is over or the signal aborts. Never touches the operation. A failing `look`
   * rejects the wait.
   */
  until<T>(logId: string, look: () => Promise<T | undefined>, wait: Wait): Promise<T | undefined>;
  /** Ends every wait as if its time were over. */
  close(): void;
}

export function createWaiters(news: News, options: { safetyPollMs: number }): Waiters {
  const wakers = new Map<string, Set<() => void>>();
  let closed = false;
  const stop = news.on("ended", (logId) => {
    for (const wake of wakers.get(logId) ?? []) wake();
  });

  const join = (logId: string, wake: () => void, follows: boolean): (() => void) => {
    const set = wakers.get(logId) ?? new Set();
    wakers.set(logId, set.add(wake));
    // Changes are heard from a moment after the first look: then it looks once more.
    const unfollow = follows ? news.on("changed", (changed) => changed === logId && wake(), wake) : undefined;
    return () => {
      unfollow?.();
      set.delete(wake);
      if (set.size === 0) wakers.delete(logId);
    };
  };

  return {
    async until(logId, look, { ms, signal, follows = false }) {
      const deadline = performance.now() + ms;
      let wake: () => void = () => undefined;
      // Counts messages, so that one that comes while `look` reads is not slept over.
      let heard = 0;
      const leave = join(
        logId,
        () => {
          heard += 1;
          wake();
        },
        follows,
      );
      try {
        for (;;) {
          const seen = heard;
          const found = await look();
          if (found !== undefined) return found;
          const left = deadline - performance.now();
          if (left <= 0 || signal?.aborted || closed) return undefined;
          if (heard !== seen) continue;
          await new Promise<void>((resolve) => {
            const timer = setTimeout(() => done(), Math.min(left, options.safetyPollMs));
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
