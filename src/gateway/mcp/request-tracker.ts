/**
 * Sits between a session's transport and the SDK's server: sees every message of one client in order, and hands each answer
 * through its exchange (../exchange.ts).
 *
 * - Messages are handled one after the other. Only accepting a call occupies its turn, not waiting for the outcome.
 * - Requests get our own ids towards the SDK: a client (or a proxy) that sends a request again under its old id is
 *   answered at the newer one, and the older copy is dropped.
 * - Our own requests get ids that no other gateway, and no later life of this session, uses: an answer to a question that
 *   is not open here is ignored.
 * - `notifications/cancelled` ends here. The SDK would forget the request, but every request must come to one end.
 */
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import type { Caller, TraceContext } from "../../shared/operation/operation.js";
import { saysRead } from "../../shared/principal.js";
import type { Log } from "../../shared/telemetry.js";
import type { Exchange, Exchanges, Way } from "../exchange.js";
import {
  cancellationOf,
  idTooLong,
  isRequest,
  isResponse,
  isTooLong,
  isToolCall,
  nothing,
  storeAway,
} from "./read-message.js";

// One request of a client, as its handler sees it, and the way back for its answer.

/** The way back to the client for one request. */
export interface Channel extends Way {
  /** Sends an answer; true once it has left this process, false if the client was gone by then. */
  write(answer: JSONRPCMessage): Promise<boolean>;
  /** The client sent the request once; another broker may have received it before this one. */
  readonly isResent?: boolean;
  /** The log_id that the request's operation gets, if it makes one; undefined: any. */
  readonly logId?: string | undefined;
  /** What the request belongs to, if that stands beside it (in headers). */
  readonly trace?: TraceContext | undefined;
  /** Tells the client how it goes on waiting for this if its connection is lost. */
  underWay?(waited: WaitedFor): void;
  /** Frees resources of an answer that is no longer wanted. */
  discard(answer: JSONRPCMessage): Promise<void>;
}

/** A request as its handler sees it. */
export interface OpenRequest
  extends Pick<Exchange, "caller" | "signal" | "isAwaited" | "waitsFor" | "names" | "delivers"> {
  /** The client's own id. */
  readonly id: RequestId;
  /** The log_id that its operation gets, if it makes one; undefined: any. */
  readonly logId: string | undefined;
  readonly isResent: boolean;
  /** What the request belongs to, if that stands beside it. */
  readonly trace: TraceContext | undefined;
  /** The part that must happen in order of arrival is done: the client's next message may be handled. Idempotent. */
  accepted(): void;
  /**
   * For a handler that gave back its turn to wait for the client: waits until every message that came meanwhile was
   * accepted, then takes a turn until the next `accepted()`.
   */
  turnAgain(): Promise<void>;
  /** The request waits for the outcome of this operation from now on. */
  underWay(waited: WaitedFor): void;
}

/** What a call waits for. */
export interface WaitedFor {
  logId: string;
  relation: "created" | "joined" | "replayed";
  /** Its caller has read the outcome, which is replayed. */
  isConfirmed?: boolean | undefined;
  ms: number;
}

/** A request that comes alone: nothing has to be handled before or after it. */
export function loneRequest(exchange: Exchange, channel: Channel, id: RequestId): OpenRequest {
  return {
    ...requestOf(exchange, channel, id),
    accepted: () => undefined,
    turnAgain: async () => undefined,
  };
}

/** What of a request does not depend on the order of its client's messages. */
function requestOf(
  exchange: Exchange,
  { logId, isResent = false, trace, underWay }: Channel,
  id: RequestId,
): Omit<OpenRequest, "accepted" | "turnAgain"> {
  const { caller, signal, isAwaited, waitsFor, names, delivers } = exchange;
  return {
    ...{ id, caller, signal, isAwaited, waitsFor, names, delivers, logId, isResent, trace },
    underWay(waited) {
      waitsFor(waited.logId, waited.relation === "created");
      underWay?.(waited);
    },
  };
}

// The way between one client and its server, whatever carries it.

/** A transport, and what the tracker must know about its way back. */
export interface Line {
  transport: Transport;
  /** Sends messages that are not answers: progress, changes of the tool list. */
  notify(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>;
  channelOf(extra: MessageExtraInfo | undefined): Channel;
}

/** Runs one task at a time for one client, in the order of arrival. */
function createSerialQueue(onError: (error: Error) => void) {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Runs `task` once everything added before it has ended. A failing task is reported; the next one runs. */
    add(task: () => Promise<void> | void): void {
      last = last.then(task).catch((error: unknown) => onError(error as Error));
    },
    /** Resolves when everything added so far has ended. */
    settled: (): Promise<void> => last,
  };
}

// The ids of a server's own requests to its client. The SDK counts them from 0 in each server, and a session may have
// several servers, one after another or at once: an answer to one server's question must not reach another's. (The SDK's
// client also ignores the cancellation of request 0, typescript-sdk#2283.)

export interface OwnIds {
  /** The message with ids as they are sent. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage;
  /** The message with ids as the SDK knows them; undefined if it answers a request that this server did not make. */
  incoming(message: JSONRPCMessage): JSONRPCMessage | undefined;
}

export function createOwnIds(): OwnIds {
  const prefix = `${randomUUID()}:`;
  return {
    outgoing(message) {
      if (!("method" in message)) return message;
      if ("id" in message) return { ...message, id: `${prefix}${message.id}` };
      const requestId = message.params?.requestId;
      if (message.method !== "notifications/cancelled" || requestId === undefined) return message;
      return { ...message, params: { ...message.params, requestId: `${prefix}${String(requestId)}` } };
    },

    incoming(message) {
      if ("method" in message) return message;
      const id = String(message.id ?? "");
      const own = id.startsWith(prefix) ? id.slice(prefix.length) : "";
      // Digits only: Number("") is 0.
      return /^\d+$/.test(own) ? { ...withoutTask(message), id: Number(own) } : undefined;
    },
  };
}

/** None of our requests asks for a task, but the SDK remembers every task named in an answer for the whole session. */
function withoutTask<T extends JSONRPCResponse>(message: T): T {
  if (!("result" in message) || !isObject(message.result)) return message;
  const { task: _, ...result } = message.result;
  return { ...message, result };
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

export interface RequestTracker {
  /** For the SDK's server. */
  transport: Transport;
  /** By the id that the SDK's server sees. */
  request(id: RequestId): OpenRequest;
  /** Ends every open and later wait at once, as if its time was over. */
  endWaits(): void;
  /** The client will send nothing more: answers are still written, but a mutating tool's do not count as delivered. */
  inputEnded(): void;
  /** Resolves when every message was handled and every answer written. */
  idle(): Promise<void>;
}

export interface RequestTrackerDeps {
  exchanges: Pick<Exchanges, "open">;
  principal: string;
  /** Who sends what arrives now. `arrived`: what it declares in an `initialize` that may not have had its turn yet. */
  caller: (arrived: unknown) => Caller;
  log: Log;
}

/** Cancellations come while a request is open, or soon after its connection was lost. */
const REMEMBERED = 200;

/** A cancellation that came longer than this before a request is that of an earlier one with the same id, ms. */
const EARLY_MS = 10_000;

interface Entry {
  readonly exchange: Exchange;
  readonly channel: Channel;
  readonly request: OpenRequest;
  /** Resolves when the present turn of the request is over. */
  readonly turnOver: Promise<void>;
}

export function trackRequests(line: Line, deps: RequestTrackerDeps): RequestTracker {
  const { exchanges, principal, log } = deps;
  const inner = line.transport;
  const turns = createSerialQueue((error) =>
    log.warn({ error: error.message }, "a message could not be handled"),
  );
  /** By the id that the SDK sees. */
  const open = new Map<RequestId, Entry>();
  /** By the client's id. */
  const newest = createBoundedMemory<Entry>(REMEMBERED);
  /** Cancellations that came before their requests, by the client's id: over HTTP one may overtake the other. */
  const early = createBoundedMemory<{ reason: string | undefined; at: number }>(REMEMBERED);
  const idleWaiters: (() => void)[] = [];
  const ownIds = createOwnIds();
  let declared: unknown;
  let lastId = 0;
  let waitsEnded = false;
  let hasInputEnded = false;
  let isClosed = false;

  /**
   * A message is handled after the events of this moment: the client may have sent it because of an answer that is written,
   * but whose write callback has not been called yet.
   */
  const inTurn = (task: () => Promise<void>): void => void setImmediate(() => turns.add(task));

  const cancelled = (id: RequestId, reason: string | undefined): void => {
    const entry = latest(id);
    log.debug(
      { requestId: id, isOpen: entry !== undefined && isOpen(entry) },
      "the client cancelled a request",
    );
    // At once, out of turn: an answer that is written from now on does not count.
    if (entry) entry.exchange.cancelled(reason);
    else early.set(keyOf(id), { reason, at: performance.now() });
  };

  /** The newest request of the client's with this id; one that is open is never forgotten. */
  const latest = (id: RequestId): Entry | undefined =>
    newest.get(keyOf(id)) ?? [...open.values()].findLast(({ request }) => keyOf(request.id) === keyOf(id));

  const isOpen = (entry: Entry): boolean => [...open.values()].includes(entry);

  const requested = (message: JSONRPCRequest, extra: MessageExtraInfo | undefined): void => {
    // A pipe that has a new broker says all at once.
    if (message.method === "initialize") declared = message.params?.capabilities;
    const channel = line.channelOf(extra);
    const exchange = exchanges.open({
      ...{ principal, caller: deps.caller(declared), way: channel },
      isCounted: () => !hasInputEnded,
      saysRead: saysRead(message.params),
    });
    const entry = createEntry(exchange, channel, message.id);
    const key = keyOf(message.id);
    const before = latest(message.id);
    before?.exchange.drop();
    if (channel.isResumed && before?.exchange.isCancelled) exchange.cancelled(undefined);
    const cancellation = early.get(key);
    early.delete(key);
    if (cancellation && performance.now() - cancellation.at < EARLY_MS)
      exchange.cancelled(cancellation.reason);
    lastId += 1;
    const sdkId = lastId;
    open.set(sdkId, entry);
    newest.set(key, entry);
    if (waitsEnded) exchange.endWait();
    const isCall = isToolCall(message);
    inTurn(async () => {
      // Nobody waits for it any more, and nothing has come of it: it does not begin.
      if (isCall && !(await exchange.isAwaited())) {
        // Unless an earlier broker has accepted it.
        if (channel.isResent && channel.logId !== undefined) exchange.waitsFor(channel.logId, true);
        return answer(sdkId, nothing(message.id));
      }
      transport.onmessage?.({ ...message, id: sdkId }, extra);
      if (isCall) await entry.turnOver;
    });
  };

  const createEntry = (exchange: Exchange, channel: Channel, id: RequestId): Entry => {
    let turn = createTurn();
    const request: OpenRequest = {
      ...requestOf(exchange, channel, id),
      accepted: () => turn.end(),
      turnAgain: () =>
        new Promise((begun) =>
          inTurn(() => {
            turn = createTurn();
            begun();
            return turn.over;
          }),
        ),
    };
    return {
      exchange,
      channel,
      request,
      get turnOver() {
        return turn.over;
      },
    };
  };

  const answer = async (sdkId: RequestId, message: JSONRPCMessage): Promise<void> => {
    const entry = open.get(sdkId);
    if (!entry) return;
    const { exchange, channel, request } = entry;
    request.accepted();
    await exchange.answer((mayTell) => channel.write(mayTell ? message : storeAway(request.id)));
    if (exchange.isDropped) log.debug({ requestId: request.id }, "this answer is no longer wanted");
    if (exchange.isDropped && newest.get(keyOf(request.id)) === entry)
      await channel.discard(message).catch(() => undefined);
    open.delete(sdkId);
    if (open.size === 0) tellIdle();
  };

  const refuse = (id: RequestId, channel: Channel): void => {
    channel.write(idTooLong(id)).catch(() => log.debug({}, "the refusal of a long request id was not read"));
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
        const cancellation = cancellationOf(message);
        if (cancellation) cancelled(cancellation.id, cancellation.reason);
        else if (isRequest(message) && isTooLong(message.id)) refuse(message.id, line.channelOf(extra));
        else if (isRequest(message)) requested(message, extra);
        else inTurn(async () => heard(message, extra));
      };
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        isClosed = true;
        for (const { exchange, request } of open.values()) {
          exchange.drop();
          request.accepted();
          void exchange.answer(async () => false);
        }
        tellIdle();
        transport.onclose?.();
      };
      await inner.start();
    },

    async send(message, options) {
      if (isResponse(message)) {
        const id = open.get(message.id)?.request.id;
        if (id !== undefined) await answer(message.id, { ...message, id });
        return;
      }
      const related = options?.relatedRequestId;
      const id = related === undefined ? undefined : open.get(related)?.request.id;
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
      return entry.request;
    },
    endWaits() {
      waitsEnded = true;
      for (const { exchange } of open.values()) exchange.endWait();
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

const keyOf = (id: RequestId): string => `${typeof id} ${id}`;

function createTurn(): { over: Promise<void>; end: () => void } {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end };
}
