/** The one connection that may submit: that of the last worker to say hello with the highest fence. */
import type { Peer } from "./tcp-server.js";

export interface WorkerSeat {
  /** Closes the connection that held the seat before. `log`: the new holder takes Console lines. */
  take(peer: Peer, wishes?: { log: boolean }): void;
  holds(peer: Peer): boolean;
  /** It is taken by a connection that takes Console lines. */
  takesLog(): boolean;
  leave(peer: Peer): void;
  /** Closes the connection that holds it. */
  vacate(): void;
  /** Sends to the holder. While the seat is empty nothing is sent; the next hello makes up for it. */
  notify(method: string, params: unknown): void;
}

export function createWorkerSeat(): WorkerSeat {
  let holder: Peer | undefined;
  let log = false;
  return {
    take(peer, wishes) {
      const before = holder;
      holder = peer;
      log = wishes?.log === true;
      if (before && before !== peer) before.close();
    },
    holds: (peer) => peer === holder,
    takesLog: () => log && holder?.isOpen() === true,
    leave(peer) {
      if (peer === holder) holder = undefined;
    },
    vacate() {
      holder?.close();
      holder = undefined;
    },
    notify(method, params) {
      if (holder?.isOpen()) holder.notify(method, params);
    },
  };
}
