/** What the Console says while a call waits, as log messages to its client: each line once, from the level that it asked for. */
import { createBoundedMemory } from "../../../shared/bounded-memory.js";
import type { LinesRead } from "../../../shared/store/operations/console-lines.js";
import type { Log } from "../../../shared/telemetry.js";
import type { ConsoleLine } from "../../../shared/wire/console-lines.js";

/** The protocol's levels, by severity. */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof LEVELS)[number];

export const isLogLevel = (level: unknown): level is LogLevel =>
  (LEVELS as readonly unknown[]).includes(level);

const LEVEL_OF: Readonly<Record<ConsoleLine["type"], LogLevel>> = {
  log: "info",
  warning: "warning",
  error: "error",
};

/** The parameters of `notifications/message`. */
export interface ConsoleMessage {
  level: LogLevel;
  logger: string;
  data: string;
}

export interface ConsoleMessages {
  /**
   * Sends the operation's lines that this client was not sent yet, until the returned function is called: it resolves when the
   * last ones were sent. A line that cannot be read or sent is lost; nothing waits for it.
   */
  follow(
    logId: string,
    least: LogLevel,
    send: (message: ConsoleMessage) => Promise<void>,
  ): () => Promise<void>;
}

/** Time between two readings, ms: nobody is told of new lines. */
const EVERY_MS = 250;
/** Operations whose place is remembered, so that a later wait goes on there. */
const REMEMBERED = 100;

/** Of one client. `read`: the operation's lines after this one. */
export function createConsoleMessages(deps: {
  read(logId: string, after: number): Promise<LinesRead | undefined>;
  log: Log;
}): ConsoleMessages {
  const told = createBoundedMemory<number>(REMEMBERED);
  return {
    follow(logId, least, send) {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;

      const tell = async (): Promise<void> => {
        for (;;) {
          const after = told.get(logId) ?? 0;
          const read = await deps.read(logId, after);
          if (!read || read.next === after) return;
          told.set(logId, read.next);
          for (const message of messagesOf(read, least)) await send(message);
          if (!read.more) return;
        }
      };
      const tellAll = (): Promise<void> =>
        tell().catch((error: Error) =>
          deps.log.debug({ log_id: logId, error: error.message }, "Console lines not sent"),
        );
      const again = async (): Promise<void> => {
        await tellAll();
        if (!isOver) timer = setTimeout(begin, EVERY_MS);
      };
      let telling = Promise.resolve();
      const begin = (): void => {
        telling = again();
      };
      timer = setTimeout(begin, EVERY_MS);
      return async () => {
        isOver = true;
        clearTimeout(timer);
        await telling;
        await tellAll();
      };
    },
  };
}

function messagesOf({ lines, missed }: LinesRead, least: LogLevel): ConsoleMessage[] {
  const logger = "Unity Console";
  const left: ConsoleLine[] = missed
    ? [{ type: "log", message: `… ${missed} earlier lines were not kept` }]
    : [];
  return [...left, ...lines]
    .map(({ type, message }) => ({ level: LEVEL_OF[type], logger, data: message }))
    .filter(({ level }) => LEVELS.indexOf(level) >= LEVELS.indexOf(least));
}
