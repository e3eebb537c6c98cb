/**
 * Reads the frames of one socket in turns: whatever a peer says, others of this process are served in between, and what
 * nobody asked for has a share of the time (unasked-time.ts). A frame that begins must come to its end.
 */
import type { Readable } from "node:stream";
import { createFrameParser, type Frame } from "../shared/framing.js";
import type { Log } from "../shared/log.js";
import { createUnaskedTime } from "./unasked-time.js";

export interface FrameReader {
  /** The connection stands. */
  begin(): void;
  /** How long nothing has come, ms. */
  silentMs(): number;
  /** The largest frame from now on, bytes. */
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

export function createFrameReader(
  { socket, log }: { socket: Readable; log: Log },
  options: { maxBytes: number; frameTimeoutMs: number },
  events: FrameReaderEvents,
): FrameReader {
  const parser = createFrameParser(options.maxBytes);
  const unasked = createUnaskedTime(log);
  let lastByteAt = 0;
  /** Counts whole frames, so that a clock knows whether it still watches the same one. */
  let framesRead = 0;
  let isClosed = false;
  /** Of what came at once: how long it took, and whether anything of it was asked for. */
  let [spentMs, wasAnswered] = [0, false];
  let frameClock: NodeJS.Timeout | undefined;
  let restClock: NodeJS.Timeout | undefined;
  let nextTurn: NodeJS.Immediate | undefined;

  const watchFrame = (): void => {
    clearTimeout(frameClock);
    frameClock = undefined;
    if (!parser.midFrame()) return;
    const watched = framesRead;
    frameClock = setTimeout(() => {
      afterReading(() => {
        if (!isClosed && framesRead === watched && parser.midFrame()) events.stalled();
      });
    }, options.frameTimeoutMs);
  };

  /** Takes a turn's worth of the frames that have come; rests are between what came at once. */
  const read = (): void => {
    const begun = performance.now();
    const before = framesRead;
    const answersBefore = events.answers();
    let frame = parser.next();
    while (frame) {
      framesRead += 1;
      events.take(frame);
      if (isClosed) return;
      if (performance.now() - begun > TURN_MS) break;
      frame = parser.next();
    }
    // A frame's clock runs from its first byte: later chunks of the same frame do not wind it up again.
    if (!frameClock || framesRead !== before || !parser.midFrame()) watchFrame();
    spentMs += performance.now() - begun;
    wasAnswered ||= events.answers() !== answersBefore;
    // The system keeps what comes while the socket is paused, and then the peer has to wait.
    if (frame) {
      socket.pause();
      nextTurn = setImmediate(read);
      return;
    }
    const restMs = wasAnswered ? 0 : unasked.took(spentMs);
    [spentMs, wasAnswered] = [0, false];
    if (restMs === 0) {
      socket.resume();
      return;
    }
    socket.pause();
    restClock = setTimeout(() => {
      lastByteAt = performance.now();
      socket.resume();
    }, restMs);
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
    },
    silentMs: () => performance.now() - lastByteAt,
    allow: parser.allow,
    finish() {
      // What came while the socket rested lies in the stream.
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) parser.push(chunk as Buffer);
      for (let frame = parser.next(); frame && !isClosed; frame = parser.next()) events.take(frame);
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
