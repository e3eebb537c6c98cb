/** One request of a client, from its arrival until its answer was written or nobody wants it any more. */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { OperationRecord } from "../../shared/operation.js";
import type { Requester } from "../../shared/replay.js";
import type { Instant } from "./arrival-clock.js";

/** The way back to the client for one request. */
export interface Channel {
  /** Aborted once the client cannot be answered here any more. */
  readonly gone: AbortSignal;
  /** Sends an answer; true once it has left this process, false when the client was gone by then. */
  write(answer: JSONRPCMessage): Promise<boolean>;
  /** Calls back if the connection is reset so soon after the answer that its client cannot have read it. */
  onReset?(callback: () => void): void;
  /** Frees what was kept for an answer that nobody wants any more. */
  discard(answer: JSONRPCMessage): Promise<void>;
}

/** What a handler sees of its request. */
export interface OpenRequest {
  readonly requester: Requester;
  /** Ends the wait: given up by the client, the client is gone, or the gateway closes. Never touches the operation. */
  readonly signal: AbortSignal;
  /** What had to be in the order of arrival is done: the client's next message may be handled. May be called twice. */
  accepted(): void;
  /**
   * Waits until every message that came meanwhile was accepted, and takes a turn again, for who gave it back to wait for
   * the client. It lasts until the next `accepted()`. Rejects where nothing may be accepted.
   */
  turnAgain(): Promise<void>;
  /** The request made this operation, and did not find it. */
  created(logId: string): void;
  /** The answer carries the outcome of this operation. */
  tells(operation: Told): void;
}

/** The operation whose outcome an answer carries. */
export type Told = Pick<OperationRecord, "logId" | "effect">;

/** What the tap sees of it. */
export interface RequestEntry extends OpenRequest {
  /** The client's own id. */
  readonly id: RequestId;
  readonly channel: Channel;
  /** When its client can have sent it, at the earliest. */
  readonly sentAt: Instant;
  /** Nobody wants the answer: given up, gone, or sent again under the same id. */
  readonly isDropped: boolean;
  readonly told: Told | undefined;
  /** Resolves with the `accepted()` that ends the present turn. */
  readonly turnOver: Promise<void>;
  drop(): void;
  endWait(): void;
  /** Lets go of the channel, which on stdio outlives every request. */
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
  let told: RequestEntry["told"];
  let turn = createTurn();
  const drop = (): void => {
    isDropped = true;
    wait.abort();
  };
  channel.gone.addEventListener("abort", drop, { once: true });
  if (isDropped) wait.abort();
  return {
    requester,
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
    tells(operation) {
      told = operation;
    },
    get isDropped() {
      return isDropped;
    },
    get told() {
      return told;
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
