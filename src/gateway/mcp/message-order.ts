/** The order in which a client's messages arrive, and when each can have been sent (▲7). */
import { createArrivalClock } from "../../shared/pipe/arrival-clock.js";
import type { Instant } from "../../shared/pipe/frames.js";

/** Which message of the client is being handed on, and when it can have been sent. Asked while it is. */
export interface MessageOrder {
  next(): { number: number; sentAt: Instant };
  /** The number of the first message of this gateway's life; earlier ones went to another gateway. */
  readonly since?: number | undefined;
  close(): void;
}

/** Of a client that is read here. */
export function createMessageOrder(): MessageOrder {
  const clock = createArrivalClock();
  let number = 0;
  return {
    next() {
      number += 1;
      return { number, sentAt: clock.arrival() };
    },
    close: clock.close,
  };
}
