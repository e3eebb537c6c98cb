/** A minimal Redis client for the keeper: one connection, one command at a time, answers as text. */
import { connect, type NetConnectOpts } from "node:net";
import type { RedisAddress } from "./server.js";

export interface PlainClient {
  /** Resolves with the answer; rejects with the server's error, or if the connection ends. */
  command(...words: string[]): Promise<string>;
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

interface Waiting {
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** Connects, with the password if the address has one. */
export function createPlainClient(address: RedisAddress): PlainClient {
  const socket = connect({ ...address } as NetConnectOpts);
  const waiting: Waiting[] = [];
  let unread = Buffer.alloc(0);

  socket.on("data", (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    for (let reply = readReply(unread); reply; reply = readReply(unread)) {
      unread = unread.subarray(reply.length);
      const next = waiting.shift();
      if (reply.isError) next?.reject(new Error(reply.text));
      else next?.resolve(reply.text);
    }
  });
  socket.on("error", () => {
    // "close" follows.
  });
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      for (const { reject } of waiting.splice(0)) reject(new Error("the connection ended"));
      resolve();
    });
  });

  const command: PlainClient["command"] = (...words) =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) return reject(new Error("the connection ended"));
      waiting.push({ resolve, reject });
      const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
      socket.write(`*${words.length}\r\n${parts.join("")}`);
    });
  // With a wrong password the next command fails.
  if ("password" in address) command("AUTH", address.password).catch(() => undefined);
  return { command, closed, close: () => void socket.destroy() };
}

/** The first whole reply: a line (`+`, `-`, `:`) or a bulk string (`$`); undefined while it is incomplete. */
function readReply(bytes: Buffer): { text: string; isError: boolean; length: number } | undefined {
  const lineEnd = bytes.indexOf("\r\n");
  if (lineEnd < 0) return undefined;
  const line = bytes.toString("utf8", 1, lineEnd);
  const isBulk = bytes.toString("latin1", 0, 1) === "$";
  if (!isBulk) return { text: line, isError: bytes[0] === 0x2d, length: lineEnd + 2 };
  const size = Math.max(Number(line), 0);
  const length = lineEnd + 2 + size + 2;
  if (bytes.length < length) return undefined;
  return { text: bytes.toString("utf8", lineEnd + 2, lineEnd + 2 + size), isError: false, length };
}
