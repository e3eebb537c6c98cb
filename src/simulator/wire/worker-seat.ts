/** The one connection that may submit: that of the last worker to say hello with the highest fence. */
import type { Peer } from "./tcp-server.js";

export interface WorkerSeat {
  /** Closes the connection that held the seat before. `log`: the new holder takes Console lines. */
  take(peer: Peer, wishes?: { log: boolean }): void;
  holds(peer: Peer): boolean;
  /** It is taken by a connection that takes Console lines. */
  takesLog(): boolean;
  leave(peer: Peer): void;
  /** For how long nobody has held it, ms; undefined while somebody does. */
  emptyMs(): number | undefined;
  /** Closes the connection that holds it. */
  vacate(): void;
  /** Sends to the holder. While the seat is empty nothing is sent; the next hello makes up for it. */
  notify(method: string, params: unknown): void;
}

/** `elapsed`: monotonic, ms. */
export function createWorkerSeat(elapsed: () => number): WorkerSeat {
  let holder: Peer | undefined;
  let emptySince = elapsed();
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
      if (peer !== holder) return;
      holder = undefined;
      emptySince = elapsed();
    },
    emptyMs: () => (holder ? undefined : elapsed() - emptySince),
    vacate() {
      holder?.close();
      holder = undefined;
      emptySince = elapsed();
    },
    notify(method, params) {
      if (holder?.isOpen()) holder.notify(method, params);
    },
  };
}
