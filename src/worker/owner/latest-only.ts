/** Handles only the newest of values that may arrive faster than they can be handled: one at a time, and one waits. */
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../shared/log.js";

/** `restMs`: shortest time between the beginnings of two. A rejection of `handle` is logged. */
export function latestOnly<T>(
  { log, event, restMs }: { log: Log; event: string; restMs: number },
  handle: (value: T) => Promise<void>,
): (value: T) => void {
  let waiting: { value: T } | undefined;
  let isBusy = false;

  const work = async (): Promise<void> => {
    isBusy = true;
    while (waiting) {
      const { value } = waiting;
      waiting = undefined;
      const rested = delay(restMs, undefined, { ref: false });
      try {
        await handle(value);
      } catch (error) {
        log.warn({ event, err: error }, "a handler of the Editor's events failed");
      }
      await rested;
    }
    isBusy = false;
  };

  return (value) => {
    waiting = { value };
    if (!isBusy) void work();
  };
}
