/** The one connection that may submit: the worker that said hello last with the highest fence. */
import type { Peer } from "./tcp-server.js";

export interface WorkerSeat {
  /** Closes the connection that held the seat before. */
  take(peer: Peer): void;
  holds(peer: Peer): boolean;
  leave(peer: Peer): void;
  /** Closes the connection that holds it. */
  vacate(): void;
  /** Sends to the holder; while the seat is empty nothing is sent, and hello repeats it. */
  notify(method: string, params: unknown): void;
}

export function createWorkerSeat(): WorkerSeat {
  let holder: Peer | undefined;
  return {
    take(peer) {
      const before = holder;
      holder = peer;
      if (before && before !== peer) before.close();
    },
    holds: (peer) => peer === holder,
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
