/** Connections on which nothing is asked with a token at the moment: so many at once. The oldest gives way. */
import type { IncomingMessage, Server } from "node:http";

type Socket = IncomingMessage["socket"];

export interface Strangers {
  /** A request came with a token: the connection is none until it was answered. */
  isKnown(socket: Socket): void;
  wasAnswered(socket: Socket): void;
}

/** A program that fills the server with connections takes its own places; a request with a token finds room. */
export function limitStrangers(server: Server, { most }: { most: number }): Strangers {
  const strangers = new Set<Socket>();
  const add = (socket: Socket): void => {
    if (socket.destroyed) return;
    strangers.add(socket);
    const [oldest] = strangers;
    if (strangers.size > most) oldest?.destroy();
  };
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => strangers.delete(socket));
    add(socket);
  });
  return { isKnown: (socket) => void strangers.delete(socket), wasAnswered: add };
}
