/**
 * Sits between a transport and the SDK's server: sees every message of one client in order, and knows when an answer was
 * really written. From this it is decided whether an identical call is a retry or a new call (▲6 ▲7).
 *
 * - Messages are handled one after the other. The delivery of a written answer is stored before the next message is
 *   handled, and for a repeatable tool before the first byte. Only accepting a call occupies its turn, not waiting for
 *   the outcome.
 * - Over stdio requests are ordered by arrival, over HTTP by their ids; stateless ones have no order.
 * - Requests get our own ids towards the SDK: a client (or a proxy) that sends a request again under its old id is
 *   answered at the newer one, and the older copy is dropped.
 * - Our own requests get ids that no other gateway, and no later life of this session, uses: an answer to a question that
 *   is not open here is ignored.
 * - `notifications/cancelled` ends here. The SDK would forget the request, but every request must come to one end.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
  Transport,
} from "@modelcontextprotocol/server";
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import { BrokerError } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import type { Caller } from "../../shared/operation/operation.js";
import { since } from "../../shared/pipe/arrival-clock.js";
import { createCreations } from "../abandonment.js";
import type { Answered, Deliveries } from "../deliveries.js";
import type { Line } from "./line.js";
import {
  cancellationOf,
  idTooLong,
  isRequest,
  isResponse,
  isTooLong,
  isToolCall,
  storeAway,
} from "./message-kinds.js";
import { createMessageOrder, type MessageOrder } from "./message-order.js";
import { type Channel, createRequestEntry, type OpenRequest, type RequestEntry } from "./open-request.js";
import { createOwnIds } from "./own-ids.js";
import { createSerialQueue } from "./serial-queue.js";

/** Cancellations of answered requests come soon after the answer, if at all. */
const REMEMBERED = 200;

export interface RequestTracker {
  /** For the SDK's server. */
  transport: Transport;
  /** By the id that the SDK's server sees. */
  request(id: RequestId): OpenRequest;
  /** Ends every open and later wait at once, as if its time was over. */
  endWaits(): void;
  /** The client will send nothing more: answers are still written, but a mutating tool's do not count as delivered. */
  inputEnded(): void;
  /** Resolves when every message was handled, every answer written, and every delivery stored. */
  idle(): Promise<void>;
}

export interface RequestTrackerDeps {
  deliveries: Pick<Deliveries, "delivered" | "retracted">;
  caller: Caller | null;
  log: Log;
  /** The client cancelled the unanswered request that created this operation. */
  abandoned?: (logId: string) => void;
}

export function trackRequests(line: Line, deps: RequestTrackerDeps): RequestTracker {
  const { caller, deliveries, log } = deps;
  const inner = line.transport;
  const turns = createSerialQueue((error) =>
    log.warn({ error: error.message }, "a message could not be handled"),
  );
  const creations = createCreations((logId) => deps.abandoned?.(logId));
  /** By the id that the SDK sees. */
  const open = new Map<RequestId, RequestEntry>();
  /** By the client's id. */
  const newest = new Map<RequestId, RequestEntry>();
  /** Retractions that are not stored yet: until they are, no call may be accepted. */
  const owed = new Set<RequestId>();
  const idleWaiters: (() => void)[] = [];
  /** The ordering values of recently answered requests, by the client's id. */
  const answered = createBoundedMemory<RequestId>(REMEMBERED);
  const arrivals = line.arrivals ?? createMessageOrder();
  const ownIds = createOwnIds();
  const isOrderedByArrival = caller?.transport === "stdio";
  let arrived = arrivals.since ?? 0;
  let lastId = 0;
  let waitsEnded = false;
  let hasInputEnded = false;
  let isClosed = false;

  /**
   * A message is handled after the events of this moment: the client may have sent it because of an answer that is written,
   * but whose write callback has not been called yet.
   */
  const inTurn = (task: () => Promise<void>): void => void setImmediate(() => turns.add(task));

  const isCounted = (entry: RequestEntry): boolean => !entry.isDropped && !hasInputEnded;

  const retract = async (id: RequestId): Promise<void> => {
    owed.add(id);
    await deliveries.retracted({ caller, requestId: id });
    owed.delete(id);
  };

  /** Resolves in a turn that lasts as long as `begin`; rejects while a retraction is not stored. */
  const resume = (begin: () => Promise<void>): Promise<void> =>
    new Promise((begun, failed) => {
      inTurn(async () => {
        try {
          for (const id of owed) await retract(id);
        } catch (error) {
          return failed(new BrokerError("STORE_UNAVAILABLE", "", {}, error));
        }
        const over = begin();
        begun();
        return over;
      });
    });

  const cancelled = (id: RequestId): void => {
    const entry = newest.get(id);
    // At once, out of turn: an answer that is written from now on does not count.
    entry?.drop();
    log.debug({ requestId: id, answered: entry === undefined }, "the client gave up a request");
    creations.cancelled(id);
    const requestId = entry?.requester.requestId ?? answered.get(String(id));
    if (requestId !== undefined && requestId !== null) inTurn(() => retract(requestId));
  };

  const requested = (
    message: JSONRPCRequest,
    extra: MessageExtraInfo | undefined,
    { number, sentAt }: ReturnType<MessageOrder["next"]>,
  ): void => {
    const requestId = caller === null ? null : isOrderedByArrival ? number : message.id;
    const requester = { caller, requestId, since: arrivals.since };
    const created = (logId: string): void => creations.created(message.id, logId);
    const channel = line.channelOf(extra);
    const entry = createRequestEntry(requester, message.id, channel, sentAt, { created, resume });
    lastId += 1;
    const sdkId = lastId;
    newest.get(message.id)?.drop();
    open.set(sdkId, entry);
    newest.set(message.id, entry);
    if (!creations.asked(message.id, channel.isResumed)) entry.drop();
    if (waitsEnded) entry.endWait();
    const isCall = isToolCall(message);
    inTurn(async () => {
      try {
        for (const id of owed) await retract(id);
      } catch (error) {
        log.warn({ error: (error as Error).message }, "a retraction is still not stored");
        if (isCall) return answer(sdkId, storeAway(message.id));
      }
      transport.onmessage?.({ ...message, id: sdkId }, extra);
      if (isCall) await entry.turnOver;
    });
  };

  const refuse = (id: RequestId, channel: Channel): void => {
    channel.write(idTooLong(id)).catch(() => log.debug({}, "the refusal of a long request id was not read"));
  };

  /** As of now; over stdio everything that has arrived by now was sent before the answer was read. */
  const answeredNow = ({ sentAt, channel }: RequestEntry): Answered => ({
    tookMs: since(sentAt),
    upTo: isOrderedByArrival ? (channel.readUpTo ?? arrived) : undefined,
  });

  /**
   * Replay (▲6): a repeatable tool's answer counts from before its first byte, read or not. If it cannot be recorded it
   * is not sent.
   */
  const notedBefore = async (entry: RequestEntry, message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    if (entry.delivered?.effect !== "repeatable" || entry.isDropped) return message;
    try {
      await deliveries.delivered(entry.requester, entry.delivered.logId, answeredNow(entry));
      return message;
    } catch (error) {
      log.warn(
        { error: (error as Error).message },
        "a delivery could not be stored; the outcome is withheld",
      );
      return storeAway(entry.id);
    }
  };

  const answer = async (sdkId: RequestId, unnoted: JSONRPCMessage): Promise<void> => {
    const entry = open.get(sdkId);
    if (!entry) return;
    entry.accepted();
    const message = await notedBefore(entry, unnoted);
    const wasDropped = entry.isDropped;
    if (wasDropped) log.debug({ requestId: entry.id }, "this answer is no longer wanted");
    const isNewest = newest.get(entry.id) === entry;
    if (!wasDropped) creations.answering(entry.id);
    const written = wasDropped ? false : await entry.channel.write(message).catch(() => false);
    if (wasDropped && isNewest) await entry.channel.discard(message).catch(() => undefined);
    const { delivered } = entry;
    if (written && delivered && delivered.effect !== "repeatable" && isCounted(entry)) {
      const at = answeredNow(entry);
      turns.add(() => deliveries.delivered(entry.requester, delivered.logId, at));
      const { requestId } = entry.requester;
      if (delivered.effect === "mutating" && requestId !== null) {
        entry.channel.onReset?.(() => inTurn(() => retract(requestId)));
      }
    }
    ended(sdkId, entry);
  };

  const ended = (sdkId: RequestId, entry: RequestEntry): void => {
    open.delete(sdkId);
    answered.set(String(entry.id), entry.requester.requestId ?? entry.id);
    entry.release();
    if (newest.get(entry.id) === entry) newest.delete(entry.id);
    if (open.size === 0) tellIdle();
  };

  const heard = (message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void => {
    const meant = ownIds.incoming(message);
    if (meant) transport.onmessage?.(meant, extra);
    else log.debug({}, "ignored an answer to a question that this server did not ask");
  };

  const tellIdle = (): void => {
    for (const resolve of idleWaiters.splice(0)) resolve();
  };

  const transport: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        const arrival = arrivals.next();
        arrived = Math.max(arrived, arrival.number);
        const id = cancellationOf(message);
        if (isTooLong(id)) return;
        if (id !== undefined) cancelled(id);
        else if (isRequest(message) && isTooLong(message.id)) refuse(message.id, line.channelOf(extra));
        else if (isRequest(message)) requested(message, extra, arrival);
        else inTurn(async () => heard(message, extra));
      };
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        isClosed = true;
        arrivals.close();
        for (const entry of open.values()) {
          entry.drop();
          entry.accepted();
        }
        tellIdle();
        transport.onclose?.();
      };
      await inner.start();
    },

    async send(message, options) {
      if (isResponse(message)) {
        const id = open.get(message.id)?.id;
        if (id !== undefined) await answer(message.id, { ...message, id });
        return;
      }
      const related = options?.relatedRequestId;
      const id = related === undefined ? undefined : open.get(related)?.id;
      if (related !== undefined && id === undefined) return;
      await line.notify(ownIds.outgoing(message), { ...options, relatedRequestId: id });
    },

    close: () => inner.close(),
    get sessionId() {
      return inner.sessionId;
    },
  };

  return {
    transport,
    request(id) {
      // Not removed when the transport closes: a call that has arrived is still accepted.
      const entry = open.get(id);
      if (!entry) throw new Error(`request ${id} is not open`);
      return entry;
    },
    endWaits() {
      waitsEnded = true;
      for (const entry of open.values()) entry.endWait();
    },
    inputEnded() {
      hasInputEnded = true;
    },
    async idle() {
      await nextTurn();
      await turns.settled();
      if (open.size > 0 && !isClosed) await new Promise<void>((resolve) => idleWaiters.push(resolve));
      await turns.settled();
    },
  };
}
