/** One request of a client, as its handler sees it, and the way back for its answer. */
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import type { TraceContext } from "../../shared/traces.js";
import type { Exchange, Way } from "../exchange.js";

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
export function requestOf(
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
