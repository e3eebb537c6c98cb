/**
 * One TCP connection to an Editor: frames and JSON-RPC over a socket, and four timeouts (connect, frame, request, heartbeat).
 * Knows no method of the protocol and never reconnects.
 */
import { connect } from "node:net";
import type { Readable } from "node:stream";
import type { Log } from "../../shared/telemetry.js";
import { addressOf } from "../../shared/wire/editor-proof.js";
import {
  createDialogue,
  createFrameParser,
  encodeFrame,
  type Frame,
  parseRpc,
  RPC_PARSE_ERROR,
  rpcNotification,
  rpcRequest,
  rpcUnanswered,
} from "../../shared/wire/rpc.js";
import { ConnectionLost, type DisconnectReason, FrameTooLarge, reasonOfSocketError } from "./disconnect.js";
import { isForeignPeer } from "./foreign-peer.js";

// Reads the frames of one socket in turns: however much a peer sends, others are served in between, and what
// nobody asked for has a limited share of the time. A frame that begins must end in time.

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

// Makes the frame of a message to the Editor.

/** Throws FrameTooLarge if its body has more than `most` bytes. */
function outgoing(text: string, most: number): Buffer {
  const length = Buffer.byteLength(text);
  if (length > most) throw new FrameTooLarge("outgoing", length, most);
  return encodeFrame(text);
}

// Limits how much of the process's time a peer may take with unrequested messages. A peer that sends without end is read
// more slowly, so that other Editors are served. A requested answer costs nothing, as long as handling it is
// as little work as for an ordinary one.

/** The burst, ms: so much may be taken at once. */
const BURST_MS = 100;
/** The refill: ms of that for each ms that passes. */
const SHARE = 0.1;
/** ms that handling one answer may take. */
const ANSWER_MS = 50;
/** Most ms that count: anything longer means that this process was stopped meanwhile. */
const MOST_AT_ONCE_MS = 5_000;

interface UnaskedTime {
  /** Records the ms that were spent, and the number of answers among the messages. */
  spend(ms: number, answers: number): void;
  /** For how many ms to read nothing more; 0 within the peer's share. */
  owedMs(): number;
}

/** The account of one Editor over all its connections. */
export function createUnaskedTime(log: Log, now: () => number = () => performance.now()): UnaskedTime {
  let credit = BURST_MS;
  let countedAt = now();
  const earn = (): void => {
    const passed = now() - countedAt;
    credit = Math.min(BURST_MS, credit + passed * SHARE);
    countedAt += passed;
  };
  return {
    spend(ms, answers) {
      earn();
      credit -= Math.min(MOST_AT_ONCE_MS, Math.max(0, ms - answers * ANSWER_MS));
    },
    owedMs() {
      earn();
      if (credit >= 0) return 0;
      const owedMs = Math.ceil(-credit / SHARE);
      log.warn({ owedMs }, "the peer sends too much that was not requested; it is read more slowly");
      return owedMs;
    },
  };
}

/** All times in ms, all sizes in bytes of a frame's body. */
export interface ConnectionOptions {
  /** From a frame's first byte to its last, skipped frames included. */
  frameTimeoutMs?: number;
  /** For requests without a timeout of their own. */
  requestTimeoutMs?: number;
  maxOutgoingBytes?: number;
  maxIncomingBytes?: number;
  /** Most JSON values in one frame: parsing blocks the process. */
  maxIncomingValues?: number;
  /** Until `trust()`, its notifications are dropped and its frames must be short. */
  isStranger?: boolean;
}

export interface ConnectionDeps {
  host: string;
  port: number;
  log: Log;
  /** The time account of this Editor, if it has had connections before; else a new one. */
  unasked?: UnaskedTime;
  /** Called in wire order, with the length of the message; a throw is logged and ends nothing. */
  onNotification(method: string, params: unknown, characters: number): void;
}

export interface RequestOptions {
  timeoutMs?: number | "never";
  guard?: object | undefined;
}

export interface Connection {
  /** Resolves once the TCP connection is established; rejects ConnectionLost if it never will be. */
  readonly opened: Promise<void>;
  /** Resolves once, when the socket is gone for good; never rejects. */
  readonly closed: Promise<DisconnectReason>;
  /**
   * Sends a request and waits for the answer with the same id; many at once, answered in any order, never sent twice.
   * Rejects RpcFailure (the peer refused), FrameTooLarge, or ConnectionLost. For requests that the protocol answers at
   * once: no answer within `timeoutMs` ends the connection as `peer_dead`; `"never"` waits as long as
   * the connection lasts. `guard` travels beside the parameters (src/shared/wire/rpc.ts).
   */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** Sends a notification; it is lost silently if the connection is gone. Throws FrameTooLarge. */
  notify(method: string, params: unknown): void;
  /** From now on `timeoutMs` without any byte ends the connection as `heartbeat_lost`. */
  expectBytesEvery(timeoutMs: number): void;
  /** The peer has proven to be the expected Editor. */
  trust(): void;
  /** `host:port` of the far end as this machine reached it; only once `opened` has resolved. */
  remoteAddress(): string;
  /** Ends the connection and its open requests (default reason `shutdown`); resolves when the socket is gone. */
  close(reason?: DisconnectReason): Promise<void>;
}

const MIB = 1024 * 1024;
/** Half a second of parsing if they are chosen to be slow (docs/guide/security.md). */
const MAX_VALUES = 1_000_000;
/** Before its proof a peer needs no longer frames. */
const STRANGER_BYTES = 16 * 1024;
const CONNECT_TIMEOUT_MS = 3_000;
/** ms of silence before the system probes an idle connection. */
const KEEPALIVE_MS = 10_000;
/** Longest heartbeat timeout, ms, whatever interval a peer names. */
const LONGEST_SILENCE = 600_000;

export function createConnection(deps: ConnectionDeps, options: ConnectionOptions = {}): Connection {
  const { host, port, log, onNotification } = deps;
  const frameTimeoutMs = options.frameTimeoutMs ?? 30_000;
  const requestTimeoutMs = options.requestTimeoutMs ?? 10_000;
  const maxOutgoingBytes = options.maxOutgoingBytes ?? MIB;
  const maxIncomingBytes = options.maxIncomingBytes ?? 64 * MIB;
  const maxValues = options.maxIncomingValues ?? MAX_VALUES;

  const dialogue = createDialogue();
  let isStranger = options.isStranger ?? false;
  /** Set once, by `end`; everything else reads it. */
  let ended: DisconnectReason | undefined;
  let connected = false;
  /** Counts answers to requests. */
  let answers = 0;
  /** The last over-long frame, and the number of them: it may have been the answer to a waiting request. */
  let skipped: { count: number; length: number; maxValues?: number | undefined } = { count: 0, length: 0 };
  /** Requests without a timeout: their callers ask one at a time. */
  const patient = new Set<number>();
  let heartbeatClock: NodeJS.Timeout | undefined;

  const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS });

  const end = (reason: DisconnectReason, detail?: string): void => {
    if (ended) return;
    ended = reason;
    for (const clock of [connectClock, heartbeatClock]) clearTimeout(clock);
    reader.close();
    log.debug({ host, port, reason, detail }, "connection to the Editor ended");
    dialogue.abandon(() => new ConnectionLost(reason, true));
    socket.destroy();
  };

  const connectClock = setTimeout(() => {
    afterReading(() => {
      if (!connected) end("connect_timeout");
    });
  }, CONNECT_TIMEOUT_MS);

  const watchHeartbeat = (timeoutMs: number): void => {
    clearTimeout(heartbeatClock);
    heartbeatClock = setTimeout(
      () => {
        afterReading(() => {
          if (ended) return;
          if (reader.silentMs() >= timeoutMs) end("heartbeat_lost");
          else watchHeartbeat(timeoutMs);
        });
      },
      Math.max(1, Math.ceil(timeoutMs - reader.silentMs())),
    );
  };

  const takeMessage = (text: string): void => {
    const message = parseRpc(text);
    switch (message.kind) {
      case "notification":
        if (isStranger) return;
        try {
          onNotification(message.method, message.params, text.length);
        } catch (error) {
          log.warn({ method: message.method, err: error }, "handling a notification failed");
        }
        return;
      case "request":
        // Editors only answer and notify; an error answer is better than letting a request wait.
        if (socket.writableLength <= MIB) socket.write(encodeFrame(rpcUnanswered(message.id)));
        return;
      case "result":
        if (dialogue.accept(message)) answers += 1;
        else log.debug({ id: message.id }, "answer to no request; ignored");
        return;
      case "error": {
        const { id, error } = message;
        // Without an id: the request could not be read. No timeout covers those of the patient.
        const read = id === null ? { ...error, code: RPC_PARSE_ERROR } : error;
        const meant = id === null ? [...patient] : [id];
        const isAnswer = meant.some((one) => dialogue.accept({ kind: "error", id: one, error: read }));
        if (isAnswer) answers += 1;
        else log.warn({ id, error }, "error answer to no request; ignored");
        return;
      }
      case "invalid":
        log.warn({ error: message.error }, "frame without a JSON-RPC message; skipped");
    }
  };

  const takeFrame = (frame: Frame): void => {
    switch (frame.kind) {
      case "malformed":
        end("malformed_frame", frame.reason);
        return;
      case "message":
        takeMessage(frame.text);
        return;
      case "too_long":
        skipped = { count: skipped.count + 1, length: frame.length, maxValues: frame.maxValues };
        log.warn(
          { length: frame.length, maxIncomingBytes, maxValues: frame.maxValues },
          "frame above the limit; skipped",
        );
        // No timeout covers these.
        for (const id of patient) dialogue.reject(id, tooLarge());
    }
  };
  const tooLarge = (): FrameTooLarge =>
    new FrameTooLarge("incoming", skipped.length, maxIncomingBytes, skipped.maxValues);

  const reader = createFrameReader(
    { socket, unasked: deps.unasked ?? createUnaskedTime(log) },
    { maxBytes: isStranger ? STRANGER_BYTES : maxIncomingBytes, maxValues, frameTimeoutMs, isStranger },
    { take: takeFrame, answers: () => answers, stalled: () => end("frame_timeout") },
  );

  const opened = new Promise<void>((resolve, reject) => {
    socket.once("connect", () => {
      if (ended) return;
      if (isForeignPeer(socket)) {
        end("foreign_peer", "another user of this machine listens there");
        return;
      }
      connected = true;
      reader.begin();
      clearTimeout(connectClock);
      resolve();
    });
    socket.once("close", () => reject(new ConnectionLost(ended ?? "peer_closed", false)));
  });
  opened.catch(() => {}); // A caller may await `closed` only.

  /** The peer ended it: what it sent before still counts. */
  const lost = (reason: DisconnectReason, detail?: string): void => {
    if (!ended) reader.finish();
    end(reason, detail);
  };
  socket.on("end", () => lost("peer_closed"));
  socket.on("error", (error) => lost(reasonOfSocketError(error, connected), error.message));

  const closed = new Promise<DisconnectReason>((resolve) => {
    socket.once("close", () => {
      lost("peer_closed");
      resolve(ended ?? "peer_closed");
    });
  });

  return {
    opened,
    closed,

    async request(method, params, { timeoutMs = requestTimeoutMs, guard } = {}) {
      if (ended) throw new ConnectionLost(ended, false);
      const { id, answer } = dialogue.open();
      const skippedBefore = skipped.count;
      const giveUp = (): void => {
        if (!dialogue.isOpen(id)) return;
        if (skipped.count === skippedBefore) end("peer_dead", `no answer to ${method}`);
        else dialogue.reject(id, tooLarge());
      };
      let clock: NodeJS.Timeout | undefined;
      /** While this side read nothing, it could not receive an answer. */
      const wait = (ms: number): void => {
        const restedBefore = reader.restedMs();
        const judge = (): void => {
          const restedMs = reader.restedMs() - restedBefore;
          if (restedMs > 0 && dialogue.isOpen(id)) wait(restedMs);
          else giveUp();
        };
        clock = setTimeout(() => afterReading(judge), ms);
      };
      if (timeoutMs === "never") patient.add(id);
      else wait(timeoutMs + reader.restLeftMs());
      try {
        socket.write(outgoing(rpcRequest(id, method, params, guard), maxOutgoingBytes));
      } catch (error) {
        dialogue.reject(id, error as Error);
      }
      return answer.finally(() => {
        patient.delete(id);
        clearTimeout(clock);
      });
    },

    notify(method, params) {
      const frame = outgoing(rpcNotification(method, params), maxOutgoingBytes);
      if (!ended) socket.write(frame);
    },

    expectBytesEvery(timeoutMs) {
      if (!ended) watchHeartbeat(Math.min(timeoutMs, LONGEST_SILENCE));
    },

    trust() {
      isStranger = false;
      reader.allow(maxIncomingBytes);
    },

    remoteAddress: () => addressOf(socket.remoteAddress ?? "", socket.remotePort ?? 0),

    async close(reason = "shutdown") {
      end(reason);
      await closed;
    },
  };
}
