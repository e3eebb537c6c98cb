/**
 * Lets in who calls on a loopback port: connections of other users of this machine are closed before they are read.
 *
 * The system's list of sockets has a line for each, and other users decide how many there are: all connections that came
 * since the last look share one reading, and reading it takes a fifth of this process' time at most.
 */
import type { Socket } from "node:net";
import { isAnotherUsersCall, readTables, type TcpEnd } from "./peer-owner.js";

export interface Arrivals {
  /** For a server with `pauseOnConnect`: nothing of the connection is read before it is let in. */
  take(socket: Socket): void;
  /** Ends those that nobody has looked at yet. */
  close(): void;
}

/** How much longer than the last look it is to the next one. */
const REST = 4;
/** So many are not looked at yet, at most: each of them is an open file. */
const MOST_WAITING = 256;

/**
 * When too many wait, either all are looked at, whatever time that takes: nobody who should come in is kept out. Or
 * (`sheds`) the oldest gives way: for what may be missed, in a process that has more important things to do.
 */
export function createArrivals(
  letIn: (socket: Socket) => void,
  { sheds = false }: { sheds?: boolean } = {},
): Arrivals {
  const waiting = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  let restsUntil = 0;

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
      else if (!socket.destroyed) {
        letIn(socket);
        if (!socket.destroyed) socket.resume();
      }
    }
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
      // 0 waits for a moment as well, in which others of the same burst come.
      timer ??= setTimeout(look, Math.max(0, restsUntil - performance.now()));
    },
    close() {
      clearTimeout(timer);
      timer = undefined;
      for (const socket of waiting) socket.destroy();
      waiting.clear();
    },
  };
}

export function endOf(socket: Socket, which: "local" | "remote"): TcpEnd {
  return { host: socket[`${which}Address`] ?? "", port: socket[`${which}Port`] ?? 0 };
}
