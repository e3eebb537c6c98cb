/** Runs one task at a time for one client, in the order of arrival. */

export interface SerialQueue {
  /** Runs `task` once everything added before it has ended. A failing task is reported; the next one runs. */
  add(task: () => Promise<void> | void): void;
  /** Resolves when everything added so far has ended. */
  settled(): Promise<void>;
}

export function createSerialQueue(onError: (error: Error) => void): SerialQueue {
  let last: Promise<void> = Promise.resolve();
  return {
    add(task) {
      last = last.then(task).catch((error: unknown) => onError(error as Error));
    },
    settled: () => last,
  };
}
