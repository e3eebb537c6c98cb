/**
 * What an Editor tells of running operations, on its way into the store: the last word of each operation, one write of it
 * at a time. However fast an Editor talks, no more than that waits here.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../shared/log.js";
import type { Live } from "../shared/redis/attachments.js";
import { shortened } from "../shared/shortened-text.js";
import type { Progress } from "../shared/wire.js";

/** Characters; a message is a line on a screen. */
const MESSAGE_LENGTH = 500;
/** From one write of an operation's progress to the next at least. */
const REST_MS = 50;

/** `isOwn`: an operation that runs here; what is told of others is not believed. */
export function createProgressReports(deps: {
  isOwn(operationId: string): boolean;
  report(operationId: string, live: Live): Promise<void>;
  log: Log;
}): (progress: Progress) => void {
  const waiting = new Map<string, Progress>();
  const underWay = new Set<string>();

  const write = async (operationId: string): Promise<void> => {
    underWay.add(operationId);
    try {
      for (let next = waiting.get(operationId); next; next = waiting.get(operationId)) {
        waiting.delete(operationId);
        const rested = delay(REST_MS, undefined, { ref: false });
        await deps.report(operationId, liveOf(next));
        await rested;
      }
    } catch (error) {
      deps.log.warn({ operationId, error: (error as Error).message }, "progress could not be stored");
    } finally {
      underWay.delete(operationId);
    }
  };

  return (progress) => {
    const { operationId } = progress;
    if (!deps.isOwn(operationId)) return;
    // A report without a partial result takes none back.
    const { partialResult = waiting.get(operationId)?.partialResult } = progress;
    waiting.set(operationId, { ...progress, partialResult });
    if (!underWay.has(operationId)) void write(operationId);
  };
}

function liveOf({ seq, progress, total, message, partialResult }: Progress): Live {
  return {
    progress: {
      seq,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: shortened(message, MESSAGE_LENGTH) }),
    },
    partialResult,
  };
}
