/**
 * One TCP connection whose frames carry no id (length-frames.ts): one question at a time, and whatever arrives while nothing
 * was asked ends it, as does an answer that does not come in time. Never sends a question twice and never reconnects.
 */
import { connect } from "node:net";
import type { Log } from "../../shared/telemetry.js";
import { afterReading } from "./connection.js";
import { ConnectionLost, type DisconnectReason, FrameTooLarge, reasonOfSocketError } from "./disconnect.js";
import { isForeignPeer } from "./foreign-peer.js";
import { createLengthFrameParser, encodeLengthFrame, type LengthFrame } from "./length-frames.js";

/** All times in ms, all sizes in bytes of a frame's body. */
export interface FramedConnectionOptions {
  /** From connecting to the end of the line that the peer says first. */
  greetingTimeoutMs?: number;
  /** From a frame's first byte to its last. */
  frameTimeoutMs?: number;
  maxOutgoingBytes?: number;
  maxIncomingBytes?: number;
}

export interface FramedConnectionDeps {
  host: string;
  port: number;
  log: Log;
  /** Whether the peer may go on after this first line. */
  isGreeting(line: string): boolean;
}

export interface FramedConnection {
  /** Resolves once the peer has said its line; rejects ConnectionLost if it never will. */
  readonly opened: Promise<void>;
  /** Resolves once, when the socket is gone for good; never rejects. */
  readonly closed: Promise<DisconnectReason>;
  /**
   * Sends a frame and waits for the next one; several callers wait for each other. No answer within `timeoutMs` of its sending
   * ends the connection as `peer_dead`, because a late answer could be taken for another's. Rejects ConnectionLost
   * and FrameTooLarge.
   */
  ask(text: string, timeoutMs: number): Promise<string>;
  /** Whether nothing is asked and nothing waits to be. */
  isIdle(): boolean;
  /** The peer is the one that was meant: its frames may be long. */
  trust(): void;
  /** Ends the connection and its question (default reason `shutdown`); resolves when the socket is gone. */
  close(reason?: DisconnectReason): Promise<void>;
}

const MIB = 1024 * 1024;
/** As in connection.ts. */
const MAX_VALUES = 1_000_000;
const STRANGER_BYTES = 64 * 1024;

export function createFramedConnection(
  { host, port, log, isGreeting }: FramedConnectionDeps,
  options: FramedConnectionOptions = {},
): FramedConnection {
  const { greetingTimeoutMs = 5_000, frameTimeoutMs = 30_000, maxOutgoingBytes = 16 * MIB } = options;
  const maxIncomingBytes = options.maxIncomingBytes ?? 64 * MIB;
  const parser = createLengthFrameParser(STRANGER_BYTES, MAX_VALUES);
  const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });

  /** Set once, by `end`. */
  let ended: DisconnectReason | undefined;
  let connected = false;
  let question: { resolve(answer: string): void; reject(error: Error): void } | undefined;
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let frameClock: NodeJS.Timeout | undefined;
  let hasGreeted = false;
  let greeted: () => void = () => undefined;
  /** So that a timeout knows whether it is still about the same frame. */
  let framesRead = 0;

  const end = (reason: DisconnectReason, detail?: string): void => {
    if (ended) return;
    ended = reason;
    for (const clock of [greetingClock, frameClock]) clearTimeout(clock);
    log.debug({ host, port, reason, detail }, "connection to the Editor ended");
    const open = question;
    question = undefined;
    open?.reject(new ConnectionLost(reason, true));
    socket.destroy();
  };

  const greetingClock = setTimeout(() => {
    afterReading(() => {
      if (!hasGreeted) end(connected ? "frame_timeout" : "connect_timeout", "no greeting");
    });
  }, greetingTimeoutMs);

  const settle = (how: (open: NonNullable<typeof question>) => void): void => {
    const open = question;
    question = undefined;
    if (open) how(open);
    else end("malformed_frame", "an answer to no question");
  };

  const take = (frame: LengthFrame): void => {
    switch (frame.kind) {
      case "greeting":
        hasGreeted = isGreeting(frame.line);
        clearTimeout(greetingClock);
        if (hasGreeted) greeted();
        else end("malformed_frame", "another greeting");
        break;
      case "message":
        settle(({ resolve }) => resolve(frame.text));
        break;
      case "too_many_values":
        settle(({ reject }) =>
          reject(new FrameTooLarge("incoming", frame.length, maxIncomingBytes, MAX_VALUES)),
        );
        break;
      case "malformed":
        end("malformed_frame", frame.reason);
    }
  };

  const watchFrame = (): void => {
    const watched = framesRead;
    frameClock = setTimeout(() => {
      afterReading(() => {
        if (framesRead === watched) end("frame_timeout");
      });
    }, frameTimeoutMs);
  };

  socket.on("data", (chunk) => {
    parser.push(chunk);
    for (let frame = parser.next(); frame && !ended; frame = parser.next()) {
      // A frame's timeout runs from its first byte: later chunks of the frame do not restart it.
      clearTimeout(frameClock);
      frameClock = undefined;
      framesRead += 1;
      take(frame);
    }
    if (!ended && !frameClock && parser.midFrame()) watchFrame();
  });

  const opened = new Promise<void>((resolve, reject) => {
    greeted = resolve;
    socket.once("connect", () => {
      if (isForeignPeer(socket)) end("foreign_peer", "another user of this machine listens there");
      connected = true;
    });
    socket.once("close", () => reject(new ConnectionLost(ended ?? "peer_closed", false)));
  });
  opened.catch(() => {}); // A caller may await `closed` only.

  socket.on("end", () => end("peer_closed"));
  socket.on("error", (error) => end(reasonOfSocketError(error, connected), error.message));
  const closed = new Promise<DisconnectReason>((resolve) => {
    socket.once("close", () => {
      end("peer_closed");
      resolve(ended ?? "peer_closed");
    });
  });

  const askNow = async (text: string, timeoutMs: number): Promise<string> => {
    if (ended) throw new ConnectionLost(ended, false);
    const body = Buffer.from(text, "utf8");
    if (body.length > maxOutgoingBytes) throw new FrameTooLarge("outgoing", body.length, maxOutgoingBytes);
    let clock: NodeJS.Timeout | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        const own = { resolve, reject };
        question = own;
        clock = setTimeout(() => {
          afterReading(() => {
            if (question === own) end("peer_dead", "no answer");
          });
        }, timeoutMs);
        socket.write(encodeLengthFrame(body));
      });
    } finally {
      clearTimeout(clock);
    }
  };

  return {
    opened,
    closed,
    ask(text, timeoutMs) {
      waiting += 1;
      const answer = turn.then(() => askNow(text, timeoutMs));
      turn = answer
        .catch(() => undefined)
        .then(() => {
          waiting -= 1;
        });
      return answer;
    },
    isIdle: () => waiting === 0,
    trust: () => parser.allow(maxIncomingBytes),
    async close(reason = "shutdown") {
      end(reason);
      await closed;
    },
  };
}
