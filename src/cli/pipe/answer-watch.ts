/**
 * Does the broker of a connection still answer? One that is stopped or hangs keeps its socket: without this its clients
 * would wait for it for ever. Counts its own looks instead of time, so that a machine's sleep or load is not the broker's.
 */
import type { Socket } from "node:net";
import { writeFrame } from "./socket-line.js";

export interface AnswerWatch {
  /** Call it with whatever the broker sends. */
  heard(): void;
  /** Call it when the client begins to wait for the broker: it watches until `isExpecting` says no. */
  expectAnswer(): void;
  close(): void;
}

/** Between two looks, ms. */
const LOOK_MS = 3_000;
/** A broker that left so many pings in a row unanswered counts as hung. */
const MOST_SILENT = 3;

export interface AnswerWatchOptions {
  /** Does the client still wait for the broker? */
  isExpecting(): boolean;
  /** Called once it has not answered for long. */
  silent(): void;
  lookMs?: number | undefined;
}

/** Each look asks the broker for a sign of life. */
export function createAnswerWatch(
  socket: Socket,
  { isExpecting, silent, lookMs = LOOK_MS }: AnswerWatchOptions,
): AnswerWatch {
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    looks = 0;
  };
  const look = (): void => {
    if (!isExpecting()) stop();
    else if (looks === MOST_SILENT) {
      stop();
      silent();
    } else {
      looks += 1;
      writeFrame(socket, { kind: "ping" });
    }
  };

  return {
    heard() {
      looks = 0;
    },
    expectAnswer() {
      timer ??= setInterval(look, lookMs);
    },
    close: stop,
  };
}
