/** The reports to the store about an operation while it runs. */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { progressCounts } from "../../../shared/counters.js";
import type { Log } from "../../../shared/log.js";
import { shortened } from "../../../shared/printable.js";
import type { LineBatch } from "../../../shared/store/operations/console-lines.js";
import type { Store } from "../../../shared/store/store.js";
import {
  type ConsoleLine,
  LINE_LENGTH,
  LINES_IN_NOTICE,
  type LogNotice,
} from "../../../shared/wire/console-lines.js";
import { callHandler } from "../../editor/editor-calls.js";
import { started } from "../../execution/outcome.js";
import type { UnderWay } from "../owned-operations.js";
import { createProgressReports } from "./progress-reports.js";

// Passes the Console lines of running operations to the store: one write at a time for each operation. However many lines an
// Editor sends, no more than one notice of them waits here.

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

// Delays for a moment the write that an operation runs. A quick tool has ended by then: its record goes from
// dispatched to its end in one write, so the two writes do not conflict. If a crash leaves it dispatched,
// the next owner asks the Editor about it all the same: resubmission (▲12).

export interface StartedNotice {
  started(operationId: string): void;
  /** Something of it is about to be shown: marks it as started now if that is still held back. */
  shown(operationId: string): Promise<void>;
  ended(operationId: string): void;
  close(): void;
}

export function createStartedNotice(
  { markStarted, log }: { markStarted: (operationId: string) => Promise<unknown>; log: Log },
  options: { holdMs: number },
): StartedNotice {
  const held = new Map<string, NodeJS.Timeout>();
  /** True if it was held. */
  const release = (operationId: string): boolean => {
    clearTimeout(held.get(operationId));
    return held.delete(operationId);
  };
  return {
    ended: (operationId) => void release(operationId),
    async shown(operationId) {
      if (release(operationId)) await markStarted(operationId);
    },
    started(operationId) {
      release(operationId);
      const due = (): void => {
        held.delete(operationId);
        callHandler(log, "started", () => markStarted(operationId));
      };
      held.set(operationId, setTimeout(due, options.holdMs));
    },
    close() {
      for (const timer of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}

/** About the time of one Unity frame: a reader of the record notices no difference. */
const SHOW_RUNNING_MS = 20;

export function createReports({
  store: { operations, counters },
  underWay,
  fence,
  log,
}: {
  store: Pick<Store, "operations" | "counters">;
  underWay: UnderWay;
  /** The fence (▲11) under which they are written. */
  fence: string;
  log: Log;
}) {
  const { isOwn } = underWay;
  const startedNotice = createStartedNotice(
    { markStarted: (logId) => operations.change(logId, started, fence), log },
    { holdMs: SHOW_RUNNING_MS },
  );
  const reportProgress = createProgressReports({
    isOwn,
    async report(logId, live) {
      await startedNotice.shown(logId);
      await operations.report(logId, live);
    },
    written: (received) => counters.add(progressCounts(received)),
    log,
  });
  const logReports = createLogReports({ isOwn, add: operations.addLines, log });
  return { startedNotice, reportProgress, logReports };
}
