/** One request of a client, from its arrival until its answer was written or is no longer wanted. */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import type { OperationRecord } from "../../shared/operation/operation.js";
import type { Requester } from "../../shared/operation/replay.js";
import type { Instant } from "../../shared/pipe/frames.js";
import type { TraceContext } from "../../shared/traces.js";

/** The way back to the client for one request. */
export interface Channel {
  /** Aborted once the client can no longer be answered here. */
  readonly gone: AbortSignal;
  /** Sends an answer; true once it has left this process, false if the client was gone by then. */
  write(answer: JSONRPCMessage): Promise<boolean>;
  /**
   * The number of the last message of the client that had been read when the answer was written, where that is known
   * elsewhere than here.
   */
  readonly readUpTo?: number | undefined;
  /** Calls back if the connection is reset so soon after the answer that its client cannot have read it. */
  onReset?(callback: () => void): void;
  /** The request goes on after its connection was lost: it arrived before, perhaps at another gateway. */
  readonly isResumed?: boolean;
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
export interface OpenRequest {
  /** The client's own id. */
  readonly id: RequestId;
  readonly requester: Requester;
  /** The log_id that its operation gets, if it makes one; undefined: any. */
  readonly logId: string | undefined;
  /** What the request belongs to, if that stands beside it. */
  readonly trace: TraceContext | undefined;
  /** Ends the wait: the client cancelled it, the client is gone, or the gateway closes. Never affects the operation. */
  readonly signal: AbortSignal;
  /** The part that must happen in order of arrival is done: the client's next message may be handled. Idempotent. */
  accepted(): void;
  /**
   * For a handler that gave back its turn to wait for the client: waits until every message that came meanwhile was
   * accepted, then takes a turn until the next `accepted()`. Rejects if nothing may be accepted.
   */
  turnAgain(): Promise<void>;
  /** The request created this operation (as opposed to finding it). */
  created(logId: string): void;
  /** The request waits for this operation from now on. */
  underWay(waited: WaitedFor): void;
  /** The answer carries the outcome of this operation. */
  delivers(operation: DeliveredOperation): void;
}

/** What a call waits for. */
export interface WaitedFor {
  logId: string;
  relation: "created" | "joined" | "replayed";
  /** A caller had proven before that it read the outcome, which is replayed. */
  isConfirmed?: boolean | undefined;
  ms: number;
}

/** The operation whose outcome an answer carries. */
export type DeliveredOperation = Pick<OperationRecord, "logId" | "effect">;

/** A request as the tracker sees it. */
export interface RequestEntry extends OpenRequest {
  readonly channel: Channel;
  /** The earliest time at which its client can have sent it. */
  readonly sentAt: Instant;
  /** The answer is no longer wanted: cancelled, client gone, or sent again under the same id. */
  readonly isDropped: boolean;
  readonly delivered: DeliveredOperation | undefined;
  /** Resolves with the `accepted()` that ends the present turn. */
  readonly turnOver: Promise<void>;
  drop(): void;
  endWait(): void;
  /** Releases the channel, which on stdio outlives every request. */
  release(): void;
}

export function createRequestEntry(
  requester: Requester,
  id: RequestId,
  channel: Channel,
  sentAt: Instant,
  {
    created,
    resume,
  }: { created: (logId: string) => void; resume: (begun: () => Promise<void>) => Promise<void> },
): RequestEntry {
  const wait = new AbortController();
  let isDropped = channel.gone.aborted;
  let delivered: RequestEntry["delivered"];
  let turn = createTurn();
  const drop = (): void => {
    isDropped = true;
    wait.abort();
  };
  channel.gone.addEventListener("abort", drop, { once: true });
  if (isDropped) wait.abort();
  return {
    requester,
    logId: channel.logId,
    trace: channel.trace,
    id,
    channel,
    sentAt,
    signal: wait.signal,
    get turnOver() {
      return turn.over;
    },
    accepted: () => turn.end(),
    turnAgain: () =>
      resume(() => {
        turn = createTurn();
        return turn.over;
      }),
    created,
    underWay: (waited) => channel.underWay?.(waited),
    delivers(operation) {
      delivered = operation;
    },
    get isDropped() {
      return isDropped;
    },
    get delivered() {
      return delivered;
    },
    drop,
    endWait: () => wait.abort(),
    release: () => channel.gone.removeEventListener("abort", drop),
  };
}

function createTurn(): { over: Promise<void>; end: () => void } {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end };
}
