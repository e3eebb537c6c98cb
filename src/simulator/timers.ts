/** Timers that are cancelled together: close() must leave none behind. */
export interface Timers {
  /** Runs `action` once after `ms`, with 0 in the next turn of the event loop; the answer cancels it. */
  after(ms: number, action: () => void): () => void;
  every(ms: number, action: () => void): () => void;
  /** Runs `action` when the timers are closed, or at once if they are: for waits on a timer. */
  onClose(action: () => void): void;
  close(): void;
}

export function createTimers(): Timers {
  const cancels = new Set<() => void>();
  const closings = new Set<() => void>();
  let closed = false;
  return {
    after(ms, action) {
      if (closed) return () => {};
      const due = (): void => {
        cancels.delete(cancel);
        action();
      };
      // setTimeout turns 0 into 1 ms.
      const timer = ms > 0 ? setTimeout(due, ms) : undefined;
      const turn = ms > 0 ? undefined : setImmediate(due);
      const cancel = (): void => {
        clearTimeout(timer);
        clearImmediate(turn);
        cancels.delete(cancel);
      };
      cancels.add(cancel);
      return cancel;
    },
    every(ms, action) {
      if (closed) return () => {};
      const timer = setInterval(action, ms);
      const cancel = (): void => {
        clearInterval(timer);
        cancels.delete(cancel);
      };
      cancels.add(cancel);
      return cancel;
    },
    onClose(action) {
      if (closed) action();
      else closings.add(action);
    },
    close() {
      closed = true;
      for (const cancel of [...cancels]) cancel();
      for (const action of closings) action();
    },
  };
}
