/**
 * One TCP connection to an Editor: frames and JSON-RPC over a socket, and three clocks (connect, frame, heartbeat).
 * Knows no method of the protocol and never reconnects; the only file of the worker that knows sockets.
 */
import { connect } from "node:net";
import type { Log } from "../../shared/log.js";
import { endOf } from "../../shared/machine/arrivals.js";
import { isAnotherUsersServer } from "../../shared/machine/peer-owner.js";
import { createDialogue } from "../../shared/wire/dialogue.js";
import { addressOf } from "../../shared/wire/editor-proof.js";
import { encodeFrame, type Frame } from "../../shared/wire/framing.js";
import { parseRpc, rpcNotification, rpcRequest, rpcUnanswered } from "../../shared/wire/rpc.js";
import { ConnectionLost, type DisconnectReason, FrameTooLarge, reasonOfSocketError } from "./disconnect.js";
import { afterReading, createFrameReader } from "./frame-reader.js";
import { outgoing } from "./outgoing.js";
import { createUnaskedTime, type UnaskedTime } from "./unasked-time.js";

/** All times in ms, all sizes in bytes of a frame's body. */
export interface ConnectionOptions {
  connectTimeoutMs?: number;
  /** From a frame's first byte to its last, skipped frames included. */
  frameTimeoutMs?: number;
  /** For requests that name no time of their own. */
  requestTimeoutMs?: number;
  maxOutgoingBytes?: number;
  maxIncomingBytes?: number;
  /** JSON values in one frame: parsing them holds up everybody else. */
  maxIncomingValues?: number;
  /** Until `trust()`, nothing that it says unasked is handed on, and its frames are short. */
  isStranger?: boolean;
}

export interface ConnectionDeps {
  host: string;
  port: number;
  log: Log;
  /** The account of this Editor, if it has had connections before; else a new one. */
  unasked?: UnaskedTime;
  /** Called in the order of the wire, with the length of the message; a throw is logged and ends nothing. */
  onNotification(method: string, params: unknown, characters: number): void;
}

export interface RequestOptions {
  timeoutMs?: number | "never";
  guard?: object | undefined;
}

export interface Connection {
  /** Resolves when TCP stands; rejects ConnectionLost when it never will. */
  readonly opened: Promise<void>;
  /** Resolves once, when the socket is gone for good; never rejects. */
  readonly closed: Promise<DisconnectReason>;
  /**
   * Asks and waits for the answer with the same id; many at once, answered in any order, never sent twice.
   * Rejects RpcFailure (the peer refused), FrameTooLarge, or ConnectionLost. For requests that a peer answers at
   * once by protocol: no answer within `timeoutMs` ends the connection as `peer_dead`; `"never"` waits for as long as
   * the connection holds. `guard` travels beside the parameters (src/shared/wire/rpc.ts).
   */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** Sends without an answer; lost without notice when the connection is gone. Throws FrameTooLarge. */
  notify(method: string, params: unknown): void;
  /** From now on `timeoutMs` without any byte ends the connection as `heartbeat_lost`. */
  expectBytesEvery(timeoutMs: number): void;
  /** It is who it was expected to be. */
  trust(): void;
  /** `host:port` of the far end as this machine reached it; only once `opened` has resolved. */
  calledAt(): string;
  /** Ends it, open requests with it (`shutdown` if no reason is given); resolves when the socket is gone. */
  close(reason?: DisconnectReason): Promise<void>;
}

const MIB = 1024 * 1024;
/** Half a second of parsing where they are chosen for it (docs/guide/security.md). */
const MAX_VALUES = 1_000_000;
/** What a stranger has to say is its proof. */
const STRANGER_BYTES = 16 * 1024;
/** ms of silence before the system probes an idle connection. */
const KEEPALIVE_MS = 10_000;
/** ms, however seldom a peer says that it talks. */
const LONGEST_SILENCE = 600_000;

export function createConnection(deps: ConnectionDeps, options: ConnectionOptions = {}): Connection {
  const { host, port, log, onNotification } = deps;
  const connectTimeoutMs = options.connectTimeoutMs ?? 3_000;
  const frameTimeoutMs = options.frameTimeoutMs ?? 30_000;
  const requestTimeoutMs = options.requestTimeoutMs ?? 10_000;
  const maxOutgoingBytes = options.maxOutgoingBytes ?? MIB;
  const maxIncomingBytes = options.maxIncomingBytes ?? 64 * MIB;
  const maxValues = options.maxIncomingValues ?? MAX_VALUES;

  const dialogue = createDialogue();
  let isStranger = options.isStranger ?? false;
  /** Set once by `end`; everything else reads it. */
  let ended: DisconnectReason | undefined;
  let connected = false;
  /** Counts answers to what was asked. */
  let answers = 0;
  /** The last over-long frame and how many there were: the answer of a waiting request may have been in it. */
  let skipped: { count: number; length: number; maxValues?: number | undefined } = { count: 0, length: 0 };
  /** Requests without a clock: their callers ask one at a time. */
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
  }, connectTimeoutMs);

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
        // Editors only answer and notify; saying so beats letting one wait, if it reads at all.
        if (socket.writableLength <= MIB) socket.write(encodeFrame(rpcUnanswered(message.id)));
        return;
      case "result":
        if (dialogue.accept(message)) answers += 1;
        else log.debug({ id: message.id }, "answer to nothing asked; ignored");
        return;
      case "error": {
        const { id, error } = message;
        if (id !== null && dialogue.accept({ kind: "error", id, error })) answers += 1;
        else log.warn({ id, error }, "error answer to nothing asked; ignored");
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
        // No clock will find out for these.
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
      // A worker of root may serve the Editors of others.
      if (process.getuid?.() !== 0 && isAnotherUsersServer(endOf(socket, "local"), endOf(socket, "remote"))) {
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
  opened.catch(() => {}); // Its watchers may watch `closed` alone.

  /** By the other side: what it said before counts. */
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
      /** While this side read nothing, an answer could not be heard. */
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

    calledAt: () => addressOf(socket.remoteAddress ?? "", socket.remotePort ?? 0),

    async close(reason = "shutdown") {
      end(reason);
      await closed;
    },
  };
}
