/**
 * Reads the frames of one socket in turns: whatever a peer says, others of this process are served in between, and what
 * nobody asked for has a share of the time (unasked-time.ts). A frame that begins must come to its end.
 */
import type { Readable } from "node:stream";
import { createFrameParser, type Frame } from "../../shared/wire/framing.js";
import type { UnaskedTime } from "./unasked-time.js";

export interface FrameReader {
  /** The connection stands. */
  begin(): void;
  /** How long nothing has come although it would have been read, ms. */
  silentMs(): number;
  /** All rests that were begun, ms: no clock may count them against the peer. */
  restedMs(): number;
  /** What is left of the present one. */
  restLeftMs(): number;
  /** From now on its frames may be this long, bytes, and its rests as long as a rest may be. */
  allow(maxBytes: number): void;
  /** Nothing more will come: takes what is left at once. */
  finish(): void;
  /** Takes nothing more. */
  close(): void;
}

export interface FrameReaderEvents {
  take(frame: Frame): void;
  /** Counts the answers to what was asked. */
  answers(): number;
  /** A frame began and did not end in time. */
  stalled(): void;
}

/** ms of frames in one turn. */
const TURN_MS = 2;
/** ms. What is owed beyond it is rested for when the next bytes have been read. */
const LONGEST_REST_MS = 10_000;
/** ms. An Editor waits only so long for the words that prove who is calling, and a stranger's frames are short. */
const STRANGERS_REST_MS = 500;

export function createFrameReader(
  { socket, unasked }: { socket: Readable; unasked: UnaskedTime },
  options: { maxBytes: number; maxValues: number; frameTimeoutMs: number; isStranger: boolean },
  events: FrameReaderEvents,
): FrameReader {
  const parser = createFrameParser(options.maxBytes, options.maxValues);
  let longestRestMs = options.isStranger ? STRANGERS_REST_MS : LONGEST_REST_MS;
  let lastByteAt = 0;
  /** Counts whole frames, so that a clock knows whether it still watches the same one. */
  let framesRead = 0;
  let restedMs = 0;
  let restEndsAt = 0;
  let isClosed = false;
  let frameClock: NodeJS.Timeout | undefined;
  let restClock: NodeJS.Timeout | undefined;
  let nextTurn: NodeJS.Immediate | undefined;

  const watchFrame = (ms = options.frameTimeoutMs): void => {
    clearTimeout(frameClock);
    frameClock = undefined;
    if (!parser.midFrame()) return;
    const [watched, restedBefore] = [framesRead, restedMs];
    frameClock = setTimeout(() => {
      afterReading(() => {
        if (isClosed || framesRead !== watched || !parser.midFrame()) return;
        if (restedMs > restedBefore) watchFrame(restedMs - restedBefore);
        else events.stalled();
      });
    }, ms);
  };

  /** Does it at the peer's cost; `then` follows before anything else of the process does. */
  const atItsCost = (work: () => void, then: () => void): void => {
    const begun = performance.now();
    const answersBefore = events.answers();
    work();
    const spend = (): void => {
      unasked.spend(performance.now() - begun, events.answers() - answersBefore);
      then();
    };
    // Who waited for an answer goes on in promises: what it makes of the answer counts as well.
    if (events.answers() === answersBefore) spend();
    else queueMicrotask(() => process.nextTick(spend));
  };

  const rest = (): void => {
    const ms = Math.min(longestRestMs, unasked.owedMs());
    if (ms === 0) {
      socket.resume();
      return;
    }
    restedMs += ms;
    restEndsAt = performance.now() + ms;
    socket.pause();
    restClock = setTimeout(() => {
      restClock = undefined;
      lastByteAt = performance.now();
      socket.resume();
    }, ms);
  };

  /** Takes a turn's worth of the frames that have come; rests are between what came at once. */
  const read = (): void => {
    const begun = performance.now();
    const before = framesRead;
    let isOver = false;
    const takeFrames = (): void => {
      while (!isClosed && performance.now() - begun <= TURN_MS) {
        const frame = parser.next();
        isOver = !frame;
        if (!frame) return;
        framesRead += 1;
        events.take(frame);
      }
    };
    // The system keeps what comes while the socket is paused, and then the peer has to wait.
    socket.pause();
    atItsCost(takeFrames, () => {
      if (isClosed) return;
      // A frame's clock runs from its first byte: later chunks of the same frame do not wind it up again.
      if (!frameClock || framesRead !== before || !parser.midFrame()) watchFrame();
      if (isOver) rest();
      else nextTurn = setImmediate(read);
    });
  };
  socket.on("data", (chunk) => {
    if (isClosed) return;
    lastByteAt = performance.now();
    parser.push(chunk);
    read();
  });

  return {
    begin() {
      lastByteAt = performance.now();
      rest();
    },
    silentMs: () => (socket.isPaused() ? 0 : performance.now() - lastByteAt),
    restedMs: () => restedMs,
    restLeftMs: () => Math.max(0, restEndsAt - performance.now()),
    allow(maxBytes) {
      longestRestMs = LONGEST_REST_MS;
      parser.allow(maxBytes);
    },
    finish() {
      // What came while the socket rested lies in the stream.
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) parser.push(chunk as Buffer);
      const takeRest = (): void => {
        for (let frame = parser.next(); frame && !isClosed; frame = parser.next()) events.take(frame);
      };
      atItsCost(takeRest, () => undefined);
    },
    close() {
      isClosed = true;
      for (const clock of [frameClock, restClock]) clearTimeout(clock);
      clearImmediate(nextTurn);
    },
  };
}

/**
 * What a clock found is decided after the event loop has read what already arrived: a process that was stopped or busy
 * itself must not take its own delay for the peer's.
 */
export function afterReading(verdict: () => void): void {
  setImmediate(verdict);
}
