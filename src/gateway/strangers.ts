/** Connections that have not said yet who they are: so many at once, and so long. The oldest gives way. */
import type { IncomingMessage, Server } from "node:http";

type Socket = IncomingMessage["socket"];

export interface Strangers {
  /** Its request came with a token: it is none any more. */
  isKnown(socket: Socket): void;
}

/** Whoever fills the server with connections meets itself there; who has a token finds room. */
export function limitStrangers(server: Server, { most }: { most: number }): Strangers {
  const strangers = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    strangers.add(socket);
    socket.once("close", () => strangers.delete(socket));
    const [oldest] = strangers;
    if (strangers.size > most) oldest?.destroy();
  });
  return { isKnown: (socket) => void strangers.delete(socket) };
}
