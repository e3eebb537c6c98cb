/**
 * Passes the Console lines of running operations to the store: one write at a time for each operation. However many lines an
 * Editor sends, no more than one notice of them waits here.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../../shared/log.js";
import { shortened } from "../../../shared/shortened-text.js";
import type { LineBatch } from "../../../shared/store/operations/console-lines.js";
import {
  type ConsoleLine,
  LINE_LENGTH,
  LINES_IN_NOTICE,
  type LogNotice,
} from "../../../shared/wire/console-lines.js";

export interface LogReports {
  /** Lines of an operation that does not run here are ignored. */
  take(notice: LogNotice): void;
  /** Sends what waits to the store now, before its end is written on the same connection. Does not wait for the answer. */
  flush(operationId: string): void;
}

/** Shortest time between two writes, and the pause between a failed write and the next attempt, ms. */
const REST_MS = 50;
const RETRY_MS = 250;

interface Waiting {
  lines: ConsoleLine[];
  more: number;
}

/** A batch that cannot be stored is tried again, as long as its operation runs. */
export function createLogReports(deps: {
  isOwn(operationId: string): boolean;
  add(operationId: string, batch: LineBatch): Promise<void>;
  log: Log;
}): LogReports {
  const waiting = new Map<string, Waiting>();
  const underWay = new Set<string>();

  const taken = (operationId: string): LineBatch | undefined => {
    const next = waiting.get(operationId);
    if (!next) return undefined;
    waiting.delete(operationId);
    const { lines, more } = next;
    const left = { type: "log", message: `… and ${more} more lines; get-logs has the newest` } as const;
    return { id: randomUUID(), lines: more > 0 ? [...lines, left] : lines };
  };

  const isStored = (operationId: string, batch: LineBatch): Promise<boolean> =>
    deps.add(operationId, batch).then(
      () => true,
      (error: Error) => {
        deps.log.warn({ log_id: operationId, error: error.message }, "Console lines could not be stored");
        return false;
      },
    );

  const write = async (operationId: string): Promise<void> => {
    underWay.add(operationId);
    for (let batch = taken(operationId); batch; batch = taken(operationId)) {
      const rested = delay(REST_MS, undefined, { ref: false });
      while (!(await isStored(operationId, batch)) && deps.isOwn(operationId))
        await delay(RETRY_MS, undefined, { ref: false });
      await rested;
    }
    underWay.delete(operationId);
  };

  return {
    take({ operationId, lines, more = 0 }) {
      if (!deps.isOwn(operationId)) return;
      const held = waiting.get(operationId) ?? { lines: [], more: 0 };
      const room = Math.max(0, LINES_IN_NOTICE - held.lines.length);
      for (const { type, message } of lines.slice(0, room))
        held.lines.push({ type, message: shortened(message, LINE_LENGTH) });
      held.more += more + Math.max(0, lines.length - room);
      waiting.set(operationId, held);
      if (!underWay.has(operationId)) void write(operationId);
    },

    flush(operationId) {
      const batch = taken(operationId);
      if (batch) void isStored(operationId, batch);
    },
  };
}
