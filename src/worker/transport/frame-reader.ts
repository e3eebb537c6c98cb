/**
 * Reads the frames of one socket in turns: however much a peer sends, others are served in between, and what
 * nobody asked for has a limited share of the time (unasked-time.ts). A frame that begins must end in time.
 */
import type { Readable } from "node:stream";
import { createFrameParser, type Frame } from "../../shared/wire/framing.js";
import type { UnaskedTime } from "./unasked-time.js";

export interface FrameReader {
  /** The connection is established. */
  begin(): void;
  /** How long nothing has arrived although this side was reading, ms. */
  silentMs(): number;
  /** The sum of all rests so far, ms: no timeout may count them against the peer. */
  restedMs(): number;
  /** What is left of the present rest, ms. */
  restLeftMs(): number;
  /** From now on frames may have this many bytes, and rests may have full length. */
  allow(maxBytes: number): void;
  /** Nothing more will arrive: takes the rest at once. */
  finish(): void;
  /** Stops reading. */
  close(): void;
}

export interface FrameReaderEvents {
  take(frame: Frame): void;
  /** Counts the answers to requests. */
  answers(): number;
  /** Called when a frame began and did not end in time. */
  stalled(): void;
}

/** ms of frames in one turn. */
const TURN_MS = 2;
/** Longest rest, ms. Time owed beyond it is added to the rest after the next bytes. */
const LONGEST_REST_MS = 10_000;
/** Longest rest before the proof, ms: an Editor waits only this long for its caller's proof. */
const STRANGERS_REST_MS = 500;

export function createFrameReader(
  { socket, unasked }: { socket: Readable; unasked: UnaskedTime },
  options: { maxBytes: number; maxValues: number; frameTimeoutMs: number; isStranger: boolean },
  events: FrameReaderEvents,
): FrameReader {
  const parser = createFrameParser(options.maxBytes, options.maxValues);
  let longestRestMs = options.isStranger ? STRANGERS_REST_MS : LONGEST_REST_MS;
  let lastByteAt = 0;
  /** Counts whole frames, so that a timeout knows whether it is still about the same one. */
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

  /** Runs `work` at the peer's expense; `then` runs right afterwards. */
  const atItsCost = (work: () => void, then: () => void): void => {
    const begun = performance.now();
    const answersBefore = events.answers();
    work();
    const spend = (): void => {
      unasked.spend(performance.now() - begun, events.answers() - answersBefore);
      then();
    };
    // The requester continues in promises: its handling of the answer counts too.
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

  /** Takes the frames of one turn; a rest may come between frames that arrived together. */
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
    // The system buffers what arrives while the socket is paused, until the peer has to wait.
    socket.pause();
    atItsCost(takeFrames, () => {
      if (isClosed) return;
      // A frame's timeout runs from its first byte: later chunks of the frame do not restart it.
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
      // Bytes that arrived during the rest are in the stream.
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
 * Decides on a timeout only after the event loop has read what already arrived: a process that was stopped or busy
 * must not blame its own delay on the peer.
 */
export function afterReading(verdict: () => void): void {
  setImmediate(verdict);
}
