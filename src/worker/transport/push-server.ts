/** Listens on its own loopback port for the pushes of one Editor (docs/reference/protocol.md, "Push channel"). */
import { timingSafeEqual } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createConnectionFilter } from "../../shared/machine/connection-filter.js";
import type { Log } from "../../shared/telemetry.js";
import { newNonce } from "../../shared/wire/editor-proof.js";
import { type PushType, parsePush } from "../../shared/wire/push.js";
import { createLineAssembler } from "../../shared/wire/rpc.js";
import { createUnaskedTime } from "./connection.js";

export interface PushServer {
  /** Where it listens; undefined if no port was free: then only the Editor's own connection announces events. */
  endpoint(): Promise<PushTarget | undefined>;
  /** Number of lines that were no push, and of strangers' connections, since the start. */
  ignored(): number;
  /** Resolves when no socket is left. */
  close(): Promise<void>;
}

export interface PushTarget {
  /** `host:port` */
  address: string;
  /** Only the proven Editor receives it; each connection begins with it. */
  key: string;
}

/** Most characters of a line. A push has a hundred bytes; payloads may grow. */
const MAX_LINE = 64 * 1024;
/** Most connections: one Editor has one push client, and a few more while an old connection dies. The oldest stranger is closed first. */
const MAX_CONNECTIONS = 4;
/** Longest time until the key arrives, ms: a connection without it takes a place from others. */
const STRANGER_MS = 2_000;
/** Longest pause in reading, ms, whatever is owed: a closed connection is not noticed meanwhile. */
const LONGEST_REST_MS = 10_000;

/**
 * `onPush` is called in the order of a connection's lines. Pushes only speed things up; nothing else depends on them.
 * `isKeyless`: the Editor has a uLoop bridge, which knows no key.
 */
export function createPushServer(deps: {
  log: Log;
  onPush(type: PushType): void;
  isKeyless(): boolean;
  strangerMs?: number;
}): PushServer {
  const { log } = deps;
  // Not the account of the Editor's own connection: without a key the caller here is not proven.
  const unasked = createUnaskedTime(log);
  const key = newNonce();
  const isKey = (said: string | undefined): boolean => {
    const [given, own] = [Buffer.from(said ?? ""), Buffer.from(key)];
    return given.length === own.length && timingSafeEqual(given, own);
  };
  const sockets = new Set<Socket>();
  /** In the order of arrival. */
  const strangers = new Set<Socket>();
  let ignored = 0;

  let restClock: NodeJS.Timeout | undefined;
  const rest = (): void => {
    const restMs = Math.min(LONGEST_REST_MS, unasked.owedMs());
    if (restMs === 0) return;
    clearTimeout(restClock);
    for (const socket of sockets) socket.pause();
    restClock = setTimeout(() => {
      for (const socket of sockets) socket.resume();
    }, restMs);
  };

  const arrivals = createConnectionFilter(
    (socket) => {
      if (!makeRoom()) {
        socket.destroy();
        return;
      }
      const lines = createLineAssembler(MAX_LINE);
      let isKnown = false;
      const clock = setTimeout(() => {
        if (!isKnown && !deps.isKeyless()) socket.destroy();
      }, deps.strangerMs ?? STRANGER_MS);
      const take = (line: string | undefined): void => {
        const push = line === undefined ? undefined : parsePush(line);
        isKnown ||= isKey(push?.key) || deps.isKeyless();
        if (isKnown) strangers.delete(socket);
        if (push && isKnown) {
          deps.onPush(push.type);
          return;
        }
        ignored += 1;
        log.debug(
          { ignored, length: line?.length },
          "ignored a line on the push channel that is no push of this Editor",
        );
        if (!isKnown) socket.destroy();
      };
      sockets.add(socket);
      strangers.add(socket);
      socket.on("data", (chunk) => {
        const begun = performance.now();
        for (const line of lines.push(chunk)) if (!socket.destroyed) take(line);
        unasked.spend(performance.now() - begun, 0);
        rest();
      });
      // A reset is an ordinary end here.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        clearTimeout(clock);
        sockets.delete(socket);
        strangers.delete(socket);
      });
    },
    { sheds: true },
  );
  /** False if every connection is the Editor's own. */
  const makeRoom = (): boolean => {
    const [oldest] = strangers;
    if (sockets.size < MAX_CONNECTIONS) return true;
    if (!oldest) return false;
    sockets.delete(oldest);
    strangers.delete(oldest);
    oldest.destroy();
    return true;
  };
  const server = createServer({ pauseOnConnect: true }, arrivals.take);

  const listening = new Promise<PushTarget | undefined>((resolve) => {
    server.once("error", (error) => {
      log.warn({ error: error.message }, "no port for the push channel; continuing without it");
      resolve(undefined);
    });
    server.listen({ port: 0, host: "127.0.0.1" }, () => {
      resolve({ address: `127.0.0.1:${(server.address() as AddressInfo).port}`, key });
    });
  });

  return {
    endpoint: () => listening,
    ignored: () => ignored,
    async close() {
      await listening;
      clearTimeout(restClock);
      arrivals.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
