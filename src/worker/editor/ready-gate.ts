/** Holds the callers that wait for a link to be ready, but no state of the link. */

export interface ReadyGate {
  /** Waits for the next `admit`; rejects with the error of `refuse`, or with the signal's reason. */
  wait(signal?: AbortSignal): Promise<void>;
  /** Releases the present waiters. */
  admit(): void;
  refuse(error: () => Error): void;
}

export function createReadyGate(): ReadyGate {
  const waiting = new Set<{ resolve: () => void; reject: (reason: unknown) => void }>();

  return {
    wait: (signal) =>
      new Promise<void>((resolve, reject) => {
        signal?.throwIfAborted();
        const leave = (): void => {
          waiting.delete(waiter);
          signal?.removeEventListener("abort", abort);
        };
        const waiter = {
          resolve() {
            leave();
            resolve();
          },
          reject(reason: unknown) {
            leave();
            reject(reason);
          },
        };
        const abort = (): void => waiter.reject(signal?.reason);
        waiting.add(waiter);
        signal?.addEventListener("abort", abort);
      }),
    admit() {
      for (const waiter of [...waiting]) waiter.resolve();
    },
    refuse(error) {
      for (const waiter of [...waiting]) waiter.reject(error());
    },
  };
}
