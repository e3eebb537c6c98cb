/**
 * Requests that come alone, each on an exchange of its own and without a session: what is written to one is noted as what is
 * written to a session is.
 */
import type { JSONRPCMessage, JSONRPCRequest, Transport } from "@modelcontextprotocol/server";
import type { Log } from "../../shared/log.js";
import type { Caller } from "../../shared/operation/operation.js";
import { createArrivalClock } from "../../shared/pipe/arrival-clock.js";
import type { Deliveries } from "../deliveries.js";
import type { Channel, OpenRequest } from "./open-request.js";
import { type RequestTracker, trackRequests } from "./request-tracker.js";

export interface LoneRequest {
  message: JSONRPCRequest;
  caller: Caller | null;
  channel: Channel;
  /** Sends what comes before the answer; without it nothing does. */
  notify?(message: JSONRPCMessage): void;
  /** Never rejects. `notify`: sends a notification that belongs to the request. */
  answer(
    message: JSONRPCRequest,
    request: OpenRequest,
    notify: (method: string, params: Record<string, unknown>) => void,
  ): Promise<JSONRPCMessage>;
}

export interface LoneRequests {
  /** Resolves when the exchange is over and everything that is to be stored of it is there. */
  serve(lone: LoneRequest): Promise<void>;
  /** Answers open waits as if their time was over; takes at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

export function createLoneRequests({
  deliveries,
  log,
}: {
  deliveries: Pick<Deliveries, "delivered" | "retracted">;
  log: Log;
}): LoneRequests {
  const clock = createArrivalClock();
  const open = new Map<RequestTracker, Promise<void>>();

  return {
    async serve({ message, caller, channel, notify, answer }) {
      const line = createLine();
      const tracker = trackRequests(
        {
          transport: line,
          notify: async (notification) => notify?.(notification),
          channelOf: () => channel,
          arrivals: { next: () => ({ number: 1, sentAt: clock.arrival() }), close: () => undefined },
        },
        { deliveries, caller, log },
      );
      const { transport } = tracker;
      transport.onmessage = (asked) => {
        const own = asked as JSONRPCRequest;
        const tell = (method: string, params: Record<string, unknown>): void =>
          void transport.send({ jsonrpc: "2.0", method, params }, { relatedRequestId: own.id });
        void answer(own, tracker.request(own.id), tell)
          .then((said) => transport.send(said))
          .catch((error: Error) => log.debug({ error: error.message }, "an answer was not written"));
      };
      await transport.start();
      const over = tracker.idle().finally(() => open.delete(tracker));
      open.set(tracker, over);
      line.onmessage?.(message);
      await over;
      await line.close();
    },

    async close(deadlineMs) {
      clock.close();
      for (const tracker of open.keys()) tracker.endWaits();
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([Promise.all(open.values()), deadline]);
      clearTimeout(timer);
    },
  };
}

/** A line of one request. */
function createLine(): Transport {
  const line: Transport = {
    start: async () => undefined,
    // Answers and notifications are written by the tracker, which sees them on their way.
    send: async () => undefined,
    close: async () => line.onclose?.(),
  };
  return line;
}
