/**
 * The vocabulary: an operation, its states and what may follow a state.
 *
 * Everything here is a pure value or function; the store writes what `next()` allows, and nothing else does.
 */
import type { RpcId } from "./rpc.js";
import type { Effect, ExecutionClass, Lane } from "./tool.js";
import type { Outcome } from "./wire.js";

/**
 * - `accepted`    the record exists, its job may not. The gateway moves it on; after a crash, whoever joins or the sweeper.
 * - `queued`      the job was added and read back. The Editor's owner moves it on; after a crash, the next owner.
 * - `dispatched`  claimed, bytes may be on their way. The Editor's answer moves it on; after a crash, the next owner
 *                 submits the same id again: the Editor attaches or runs it.
 * - `running`     the Editor said so. Its outcome moves it on; after a crash, the next owner attaches.
 * - `completed` `failed` `cancelled`  told by the Editor (or cancelled before it was sent). Final.
 * - `interrupted` the outcome is unknown and stays so. Final.
 * - `expired`     never sent: its Editor stayed away. Final.
 */
export const STATES = [
  "accepted",
  "queued",
  "dispatched",
  "running",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
  "expired",
] as const;
export type State = (typeof STATES)[number];

export type OperationEvent =
  | "job_added"
  | "claimed"
  | "returned"
  | "started"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted"
  | "expired";

/** What may follow a state; ARCHITECTURE.md draws the same table and a test compares them. */
export const TRANSITIONS: Readonly<Record<State, Partial<Record<OperationEvent, State>>>> = {
  accepted: { job_added: "queued", cancelled: "cancelled", expired: "expired" },
  queued: { claimed: "dispatched", cancelled: "cancelled", expired: "expired" },
  dispatched: {
    returned: "queued",
    started: "running",
    completed: "completed",
    failed: "failed",
    interrupted: "interrupted",
  },
  running: { completed: "completed", failed: "failed", cancelled: "cancelled", interrupted: "interrupted" },
  completed: {},
  failed: {},
  cancelled: {},
  interrupted: {},
  expired: {},
};

/** The state after an event; undefined where the table has no such edge (the event comes late or twice: ignore it). */
export function next(state: State, event: OperationEvent): State | undefined {
  return TRANSITIONS[state][event];
}

/** The state after several events in one write; undefined when any of them has no edge. */
export function nextAfter(state: State, events: readonly OperationEvent[]): State | undefined {
  return events.reduce<State | undefined>(
    (at, event) => (at === undefined ? undefined : next(at, event)),
    state,
  );
}

export function isFinal(state: State): boolean {
  return Object.keys(TRANSITIONS[state]).length === 0;
}

/**
 * The events by which an Editor's outcome enters a record: an execution that began but whose `running` notice was
 * missed is started first, a cancellation of what never began goes back through the queue.
 */
export function eventsOf(state: State, outcome: Outcome): OperationEvent[] {
  if (outcome.status !== "cancelled" || state !== "dispatched") return [outcome.status];
  return outcome.startedAt === undefined ? ["returned", "cancelled"] : ["started", "cancelled"];
}

/** `batch` goes behind everything interactive that waits when it is accepted. */
export type Band = "interactive" | "batch";

/** Who asked: one MCP session, one stdio process, or a token with a client id. */
export interface Caller {
  id: string;
  /** Only over stdio does the arrival of a later message say that a quick answer was read (▲7). */
  transport: "stdio" | "http";
}

/** An answer with the outcome that was written to a request of a caller that was still open. */
export interface Delivery {
  /** The answered request: over HTTP its JSON-RPC id, over stdio the number of its arrival. */
  requestId: RpcId;
  /** Requests besides it that were told the same and are not given up. */
  earlier?: RpcId[];
  /** Where larger than that: the last request that is known to have been sent before the answer, or its proof, was read. */
  upTo?: number;
  /** ms since the epoch, store clock. */
  at: number;
  /** How long the answered request had been open, ms, counted from when its client can have sent it. */
  tookMs: number;
  /** A later message of the caller named the log_id (▲7). */
  confirmed: boolean;
}

/** One accepted tool call. Times are ms since the epoch on the store's clock; arguments and result are stored beside it. */
export interface OperationRecord {
  logId: string;
  hash: string;
  /** SHA-256 of {tool, arguments}: what an idempotency key was first used for, and the Editor's `argumentsHash`. */
  fingerprint: string;
  principal: string;
  tool: string;
  effect: Effect;
  lane: Lane;
  cancellable: boolean;
  /** How long such a call usually takes; absent: unknown. */
  executionClass?: ExecutionClass;
  /** Made with an idempotency key: the key is the identity, for the whole retention. */
  keyed: boolean;
  editor: string;
  /** The caller left the target open; `editor` is what it resolved to (▲4). */
  editorOpen: boolean;
  /** The newest operation of the hash when this one was created, frozen (▲10). */
  after: string | null;
  /** The log_id that `force_new` named: with the hash, the identity of a forced operation (▲8). */
  supersedes?: string;
  /** Position in the chain of its hash. */
  order: number;
  /** Operations that count as changes (countsAsChange), accepted for the Editor up to and including this one (▲5). */
  mutationSeq: number;
  /**
   * When the record entered the store, as a version of its chain: what entered before another operation was known when
   * that one was accepted. A restored record enters when it is restored (▲10 (b)). Absent in records of schema 2: `order`.
   */
  entered?: number;
  /** The store's incarnation in which it entered (▲13); absent in records of schema 2. */
  incarnation?: string;
  /** How urgent it is; absent: interactive. */
  band?: Band;
  /** Its place in the queue, fair between principals: lower first (src/shared/redis/turn.ts). The store counts. */
  turn?: number;
  state: State;
  acceptedAt: number;
  dispatchedAt?: number;
  startedAt?: number;
  endedAt?: number;
  executionMs?: number;
  /** Of the result's JSON, which is stored beside the record. */
  resultBytes?: number;
  createdBy: { caller: string | null; requestId: RpcId | null; transport?: Caller["transport"] };
  /** Further callers that asked for the outcome of a mutating operation (▲6). */
  askedBy?: string[];
  /** The Editor session that the submit was last sent in, stored before the first byte (▲12). */
  sentIn?: string;
  /** Another operation answers this call: this one was never begun and has no start or end of its own (▲10 (b)). */
  executedAs?: string;
  /** It was sent to a ledger that has lost what the store saw of it: never sent again, only asked for (▲10 (c)). */
  ledgerLost?: true;
  /** The store had lost it, and the Editor told of it: its arguments are gone (▲10 (d)). */
  rebuilt?: true;
  /** Where the Editor stood when the operation ended, to know whether it has changed since. */
  editorMark?: EndMark;
  error?: { code: string; type: string; message: string };
  /** Of an unknown outcome: the Editor's last signs of life. */
  evidence?: Evidence;
  cancel?: { requestedAt: number; answer?: "cancelled" | "requested" | "not_cancellable" | "finished" };
  /** When its client cancelled the request that created it, while nobody was told its log_id (abandoned.ts). */
  abandonedAt?: number;
  /** Somebody besides that request waited for it, or was told its log_id, while it had not been sent. */
  isKnown?: true;
  /** When the outcome was first delivered to an open request (▲6), ms since the epoch, store clock. */
  firstDeliveredAt?: number;
  /** By caller id; "" stands for all requests without a caller. */
  deliveries: Record<string, Delivery>;
  /** The store's incarnation in which the two above were noted; in another one they prove nothing (▲7). */
  deliveredIn?: string;
}

/** What is known of the Editor from before its silence; times in ms since the epoch, store clock. */
export interface Evidence {
  lastHeartbeatAt?: number;
  phase?: string;
  mainThreadStallMs?: number;
  /** Whether that heartbeat named this operation as the one that ran. */
  wasRunning?: boolean;
  /** The end of the Editor's own log, where this machine has it. */
  editorLog?: string[];
}

export interface EditorMark {
  editorSessionId: string;
  generation: number;
  assetCounter: number;
}

/** Where an Editor stood when an operation ended; `reloadAnnounced`: the compilation reloads the domain behind its end. */
export interface EndMark extends EditorMark {
  reloadAnnounced?: true;
}

/** BullMQ jobs are keyed by the idempotency hash, and an id is never used again (▲2). */
export function jobIdOf(record: Pick<OperationRecord, "hash" | "logId">): string {
  return `${record.hash}.${record.logId}`;
}

/** Did the Editor begin to execute it? Only such operations answer later calls (▲6). */
export function hasBegun(record: OperationRecord): boolean {
  if (record.executedAs !== undefined) return false;
  return record.startedAt !== undefined || record.state === "completed" || record.state === "interrupted";
}
