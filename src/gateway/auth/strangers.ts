/** Limits connections without an authenticated request: beyond the limit the oldest is closed. */
import type { IncomingMessage, Server } from "node:http";

type Socket = IncomingMessage["socket"];

export interface Strangers {
  /** A request with a valid token arrived: the connection is no stranger's until that is answered. */
  authenticated(socket: Socket): void;
  wasAnswered(socket: Socket): void;
}

/**
 * A program that floods the server with connections only displaces its own; a request with a token finds room. Of more clients than
 * that which connect in one moment, before any of them is read, the first ones connect again.
 */
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
  return { authenticated: (socket) => void strangers.delete(socket), wasAnswered: add };
}
