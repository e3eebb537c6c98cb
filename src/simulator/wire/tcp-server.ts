/** The Editor's TCP side: frames and JSON-RPC in, answers and notifications out; it knows no method names. */
import { createServer, type Server, type Socket } from "node:net";
import { createConnectionFilter, endOf } from "../../shared/machine/connection-filter.js";
import type { TcpEnd } from "../../shared/machine/peer-owner.js";
import {
  createFrameParser,
  encodeFrame,
  type Frame,
  parseRpc,
  RPC_PARSE_ERROR,
  type RpcError,
  rpcFailure,
  rpcNotification,
  rpcResult,
} from "../../shared/wire/rpc.js";
import { EDITOR_CODES } from "../../shared/wire/wire.js";
import type { Timers } from "../timers.js";
import { takeOnce, type WireFaults } from "./wire-faults.js";

// The writing half of a connection: the frames of one turn of the event loop in one write, through the wire faults.

/** Everything is written in the order of the calls, before the event loop waits again. */
export interface Outbound {
  send(text: string): void;
  /** Raw bytes between two frames. */
  sendRaw(bytes: Buffer): void;
  /** Closes the connection once everything sent before is written; nothing can be sent any more. */
  endAfterwards(): void;
  /** Closes the connection now. What was sent before is still handed to the system, as far as it takes it at once. */
  cut(): void;
}

/**
 * An operation that begins and ends at once is answered, begun and finished in one turn. A write for each of these
 * frames costs both ends more than the frame itself.
 */
export function createOutbound(socket: Socket, faults: WireFaults): Outbound {
  let frames: Buffer[] = [];
  let isEnding = false;
  /** Between the first frame of a turn and the write; longer only behind a fault. */
  let isLeaving = false;

  const leave = async (): Promise<void> => {
    while (frames.length > 0 && !socket.destroyed) {
      if (faults.isSilent()) await faults.spoken();
      else if (faults.pieceBytes === undefined) writeTogether();
      else await writePiece(faults.pieceBytes);
    }
    isLeaving = false;
    if (!isEnding) return;
    if (faults.isSilent()) await faults.spoken();
    socket.destroySoon();
  };
  const writeTogether = (): void => {
    // One buffer of small frames costs less than the list of them that `cork` hands on.
    if (frames.length > 0) socket.write(Buffer.concat(frames));
    frames = [];
  };
  const writePiece = async (bytes: number): Promise<void> => {
    const [frame = Buffer.alloc(0), ...others] = frames;
    socket.write(frame.subarray(0, bytes));
    const rest = frame.subarray(bytes);
    frames = rest.length > 0 ? [rest, ...others] : others;
    if (rest.length > 0) await new Promise(setImmediate);
  };
  const leaveSoon = (): void => {
    if (isLeaving) return;
    isLeaving = true;
    setImmediate(() => void leave());
  };
  const add = (bytes: Buffer): void => {
    if (isEnding || socket.destroyed) return;
    frames.push(bytes);
    leaveSoon();
  };

  return {
    send: (text) => add(encodeFrame(text)),
    sendRaw: add,
    endAfterwards() {
      isEnding = true;
      leaveSoon();
    },
    cut() {
      if (!faults.isSilent() && !socket.destroyed) writeTogether();
      socket.destroy();
    },
  };
}

/** One connection as the bridge sees it. */
export interface Peer {
  readonly id: number;
  /** The Editor's address, as this connection reached it. */
  readonly local: TcpEnd;
  /** The peer is no stranger: its timeout stops, and no newcomer takes its place. */
  admit(): void;
  notify(method: string, params: unknown): void;
  /** Closes once everything sent before is written. */
  close(): void;
  isOpen(): boolean;
}

/**
 * `afterwards` runs if the answer was handed to an open socket, not if the connection was gone by then;
 * `close` ends the connection after the answer.
 */
export type Answer = ({ result: unknown } | { error: RpcError; close?: boolean }) & {
  afterwards?: () => void;
};

export interface TcpServerDeps {
  timers: Timers;
  faults: WireFaults;
  /** Never throws. The peer's `isOpen()` may be false by the time the answer is ready. */
  handle(peer: Peer, method: string, params: unknown, guard?: unknown): Promise<Answer> | Answer;
  notified(peer: Peer, method: string, params: unknown): void;
  closed(peer: Peer): void;
}

/** Room for a worker, its successor, a person's `editors claim`, and some strangers. */
const MAX_CONNECTIONS = 32;

export type TcpServer = ReturnType<typeof createTcpServer>;

/**
 * `maxFrameBytes` limits a worker's frames; longer ones are answered FRAME_TOO_LARGE and skipped, or break the
 * connection as in plain bridges. A stranger is disconnected after `strangerMs` (undefined: never). If there
 * are too many, the oldest one that has asked nothing goes, so that the next one is always heard, and the one that is asking too.
 */
export function createTcpServer(
  deps: TcpServerDeps,
  options: { maxFrameBytes: number; breaksOnTooLong: boolean; strangerMs: number | undefined },
) {
  const connections = new Map<Socket, Outbound>();
  /** Connections that are not admitted, in order of arrival, and whether they have asked anything. */
  const strangers = new Map<Socket, { hasAsked: boolean }>();
  let server: Server | undefined;
  let nextId = 1;
  let listenedOn = 0;

  const makeRoom = (): void => {
    if (connections.size <= MAX_CONNECTIONS) return;
    const [first] = [...strangers].find(([, { hasAsked }]) => !hasAsked) ?? [...strangers][0] ?? [];
    if (!first) return;
    strangers.delete(first);
    connections.get(first)?.cut();
  };

  const accept = (socket: Socket): void => {
    const local = endOf(socket, "local");
    socket.setNoDelay(true);
    const outbound = createOutbound(socket, deps.faults);
    connections.set(socket, outbound);
    strangers.set(socket, { hasAsked: false });
    makeRoom();
    const stopClock =
      options.strangerMs === undefined ? () => {} : deps.timers.after(options.strangerMs, outbound.cut);
    const parser = createFrameParser(options.maxFrameBytes);
    const peer: Peer = {
      id: nextId++,
      local,
      admit() {
        strangers.delete(socket);
        stopClock();
      },
      notify: (method, params) => outbound.send(rpcNotification(method, params)),
      close: () => outbound.endAfterwards(),
      isOpen: () => !socket.destroyed,
    };
    socket.on("data", (chunk) => {
      parser.push(chunk);
      for (let frame = parser.next(); frame && !socket.destroyed; frame = parser.next()) {
        if (!receive(peer, socket, outbound, frame)) return;
      }
    });
    // A reset is an ordinary end here; `close` always follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      connections.delete(socket);
      peer.admit();
      deps.closed(peer);
    });
  };

  /** False if nothing more may be read from this connection. */
  const receive = (peer: Peer, socket: Socket, outbound: Outbound, frame: Frame): boolean => {
    if (frame.kind === "malformed") {
      outbound.send(rpcFailure(null, { code: RPC_PARSE_ERROR, message: frame.reason }));
      outbound.endAfterwards();
      socket.pause();
      return false;
    }
    if (frame.kind === "too_long") {
      if (options.breaksOnTooLong) {
        outbound.cut();
        return false;
      }
      const message = `A frame of ${frame.length} bytes is over the limit of ${options.maxFrameBytes}.`;
      outbound.send(rpcFailure(null, { code: EDITOR_CODES.FRAME_TOO_LARGE, message }));
      return true;
    }
    const message = parseRpc(frame.text);
    if (message.kind === "invalid") outbound.send(rpcFailure(message.id, message.error));
    if (message.kind === "notification") deps.notified(peer, message.method, message.params);
    if (message.kind !== "request") return true;
    const { id, method, params, guard } = message;
    if (strangers.has(socket)) strangers.set(socket, { hasAsked: true });
    if (takeOnce(deps.faults.cutBefore, method)) {
      outbound.cut();
      return false;
    }
    const cut = takeOnce(deps.faults.cutAfter, method);
    void Promise.resolve(deps.handle(peer, method, params, guard)).then((answer) => {
      if (cut) {
        outbound.cut();
        return;
      }
      const write = (): void => {
        if (socket.destroyed) return;
        outbound.send("error" in answer ? rpcFailure(id, answer.error) : rpcResult(id, answer.result));
        if ("error" in answer && answer.close) outbound.endAfterwards();
        answer.afterwards?.();
      };
      if (deps.faults.answerDelayMs > 0) deps.timers.after(deps.faults.answerDelayMs, write);
      else write();
    });
    return true;
  };

  const arrivals = createConnectionFilter(accept);

  return {
    /** Listens on loopback; answers the port. Rejects if it is taken. */
    async listen(port: number): Promise<number> {
      const listening = createServer({ pauseOnConnect: true }, arrivals.take);
      await new Promise<void>((resolve, reject) => {
        listening.once("error", reject);
        listening.listen({ port, host: "127.0.0.1" }, resolve);
      });
      server = listening;
      const address = listening.address();
      listenedOn = typeof address === "object" && address ? address.port : port;
      return listenedOn;
    },
    /** The port last listened on. */
    port: (): number => listenedOn,
    dropConnections(): void {
      for (const outbound of connections.values()) outbound.cut();
    },
    /** Writes bytes that form no frame on every connection. */
    sendGarbage(bytes: Buffer): void {
      for (const outbound of connections.values()) outbound.sendRaw(bytes);
    },
    /** Notifies all admitted connections, and strangers if their time is not limited. */
    broadcast(method: string, params: unknown): void {
      for (const [socket, outbound] of connections) {
        if (options.strangerMs !== undefined && strangers.has(socket)) continue;
        outbound.send(rpcNotification(method, params));
      }
    },
    /** Stops listening and destroys every connection. */
    async stop(): Promise<void> {
      const stopping = server;
      server = undefined;
      arrivals.close();
      for (const outbound of connections.values()) outbound.cut();
      if (stopping) await new Promise<void>((resolve) => stopping.close(() => resolve()));
    },
  };
}
