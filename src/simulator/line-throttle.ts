/**
 * Console lines of a running operation, at most every `intervalMs`, the last always sent. While they cannot be sent the first
 * ones are kept, and the others counted.
 */

import { head } from "../shared/shortened-text.js";
import {
  type ConsoleLine,
  LINE_LENGTH,
  LINES_IN_NOTICE,
  type LogNotice,
} from "../shared/wire/console-lines.js";
import type { Timers } from "./timers.js";
import type { LogLine } from "./world.js";

export interface LineThrottle {
  add(line: LogLine): void;
  /** Sends what is held back now, before the outcome is reported. */
  flush(): void;
  close(): void;
}

/** `send`: false if no worker takes lines at the moment. */
export function createLineThrottle(
  deps: { timers: Timers; now(): number; send(lines: Omit<LogNotice, "operationId">): boolean },
  options: { intervalMs: number },
): LineThrottle {
  let held: ConsoleLine[] = [];
  let more = 0;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;

  const send = (): void => {
    if (held.length === 0) return;
    lastSentAt = deps.now();
    if (!deps.send({ lines: held, ...(more > 0 ? { more } : {}) })) return;
    held = [];
    more = 0;
  };
  const due = (): void => {
    cancelTimer = undefined;
    send();
    if (held.length > 0) cancelTimer = deps.timers.after(options.intervalMs, due);
  };

  return {
    add({ LogType, Message }) {
      if (held.length < LINES_IN_NOTICE)
        held.push({ type: typeOf(LogType), message: head(Message, LINE_LENGTH) });
      else more += 1;
      // Later, so that lines that are written together leave together.
      cancelTimer ??= deps.timers.after(Math.max(0, lastSentAt + options.intervalMs - deps.now()), due);
    },
    flush: send,
    close: () => cancelTimer?.(),
  };
}

const typeOf = (type: LogLine["LogType"]): ConsoleLine["type"] =>
  type === "Log" ? "log" : type === "Warning" ? "warning" : "error";
