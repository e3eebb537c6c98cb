/** Handles the newest of values that may come faster than they can be handled: one at a time, and one waits. */
import type { Log } from "../shared/log.js";

/** Never rejects: what `handle` rejects with is logged. */
export function latestOnly<T>(
  log: Log,
  event: string,
  handle: (value: T) => Promise<void>,
): (value: T) => void {
  let waiting: { value: T } | undefined;
  let isBusy = false;

  const work = async (): Promise<void> => {
    isBusy = true;
    while (waiting) {
      const { value } = waiting;
      waiting = undefined;
      try {
        await handle(value);
      } catch (error) {
        log.warn({ event, err: error }, "a handler of the Editor's events failed");
      }
    }
    isBusy = false;
  };

  return (value) => {
    waiting = { value };
    if (!isBusy) void work();
  };
}
