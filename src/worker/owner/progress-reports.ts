/**
 * Passes an Editor's reports about running operations to the store: the last report of each operation, one write
 * at a time. However many reports an Editor sends, no more than that waits here.
 */
import { setTimeout as delay } from "node:timers/promises";
import { shortened } from "../../shared/printable.js";
import type { Live } from "../../shared/store/operations/operation-store.js";
import type { Log } from "../../shared/telemetry.js";
import type { Progress } from "../../shared/wire/wire.js";

/** Most characters: a message is a line on a screen. */
const MESSAGE_LENGTH = 500;
/** Shortest time between two writes of an operation's progress. */
const REST_MS = 50;
/** Pause between a failed write and the next attempt. */
const RETRY_MS = 250;

/**
 * `isOwn`: does the operation run here? Reports about others are ignored. A report that cannot be stored is tried
 * again, unless a newer one has arrived, as long as its operation runs: it may be the last one for a long time.
 */
export function createProgressReports(deps: {
  isOwn(operationId: string): boolean;
  report(operationId: string, live: Live): Promise<void>;
  /** A report was written: the last of those received since the one before. */
  written?(received: number): void;
  log: Log;
}): (progress: Progress) => void {
  const waiting = new Map<string, Progress>();
  let received = 0;
  const underWay = new Set<string>();

  const put = (older: Progress | undefined, newer: Progress): void => {
    // A report without a partial result does not remove an earlier one.
    const { partialResult = older?.partialResult } = newer;
    waiting.set(newer.operationId, { ...newer, partialResult });
  };

  const isStored = (report: Progress): Promise<boolean> =>
    deps.report(report.operationId, liveOf(report)).then(
      () => {
        deps.written?.(received);
        received = 0;
        return true;
      },
      (error: Error) => {
        deps.log.warn({ log_id: report.operationId, error: error.message }, "progress could not be stored");
        return false;
      },
    );

  const write = async (operationId: string): Promise<void> => {
    underWay.add(operationId);
    for (let next = waiting.get(operationId); next; next = waiting.get(operationId)) {
      waiting.delete(operationId);
      const rested = delay(REST_MS, undefined, { ref: false });
      if (await isStored(next)) await rested;
      else {
        await delay(RETRY_MS, undefined, { ref: false });
        if (deps.isOwn(operationId)) put(next, waiting.get(operationId) ?? next);
      }
    }
    underWay.delete(operationId);
  };

  return (progress) => {
    const { operationId } = progress;
    if (!deps.isOwn(operationId)) return;
    received += 1;
    put(waiting.get(operationId), progress);
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
