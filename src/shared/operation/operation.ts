/**
 * The vocabulary: an operation, its states, and what may follow a state.
 *
 * Only pure values and functions. The store writes only transitions that `next()` allows.
 */
import type { Effect, ExecutionClass, Lane } from "../tools/tool.js";
import type { RpcId } from "../wire/rpc.js";
import type { Outcome } from "../wire/wire.js";

/**
 * - `queued`      accepted: its record is written. Its job follows, from the janitor after a crash. The Editor's owner moves it
 *                 on; after a crash, the next owner.
 * - `dispatched`  claimed; bytes may have been sent. The Editor's answer moves it on; after a crash, the next owner
 *                 submits the same id again, and the Editor attaches or runs it.
 * - `running`     the Editor reported the start. Its outcome moves it on; after a crash, the next owner attaches.
 * - `completed` `failed` `cancelled`  reported by the Editor (or cancelled before it was sent). Final.
 * - `interrupted` the outcome is unknown and stays unknown. Final.
 * - `expired`     never sent: its Editor did not come back. Final.
 */
export const STATES = [
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

/** The state after an event; undefined if the table has no such edge (a late or repeated event: ignore it). */
export function next(state: State, event: OperationEvent): State | undefined {
  return TRANSITIONS[state][event];
}

/** The state after several events in one write; undefined if any of them has no edge. */
export function nextAfter(state: State, events: readonly OperationEvent[]): State | undefined {
  return events.reduce<State | undefined>(
    (at, event) => (at === undefined ? undefined : next(at, event)),
    state,
  );
}

/** Where an operation is, for all that need not know more: in the queue, at the Editor, or ended. */
type Phase = "waiting" | "sent" | "final";

const PHASES: Readonly<Record<State, Phase>> = {
  queued: "waiting",
  dispatched: "sent",
  running: "sent",
  completed: "final",
  failed: "final",
  cancelled: "final",
  interrupted: "final",
  expired: "final",
};

/** No bytes of it have been sent, as far as the store knows (operation.ts says whether that is certain). */
export function isWaiting(state: State): boolean {
  return PHASES[state] === "waiting";
}

/** Bytes of it may have been sent, and no outcome is known. */
export function isSent(state: State): boolean {
  return PHASES[state] === "sent";
}

/** No state follows. */
export function isFinal(state: State): boolean {
  return PHASES[state] === "final";
}

/**
 * The events by which an Editor's outcome enters a record. An execution that began, but whose `running` notice was
 * missed, is started first. A cancellation of an operation that never began goes back through the queue.
 */
export function eventsOf(state: State, outcome: Outcome): OperationEvent[] {
  if (outcome.status !== "cancelled" || state !== "dispatched") return [outcome.status];
  return outcome.startedAt === undefined ? ["returned", "cancelled"] : ["started", "cancelled"];
}

/** A `batch` operation queues behind every interactive one that waits when it is accepted. */
export type PriorityClass = "interactive" | "batch";

/** The sender of a call: one MCP session, one process over stdio, a client that names itself, or a single request. */
export interface Caller {
  id: string;
  transport: "stdio" | "http";
  /** It belongs to no session: nobody can come back as this caller. */
  isSingleRequest?: true;
  /** It says itself what it has read (principal.ts): neither receiving an outcome nor naming its log_id is enough. */
  readsByName?: true;
}

/** What the id of a caller that is a single request begins with. */
export const SINGLE_REQUEST = "request:";

/** How far a caller has come that asked for an outcome, or received it. */
export interface Asking {
  /** It has not read the outcome of an earlier operation of the hash, which it asked for, or was delivered, then; ms since the epoch. */
  askedAt?: number;
  /** When an answer with the outcome was first delivered to it, ms since the epoch, store clock. */
  deliveredAt?: number;
  hasRead?: true;
}

/** One span of a trace, as it travels. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** One accepted tool call. Times are ms since the epoch on the store's clock. Arguments and result are stored separately. */
export interface OperationRecord {
  logId: string;
  hash: string;
  /** SHA-256 of {tool, arguments}: the call that an idempotency key was first used for, and the Editor's `argumentsHash`. */
  fingerprint: string;
  principal: string;
  tool: string;
  effect: Effect;
  lane: Lane;
  cancellable: boolean;
  /** How long such a call usually takes; absent: unknown. */
  executionClass?: ExecutionClass;
  /** The same in ms, where the configuration said it when the call was accepted; absent: as its class says. */
  maxExecutionMs?: number;
  /** Of a changing call: how long its outcome answers callers that are not known to have read it, as said when it was accepted, ms. */
  replayWindowMs?: number;
  /** Made with an idempotency key: the key is its identity for the whole retention. */
  keyed: boolean;
  /** Whose queue it is in: an Editor's id, or a pool's. */
  editor: string;
  /**
   * The caller named a pool (target.ts), by this id; `editor` is the same until an Editor has taken it, and again if that one did not
   * begin it and went away (▲13).
   */
  pool?: string;
  /** The same count as `mutationSeq` for its pool, once an Editor has taken it. */
  poolSeq?: number;
  /** Its turn there (limits.ts), which it has again if it goes back. */
  poolTurn?: number;
  /** The caller left the target open; `editor` is what it resolved to (▲4). */
  editorOpen: boolean;
  /** The newest operation of the hash when this one was created, frozen (▲10). */
  after: string | null;
  /** The log_id that `force_new` named: with the hash, the identity of a forced operation (▲8). */
  supersedes?: string;
  /** Position in the chain of its hash. */
  order: number;
  /** How many changes (countsAsChange) the Editor had accepted, up to and including this operation (▲5). */
  mutationSeq: number;
  /**
   * When the record entered the store, as a version of its chain: records that entered before an operation were known when
   * it was accepted. A restored record enters when it is restored (▲10 b).
   */
  entered: number;
  /** The store's incarnation in which it entered (▲13). */
  incarnation: string;
  /** How urgent it is; absent: interactive. */
  priorityClass?: PriorityClass;
  /**
   * Its place in the queue, fair between principals, lower first; the store assigns it
   * (src/shared/store/operations/limits.ts).
   */
  turn?: number;
  state: State;
  acceptedAt: number;
  dispatchedAt?: number;
  startedAt?: number;
  endedAt?: number;
  executionMs?: number;
  /** Size of the result's JSON, which is stored separately. */
  resultBytes?: number;
  /** `client`: what the calling MCP client calls itself (clientLabel). A label: nothing is decided by it. */
  createdBy: {
    caller: string | null;
    /** The client's own id of the request; shown to people, and nothing is decided by it. */
    requestId: RpcId | null;
    transport?: Caller["transport"];
    client?: string;
  };
  /** The span that made it, to which those of its execution belong. */
  trace?: TraceContext;
  /**
   * By caller id: further callers that asked for the outcome, and how far each has come. It is owed to those that have not
   * read it; so it is to its creator, which need not be listed.
   */
  askers?: Record<string, Asking>;
  /** Callers that cancelled a request for this run of a repeatable tool, and meant it: they want another run. */
  givenUpBy?: string[];
  /** The Editor session of the last submit, stored before the first byte is sent (▲12). */
  sentIn?: string;
  /** Another operation answers this call; this one never began and has no start or end of its own (▲10 b). */
  executedAs?: string;
  /** Sent to a ledger that has since lost what the store saw of it: never sent again, only asked for (▲10 c). */
  ledgerLost?: true;
  /** Restored from the Editor's ledger after the store had lost it; its arguments are gone (▲10 d). */
  rebuilt?: true;
  /** Where the Editor stood when the operation ended, to detect later changes. */
  editorMark?: EndMark;
  error?: { code: string; type: string; message: string };
  /** Only with an unknown outcome: the Editor's last signs of life. */
  evidence?: Evidence;
  cancel?: { requestedAt: number; answer?: "cancelled" | "requested" | "not_cancellable" | "finished" };
  /** The caller that asked to cancel it. Absent: nobody did, or the broker itself. */
  cancelledBy?: string;
  /** When its client cancelled the request that created it, while nobody had received its log_id (`abandoned`). */
  abandonedAt?: number;
  /** Another request waited for it, or received its log_id, before it was sent. */
  isKnown?: true;
  /** When the outcome was first delivered to anybody, ms since the epoch, store clock. */
  firstDeliveredAt?: number;
}

/** What was known of the Editor before it fell silent; times in ms since the epoch, store clock. */
export interface Evidence {
  lastHeartbeatAt?: number;
  phase?: string;
  mainThreadStallMs?: number;
  /** Whether that heartbeat reported this operation as the running one. */
  wasRunning?: boolean;
  /** The end of the Editor's own log, where this machine has it. */
  editorLog?: string[];
}

export interface EditorMark {
  editorSessionId: string;
  generation: number;
  assetCounter: number;
}

/** Where an Editor stood when an operation ended; `reloadAnnounced`: this compilation reloads the domain after its end. */
export interface EndMark extends EditorMark {
  reloadAnnounced?: true;
}

/** What a line of the log about an operation says of it. */
export function fieldsOf({ logId, editor, principal }: OperationRecord): Record<string, unknown> {
  return { log_id: logId, editor, principal };
}

/** BullMQ jobs are keyed by the idempotency hash, and an id is never used again (▲2). */
export function jobIdOf(record: Pick<OperationRecord, "hash" | "logId">): string {
  return `${record.hash}.${record.logId}`;
}

/**
 * Did the Editor begin to execute it, or may it have begun (`interrupted`)? An ended operation that never began leaves the
 * same call to run (again.ts).
 */
export function mayHaveBegun(record: OperationRecord): boolean {
  if (record.executedAs !== undefined) return false;
  return record.startedAt !== undefined || record.state === "completed" || record.state === "interrupted";
}

// Delivered, read, owed: who asked for an outcome, who has it, and who has read it. Each function answers the changed record,
// or undefined where nothing changes. Nothing is taken back but by `undelivered`.

/** Most callers that a record names. */
const MOST_ASKERS = 100;

/** Stands for the callers beyond: they asked, and nobody knows whether they have read. */
const OTHERS = "";

/**
 * Join (▲5): does an accepted call of it count as a change that a later call must see? Tests change nothing that other
 * calls read, and must not keep each other's retries from finding them.
 */
export function countsAsChange({ tool, effect }: { tool: string; effect: Effect }): boolean {
  return effect !== "read_only" && tool !== "run-tests";
}

/** How far this caller has come; undefined: it has neither asked for the outcome nor received it. */
export function askingOf(record: OperationRecord, { id }: Pick<Caller, "id">): Asking | undefined {
  return record.askers?.[id] ?? (record.createdBy.caller === id ? {} : undefined);
}

/** Is there a caller that asked for the outcome and has not read it? */
export function isOwed({ createdBy, askers = {} }: OperationRecord): boolean {
  const creator = createdBy.caller ?? OTHERS;
  return !askers[creator]?.hasRead || Object.values(askers).some(({ hasRead }) => !hasRead);
}

/** The caller waits for the outcome, or is about to be answered with it. */
export function asked(record: OperationRecord, caller: Pick<Caller, "id">): OperationRecord | undefined {
  const before = askingOf(record, caller);
  return before && before.askedAt === undefined ? undefined : withAsking(record, caller, {});
}

/** This operation answers for `other` (▲10 b): who asked for that outcome has asked for this one. */
export function askedThrough(
  record: OperationRecord,
  { createdBy, askers }: OperationRecord,
): OperationRecord | undefined {
  let changed: OperationRecord | undefined;
  for (const id of Object.keys({ [createdBy.caller ?? OTHERS]: {}, ...askers }))
    changed = asked(changed ?? record, { id }) ?? changed;
  return changed;
}

/** An answer with the outcome was delivered to a request of this caller; `isRead`: so that it has read it. */
export function delivered(
  record: OperationRecord,
  caller: Caller,
  { now, isRead }: { now: number; isRead: boolean },
): OperationRecord | undefined {
  const before = askingOf(record, caller) ?? {};
  if (before.deliveredAt !== undefined && (before.hasRead || !isRead)) return undefined;
  const { deliveredAt = now } = before;
  const asking: Asking = { deliveredAt, ...(isRead || before.hasRead ? { hasRead: true } : {}) };
  return { ...withAsking(record, caller, asking), firstDeliveredAt: record.firstDeliveredAt ?? now };
}

/** The caller named the log_id: it has read what was delivered to it before. */
export function named(record: OperationRecord, caller: Caller): OperationRecord | undefined {
  const before = askingOf(record, caller);
  if (before?.deliveredAt === undefined || before.hasRead) return undefined;
  return withAsking(record, caller, { ...before, hasRead: true });
}

/** The connection was reset before the caller can have read its answer: it asked, and never got the outcome. */
export function undelivered(record: OperationRecord, caller: Caller): OperationRecord | undefined {
  if (askingOf(record, caller)?.deliveredAt === undefined) return undefined;
  const { firstDeliveredAt: _taken, ...left } = withAsking(record, caller, {});
  const times = Object.values(left.askers ?? {}).flatMap(({ deliveredAt }) => deliveredAt ?? []);
  return times.length === 0 ? left : { ...left, firstDeliveredAt: Math.min(...times) };
}

/** The caller cancelled its request for this run of a repeatable tool: it wants another one. */
export function givenUp(record: OperationRecord, caller: Caller): OperationRecord | undefined {
  const { effect, givenUpBy = [] } = record;
  if (effect !== "repeatable" || givenUpBy.includes(caller.id)) return undefined;
  return { ...record, givenUpBy: [...givenUpBy, caller.id].slice(-MOST_ASKERS) };
}

/**
 * Who has not read the outcome of this operation as its caller runs it again, and may come back for it within `windowMs`: the new
 * outcome is owed to them as well. An outcome that nobody has got yet, they may come back for from now on.
 */
export function stillOwed(
  { createdBy, askers, firstDeliveredAt }: OperationRecord,
  caller: Caller,
  { now, windowMs }: { now: number; windowMs: number },
): Record<string, Asking> {
  const all: Record<string, Asking> = { ...(createdBy.caller ? { [createdBy.caller]: {} } : {}), ...askers };
  return Object.fromEntries(
    Object.entries(all).flatMap(([id, { askedAt, deliveredAt, hasRead }]) => {
      const since = askedAt ?? deliveredAt ?? firstDeliveredAt ?? now;
      const mayComeBack = id !== caller.id && now - since < windowMs;
      return !hasRead && mayComeBack ? [[id, { askedAt: since }]] : [];
    }),
  );
}

function withAsking(record: OperationRecord, { id }: Pick<Caller, "id">, asking: Asking): OperationRecord {
  const askers: Record<string, Asking> = { ...record.askers, [id]: asking };
  const excess = Object.keys(askers).length - MOST_ASKERS;
  if (excess <= 0) return { ...record, askers };
  // A caller that has read may be forgotten; it would be one that never asked. A debt may not.
  const lasting = [id, OTHERS, record.createdBy.caller];
  const others = Object.keys(askers).filter((each) => !lasting.includes(each));
  const [gone = OTHERS] = [
    ...others.filter((each) => askers[each]?.hasRead),
    // Nobody comes back as the caller of a single request.
    ...others.filter((each) => each.startsWith(SINGLE_REQUEST)),
    ...others,
  ];
  const { [gone]: forgotten, ...kept } = askers;
  return { ...record, askers: forgotten?.hasRead ? kept : { ...kept, [OTHERS]: {} } };
}

// Store incarnation (▲13): may a waiting operation be called unsent? After the store was restored from an older copy,
// an operation that it shows as queued may have been sent, run and acknowledged; only the Editor's ledger knows. Ending
// it as never begun would let the same call run a second time, so it is not ended while that Editor is missing.

/** What is known of the store's losses; `KnownEditors` is one. */
export interface StoreLosses {
  /** The Editors that were known before the last loss and have not been back since. */
  missing: readonly string[];
  /** The store's incarnation when it was asked. An end that relies on this is written in that incarnation only. */
  incarnation: string;
}

/** `sentIn` when only the ledger says that it was sent: no session can be named, so it is never sent without asking. */
const UNKNOWN_SESSION = "unknown";

/** False if the session is unknown: then no session can be called a different one. */
export function isSessionKnown({ sentIn }: OperationRecord): boolean {
  return sentIn !== UNKNOWN_SESSION;
}

/**
 * An operation accepted in the present incarnation is recorded completely: nothing was lost since. One of a pool may have been
 * taken by any Editor.
 */
export function isSurelyUnsent(record: OperationRecord, { missing, incarnation }: StoreLosses): boolean {
  if (!isWaiting(record.state)) return false;
  if (record.incarnation === incarnation) return true;
  return record.pool === undefined ? !missing.includes(record.editor) : missing.length === 0;
}

/** The record marked as sent at an unknown time; undefined if the store knows that it was sent, or how it ended. */
export function markAsSent(record: OperationRecord): OperationRecord | undefined {
  const state = next(record.state, "claimed");
  return state && { ...record, state, sentIn: UNKNOWN_SESSION };
}

/**
 * Is it of a pool, and from before a loss of the store? Then the pool may have had it back, and another Editor begun it, in writes that
 * are lost: it is neither claimed nor sent until all that the Editors know is imported.
 */
export function isFromBeforeLoss({ pool, incarnation }: OperationRecord, present: string): boolean {
  return pool !== undefined && incarnation !== present;
}

// The only case in which a cancelled call cancels its operation: the client cancelled the request that created it,
// the operation still waits in the queue, nobody received its log_id, and no other request waits for it. Such an
// operation leaves the queue after a delay. An operation that was sent to the Editor always goes on.

/** Marks the record as given up by its creator; undefined if nothing changes. */
export function abandoned(record: OperationRecord, now: number): OperationRecord | undefined {
  if (!isWaiting(record.state) || record.isKnown || record.abandonedAt !== undefined) return undefined;
  return { ...record, abandonedAt: now };
}

/** Marks the record as known: another request waits for it, or received its log_id. Undefined if it is marked already. */
export function markKnown(record: OperationRecord): OperationRecord | undefined {
  if (!isWaiting(record.state) || record.isKnown) return undefined;
  const { abandonedAt: _wantedAgain, ...rest } = record;
  return { ...rest, isKnown: true };
}

/** The cancelled record once the delay has passed; undefined if it was not given up, or not long enough ago. */
export function cancelIfAbandoned(
  record: OperationRecord,
  now: number,
  afterMs: number,
): OperationRecord | undefined {
  if (!isWaiting(record.state) || record.abandonedAt === undefined || now - record.abandonedAt < afterMs)
    return undefined;
  const state = next(record.state, "cancelled");
  return state && { ...record, state, endedAt: now };
}
