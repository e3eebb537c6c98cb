/** One thing at a time for one client, in the order in which things arrived. */

export interface Turns {
  /** Runs `task` once everything added before it has ended. A failing task is reported; the next one runs. */
  add(task: () => Promise<void> | void): void;
  /** Resolves when everything added so far has ended. */
  settled(): Promise<void>;
}

export function createTurns(onError: (error: Error) => void): Turns {
  let last: Promise<void> = Promise.resolve();
  return {
    add(task) {
      last = last.then(task).catch((error: unknown) => onError(error as Error));
    },
    settled: () => last,
  };
}
