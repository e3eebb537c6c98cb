/** Listens on a loopback port of its own for what one Editor pushes (docs/protocol.md, "Push channel"). */
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Log } from "../shared/log.js";
import { createLineAssembler, type PushType, parsePush } from "../shared/push.js";

export interface PushServer {
  /** `host:port`; undefined where no port could be had: then only the Editor's own connection tells. */
  endpoint(): Promise<string | undefined>;
  /** Lines that were no push, since the start. */
  ignored(): number;
  /** Resolves when no socket is left. */
  close(): Promise<void>;
}

/** A push is a hundred bytes; payloads may grow. Characters. */
const MAX_LINE = 64 * 1024;
/** One Editor has one push client; a few more while an old connection dies. */
const MAX_CONNECTIONS = 4;

/** `onPush` is called in the order of a connection's lines; it says nothing that anything but haste depends on. */
export function createPushServer(deps: { log: Log; onPush(type: PushType): void }): PushServer {
  const { log } = deps;
  const sockets = new Set<Socket>();
  let ignored = 0;

  const server = createServer((socket) => {
    const lines = createLineAssembler(MAX_LINE);
    sockets.add(socket);
    socket.on("data", (chunk) => {
      for (const line of lines.push(chunk)) {
        const type = line === undefined ? undefined : parsePush(line);
        if (type !== undefined) {
          deps.onPush(type);
          continue;
        }
        ignored += 1;
        log.debug({ ignored, length: line?.length }, "a line on the push channel is no push; ignored");
      }
    });
    // A reset is an ordinary end here.
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.maxConnections = MAX_CONNECTIONS;

  const listening = new Promise<string | undefined>((resolve) => {
    server.once("error", (error) => {
      log.warn({ error: error.message }, "no port for the push channel; going on without");
      resolve(undefined);
    });
    server.listen({ port: 0, host: "127.0.0.1" }, () => {
      resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });

  return {
    endpoint: () => listening,
    ignored: () => ignored,
    async close() {
      await listening;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
