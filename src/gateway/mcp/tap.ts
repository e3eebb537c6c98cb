/**
 * Sits between a transport and the SDK's server: sees every message of one client in order, and every answer when it
 * has really been written. What it learns decides whether an identical call is a retry or a new call (▲6 ▲7).
 *
 * - Messages are handled one after the other; what a written answer delivered is stored before the next message is
 *   handled, and before the first byte where the tool is repeatable. Only accepting a call takes its turn, waiting for
 *   its outcome does not.
 * - Over stdio requests are ordered by their arrival, over HTTP by their ids.
 * - Requests get an id of our own towards the SDK: a client (or a proxy) that sends a request again under its old id
 *   is answered where it asked last, and the older copy is dropped.
 * - Our own requests get an id that no other gateway, and no later life of this session, gives: the answer to a question
 *   that is not open here answers none.
 * - `notifications/cancelled` ends here. The SDK would forget the request, but every request must come to one end.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import type { Caller } from "../../shared/operation.js";
import { createRecent } from "../../shared/redis/recent.js";
import { createCreations } from "../abandoned.js";
import type { Answered, Deliveries } from "../deliveries.js";
import { createArrivalClock, since } from "./arrival-clock.js";
import { type Channel, createRequestEntry, type OpenRequest, type RequestEntry } from "./open-request.js";
import { createOwnIds } from "./own-ids.js";
import { createTurns } from "./turns.js";

/** Cancellations of answered requests come soon after the answer, if at all. */
const REMEMBERED = 200;

/** A transport, and what the tap must know about its way back. */
export interface Line {
  transport: Transport;
  /** Sends what is no answer: progress, changes of the tool list. */
  notify(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>;
  channelOf(extra: MessageExtraInfo | undefined): Channel;
}

export interface Tap {
  /** For the SDK's server. */
  transport: Transport;
  /** By the id that the SDK's server sees. */
  request(id: RequestId): OpenRequest;
  /** Every open and later wait ends at once and is answered as if its time was over. */
  endWaits(): void;
  /** The client will say nothing more: answers are still written, but a mutating tool's do not count as delivered. */
  hushed(): void;
  /** Resolves when every message was handled, every answer written, and every delivery stored. */
  idle(): Promise<void>;
}

export interface TapDeps {
  deliveries: Pick<Deliveries, "delivered" | "retracted">;
  caller: Caller;
  log: Log;
  /** The client cancelled the unanswered request that created this operation. */
  abandoned?: (logId: string) => void;
}

export function tapTransport(line: Line, deps: TapDeps): Tap {
  const { caller, deliveries, log } = deps;
  const inner = line.transport;
  const turns = createTurns((error) => log.warn({ error: error.message }, "a message could not be handled"));
  const creations = createCreations((logId) => deps.abandoned?.(logId));
  /** By the id that the SDK sees. */
  const open = new Map<RequestId, RequestEntry>();
  /** By the client's id. */
  const newest = new Map<RequestId, RequestEntry>();
  /** Retractions that the store did not take yet: no call may be accepted before it has them. */
  const owed = new Set<RequestId>();
  let idleWaiters: (() => void)[] = [];
  /** Of requests that were answered lately, what orders them: by the client's id. */
  const answered = createRecent<RequestId>(REMEMBERED);
  const clock = createArrivalClock();
  const ownIds = createOwnIds();
  const isOrderedByArrival = caller.transport === "stdio";
  let arrived = 0;
  let lastId = 0;
  let waitsEnded = false;
  let isHushed = false;
  let isClosed = false;

  /**
   * A message takes its turn after the events of this moment: the client may have sent it because of an answer whose
   * write is done, but whose callback has not been called yet.
   */
  const inTurn = (task: () => Promise<void>): void => void setImmediate(() => turns.add(task));

  const isCounted = (entry: RequestEntry): boolean => !entry.isDropped && !isHushed;

  const retract = async (id: RequestId): Promise<void> => {
    owed.add(id);
    await deliveries.retracted({ caller, requestId: id });
    owed.delete(id);
  };

  /** Resolves in a turn that lasts as long as what is begun in it; rejects while a retraction is not stored. */
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
    // At once, not in its turn: an answer that is written from now on does not count.
    entry?.drop();
    log.debug({ requestId: id, answered: entry === undefined }, "the client gave up a request");
    creations.cancelled(id);
    const requestId = entry?.requester.requestId ?? answered.get(String(id));
    if (requestId !== undefined && requestId !== null) inTurn(() => retract(requestId));
  };

  const requested = (message: JSONRPCRequest, extra: MessageExtraInfo | undefined): void => {
    creations.asked(message.id);
    const requester = { caller, requestId: isOrderedByArrival ? arrived : message.id };
    const created = (logId: string): void => creations.created(message.id, logId);
    const channel = line.channelOf(extra);
    const entry = createRequestEntry(requester, message.id, channel, clock.arrival(), { created, resume });
    lastId += 1;
    const sdkId = lastId;
    newest.get(message.id)?.drop();
    open.set(sdkId, entry);
    newest.set(message.id, entry);
    if (waitsEnded) entry.endWait();
    const isCall = message.method === "tools/call";
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

  /** As of now; over stdio everything that has arrived by now was sent before the answer was read. */
  const answeredNow = ({ sentAt }: RequestEntry): Answered => ({
    tookMs: since(sentAt),
    upTo: isOrderedByArrival ? arrived : undefined,
  });

  /** ▲6 A repeatable tool's answer counts from before its first byte, whether it is read or not: unnoted, it is not given. */
  const notedBefore = async (entry: RequestEntry, message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    if (entry.told?.effect !== "repeatable" || entry.isDropped) return message;
    try {
      await deliveries.delivered(entry.requester, entry.told.logId, answeredNow(entry));
      return message;
    } catch (error) {
      log.warn({ error: (error as Error).message }, "a delivery is not stored; the outcome is not told");
      return storeAway(entry.id);
    }
  };

  const answer = async (sdkId: RequestId, unnoted: JSONRPCMessage): Promise<void> => {
    const entry = open.get(sdkId);
    if (!entry) return;
    entry.accepted();
    const message = await notedBefore(entry, unnoted);
    const wasDropped = entry.isDropped;
    if (wasDropped) log.debug({ requestId: entry.id }, "nobody waits for this answer any more");
    const isNewest = newest.get(entry.id) === entry;
    if (!wasDropped) creations.answering(entry.id);
    const written = wasDropped ? false : await entry.channel.write(message).catch(() => false);
    if (wasDropped && isNewest) await entry.channel.discard(message).catch(() => undefined);
    const { told } = entry;
    if (written && told && told.effect !== "repeatable" && isCounted(entry)) {
      const at = answeredNow(entry);
      turns.add(() => deliveries.delivered(entry.requester, told.logId, at));
      const { requestId } = entry.requester;
      if (told.effect === "mutating" && requestId !== null) {
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
    else log.debug({}, "an answer to no question of this server; ignored");
  };

  const tellIdle = (): void => {
    for (const resolve of idleWaiters) resolve();
    idleWaiters = [];
  };

  const transport: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        arrived += 1;
        const id = cancellationOf(message);
        if (id !== undefined) cancelled(id);
        else if (isRequest(message)) requested(message, extra);
        else inTurn(async () => heard(message, extra));
      };
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        isClosed = true;
        clock.close();
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
      // Kept when the transport closes: a call that has arrived is still accepted.
      const entry = open.get(id);
      if (!entry) throw new Error(`request ${id} is not open`);
      return entry;
    },
    endWaits() {
      waitsEnded = true;
      for (const entry of open.values()) entry.endWait();
    },
    hushed() {
      isHushed = true;
    },
    async idle() {
      await nextTurn();
      await turns.settled();
      if (open.size > 0 && !isClosed) await new Promise<void>((resolve) => idleWaiters.push(resolve));
      await turns.settled();
    },
  };
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

function isResponse(message: JSONRPCMessage): message is JSONRPCMessage & { id: RequestId } {
  return !("method" in message) && message.id !== undefined;
}

/** The request that a message gives up; undefined when it is another message. */
function cancellationOf(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.requestId;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function storeAway(id: RequestId): JSONRPCMessage {
  const { rpc, next } = ERRORS.STORE_UNAVAILABLE;
  return {
    jsonrpc: "2.0",
    id,
    error: { code: rpc, message: next, data: { error_code: "STORE_UNAVAILABLE" } },
  };
}
