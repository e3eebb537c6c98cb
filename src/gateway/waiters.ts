/** Waits for operations: woken by a message or a reconnect; a slow poll is only the safety net. */
import type { Notifier } from "../shared/store/notifier.js";

export interface Wait {
  ms: number;
  signal?: AbortSignal | undefined;
  /** Woken by every change; otherwise only by the end. */
  follows?: boolean;
}

export interface Waiters {
  /**
   * Calls `read` at once, and again whenever the operation ended (or changed, if the wait follows it), until it answers a
   * value; undefined when the time is over or the signal aborts. Never affects the operation. A failing `read` rejects the
   * wait.
   */
  until<T>(logId: string, read: () => Promise<T | undefined>, wait: Wait): Promise<T | undefined>;
  /** Ends every wait as if its time were over. */
  close(): void;
}

export function createWaiters(notifier: Notifier, options: { safetyPollMs: number }): Waiters {
  const wakers = new Map<string, Set<() => void>>();
  let closed = false;
  const wakeAll = (): void => {
    for (const set of wakers.values()) for (const wake of set) wake();
  };
  const wakeOf = (logId: string): void => {
    for (const wake of wakers.get(logId) ?? []) wake();
  };
  const stop = notifier.on("ended", wakeOf, wakeAll);

  const register = (logId: string, wake: () => void, follows: boolean): (() => void) => {
    const set = wakers.get(logId) ?? new Set();
    wakers.set(logId, set.add(wake));
    // Changes are received only from a moment after the first reading: read again then.
    const unfollow = follows
      ? notifier.on("changed", (changed) => changed === logId && wake(), wake)
      : undefined;
    return () => {
      unfollow?.();
      set.delete(wake);
      if (set.size === 0) wakers.delete(logId);
    };
  };

  return {
    async until(logId, read, { ms, signal, follows = false }) {
      const deadline = performance.now() + ms;
      let wake: () => void = () => undefined;
      // Counts messages, so that one that arrives while `read` reads is not missed.
      let heard = 0;
      const leave = register(
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
          const found = await read();
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
      wakeAll();
    },
  };
}
