/** Waits for operations: woken by a message or a reconnect; a slow poll is only the safety net. */
import { createBoundedMemory } from "../shared/bounded-memory.js";
import type { Notifier } from "../shared/store/notifier.js";
import type { EndedHere } from "../shared/store/same-process/ended-here.js";

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
  /**
   * The caller is about to create this operation: its first `until` need not read at once, unless a message about it, or a
   * gap between messages, comes before.
   */
  expect(logId: string): void;
  /** Ends every wait as if its time were over. */
  close(): void;
}

const EXPECTED_KEPT = 1_000;

export function createWaiters(
  notifier: Notifier,
  endedHere: Pick<EndedHere, "on">,
  options: { safetyPollMs: number },
): Waiters {
  const wakers = new Map<string, Set<() => void>>();
  /** Expected operations of which nothing was heard yet. */
  let expected = createBoundedMemory<true>(EXPECTED_KEPT);
  let closed = false;
  const wakeAll = (): void => {
    expected = createBoundedMemory(EXPECTED_KEPT);
    for (const set of wakers.values()) for (const wake of set) wake();
  };
  const wakeOf = (logId: string): void => {
    expected.delete(logId);
    for (const wake of wakers.get(logId) ?? []) wake();
  };
  const stops = [notifier.on("ended", wakeOf, wakeAll), endedHere.on(wakeOf)];

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
      let isToRead = follows || !expected.get(logId);
      expected.delete(logId);
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
          const found = isToRead ? await read() : undefined;
          isToRead = true;
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

    expect: (logId) => expected.set(logId, true),

    close() {
      closed = true;
      for (const stop of stops) stop();
      wakeAll();
    },
  };
}
