/**
 * Admits connections to a loopback port: connections from other users of this machine are closed before they are read.
 *
 * The system's socket list has a line per socket, and other users control how many there are. So all connections that
 * arrived since the last look share one reading, and reading takes at most a fifth of this process' time.
 */
import type { Socket } from "node:net";
import { isAnotherUsersCall, readTables, type TcpEnd } from "./peer-owner.js";

export interface ConnectionFilter {
  /** For a server with `pauseOnConnect`: nothing is read from the connection before it is admitted. */
  take(socket: Socket): void;
  /** Closes the connections that were not let in yet. */
  close(): void;
}

/** The pause before the next look, as a multiple of the last look's duration. */
const REST = 4;
/** Most unchecked connections: each is an open file. */
const MOST_WAITING = 256;
/** Most that are let in before what they have sent is read. */
const AT_ONCE = 16;

/**
 * When too many wait, all are checked at once, however long that takes, so that no legitimate caller is refused. With
 * `sheds` the oldest is dropped instead: for connections that may be missed, in a process with more important work.
 */
export function createConnectionFilter(
  letIn: (socket: Socket) => void,
  { sheds = false }: { sheds?: boolean } = {},
): ConnectionFilter {
  const waiting = new Set<Socket>();
  /** Checked, and not yet let in. */
  const own = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  let restsUntil = 0;
  let nextTurn: NodeJS.Immediate | undefined;

  const look = (): void => {
    timer = undefined;
    const begun = performance.now();
    const [tables, ...again] = [readTables(), readTables(), readTables()] as const;
    const all = [...waiting];
    waiting.clear();
    const known = all.map((socket) => {
      const [own, peer] = [endOf(socket, "local"), endOf(socket, "remote")];
      return { socket, isAnothers: isAnotherUsersCall(own, peer, tables, again) };
    });
    restsUntil = performance.now() + REST * (performance.now() - begun);
    for (const { socket, isAnothers } of known) {
      if (isAnothers) socket.destroy();
      else own.add(socket);
    }
    if (!nextTurn) welcome();
  };

  const welcome = (): void => {
    for (const socket of [...own].slice(0, AT_ONCE)) {
      own.delete(socket);
      if (socket.destroyed) continue;
      letIn(socket);
      if (!socket.destroyed) socket.resume();
    }
    nextTurn = own.size > 0 ? setImmediate(welcome) : undefined;
  };

  return {
    take(socket) {
      waiting.add(socket);
      socket.on("error", () => socket.destroy());
      const [oldest] = waiting;
      if (waiting.size > MOST_WAITING && !sheds) {
        clearTimeout(timer);
        look();
        return;
      }
      if (waiting.size > MOST_WAITING && oldest) {
        waiting.delete(oldest);
        oldest.destroy();
      }
      // Even with 0 ms, the other connections of the same burst arrive before the look.
      timer ??= setTimeout(look, Math.max(0, restsUntil - performance.now()));
    },
    close() {
      clearTimeout(timer);
      clearImmediate(nextTurn);
      timer = undefined;
      nextTurn = undefined;
      for (const socket of [...waiting, ...own]) socket.destroy();
      waiting.clear();
      own.clear();
    },
  };
}

export function endOf(socket: Socket, which: "local" | "remote"): TcpEnd {
  return { host: socket[`${which}Address`] ?? "", port: socket[`${which}Port`] ?? 0 };
}
