import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  createFrameParser,
  encodeFrame,
  parseRpc,
  type RpcId,
  type RpcMessage,
  rpcFailure,
  rpcNotification,
  rpcResult,
} from "../../../src/shared/wire/rpc.js";

/** One connection as the peer sees it: nothing is answered but what the test says. */
export interface PeerConnection {
  readonly socket: Socket;
  /** The next message of the caller, in order of arrival; rejects when the connection ends first. */
  nextMessage(): Promise<RpcMessage>;
  /** The next message, which must be a request of this method. */
  nextRequest(method: string): Promise<{ id: RpcId; params: Record<string, unknown>; guard?: unknown }>;
  reply(id: RpcId, result: unknown): void;
  /** `id`: null if it could not read the request. */
  fail(id: RpcId | null, code: number, message: string, data?: unknown): void;
  notify(method: string, params?: unknown): void;
  /** Bytes as they are; `chunk` cuts them into writes of so many bytes, each flushed before the next. */
  raw(bytes: Buffer | string, chunk?: number): Promise<void>;
  /** Ends like a process that exits. */
  end(): void;
  /** Ends like a process that is killed with data unread. */
  reset(): void;
  /** Resolves when the socket is gone. */
  readonly gone: Promise<void>;
}

/** A TCP peer in a test's hands. */
export interface TcpPeer {
  readonly port: number;
  /** The next connection that was not handed out yet. */
  accept(): Promise<PeerConnection>;
  /** Connections that stand now. */
  connectionCount(): number;
  /** Stops listening: the next caller is refused. Open connections stay. */
  deafen(): Promise<void>;
  /** Listens again on the same port. */
  listen(): Promise<void>;
  /** Ends everything. */
  close(): Promise<void>;
}

export async function startTcpPeer(): Promise<TcpPeer> {
  const waiting = createQueue<PeerConnection>();
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;

  const listen = async (): Promise<void> => {
    server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      waiting.push(overSocket(socket));
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  };
  const deafen = async (): Promise<void> => {
    // `close` waits for open connections; the port is free at once.
    server?.close();
    server = undefined;
  };

  await listen();
  return {
    get port() {
      return port;
    },
    accept: () => waiting.take(),
    connectionCount: () => sockets.size,
    deafen,
    listen,
    async close() {
      const listening = server;
      const ended = listening ? once(listening, "close") : undefined;
      await deafen();
      for (const socket of sockets) socket.destroy();
      await ended;
      waiting.fail(new Error("the peer was closed"));
    },
  };
}

function overSocket(socket: Socket): PeerConnection {
  const parser = createFrameParser(1024 * 1024);
  const messages = createQueue<RpcMessage>();
  const send = (text: string) => void socket.write(encodeFrame(text));

  socket.on("error", () => {
    // A reset is part of what these tests do.
  });
  socket.on("data", (chunk) => {
    parser.push(chunk);
    for (let frame = parser.next(); frame; frame = parser.next()) {
      if (frame.kind !== "message") throw new Error(`the worker sent a bad frame: ${JSON.stringify(frame)}`);
      messages.push(parseRpc(frame.text));
    }
  });
  const gone = once(socket, "close").then(() => messages.fail(new Error("the connection ended")));

  return {
    socket,
    gone,
    nextMessage: () => messages.take(),
    async nextRequest(method) {
      const message = await messages.take();
      if (message.kind !== "request" || message.method !== method) {
        throw new Error(`expected ${method}, got ${JSON.stringify(message)}`);
      }
      const { id, params, guard } = message;
      return { id, params: (params ?? {}) as Record<string, unknown>, guard };
    },
    reply: (id, result) => send(rpcResult(id, result)),
    fail: (id, code, message, data) => send(rpcFailure(id, { code, message, data })),
    notify: (method, params) => send(rpcNotification(method, params)),
    async raw(bytes, chunk) {
      const all = Buffer.from(bytes);
      const size = chunk ?? all.length;
      for (let at = 0; at < all.length; at += size) {
        await new Promise<void>((flushed) => socket.write(all.subarray(at, at + size), () => flushed()));
        if (chunk) await new Promise((turn) => setImmediate(turn));
      }
    },
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** Values handed out in order; the first taker waits. */
export function createQueue<T>(): { push(value: T): void; take(): Promise<T>; fail(error: Error): void } {
  const values: T[] = [];
  const takers: Array<{ resolve: (value: T) => void; reject: (error: Error) => void }> = [];
  let failure: Error | undefined;
  return {
    push(value) {
      const taker = takers.shift();
      if (taker) taker.resolve(value);
      else values.push(value);
    },
    take() {
      if (values.length > 0) return Promise.resolve(values.shift() as T);
      if (failure) return Promise.reject(failure);
      return new Promise<T>((resolve, reject) => takers.push({ resolve, reject }));
    },
    fail(error) {
      failure = error;
      for (const taker of takers.splice(0)) taker.reject(error);
    },
  };
}
