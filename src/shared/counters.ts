/**
 * The counters for operators, and their names in the store.
 *
 * The counters belong to the store, not to a process. Those of operations are incremented in the very write that creates
 * or ends one, so each is counted exactly once, whichever process writes it and whichever dies. A process could not keep
 * them: a worker that ends an operation has no gateway, and a stdio gateway exits with its client. The others (answers, progress,
 * connections, owners) are events that write no record: one that happens while Redis is away is not counted.
 */
import { isFinal, type OperationRecord, STATES, type State } from "./operation/operation.js";
import { type Effect, EXECUTION_CLASSES, type ExecutionClass } from "./tools/tool.js";

/** Counters and their increments, whole numbers. */
export type Counts = Record<string, number>;

/** From acceptance to the last sending; from start to end in the Editor; from a wait's start to its answer. */
export type Duration = "queued" | "executed" | "waited";

const REPETITIONS = ["joined", "replayed"] as const;
export type Repetition = (typeof REPETITIONS)[number];

const EFFECTS: readonly Effect[] = ["read_only", "repeatable", "mutating"];

/**
 * How a tool call was answered: by its outcome, within its wait; by its log_id, when the wait had ended or when it was made as
 * a task; or not at all, because its client gave it up.
 */
const ANSWERS = ["outcome", "log_id", "given_up"] as const;
export type CallAnswer = (typeof ANSWERS)[number];

/** Reports of progress: received from Editors, written to the store (the last of several), sent to clients. */
const PROGRESS = ["received", "written", "sent"] as const;

/** The first connection of an Editor's owner, or one after a loss. */
const CONNECTIONS = ["first", "again"] as const;
export type ConnectionKind = (typeof CONNECTIONS)[number];

/** Why a connection to an Editor ended (src/worker/transport/disconnect.ts). */
const DISCONNECTS = [
  "refused",
  "unreachable",
  "connect_timeout",
  "peer_closed",
  "reset",
  "heartbeat_lost",
  "peer_dead",
  "frame_timeout",
  "malformed_frame",
  "foreign_peer",
  "fenced",
  "hello_refused",
  "hello_failed",
  "moved",
  "shutdown",
] as const;
export type CountedDisconnect = (typeof DISCONNECTS)[number];

/** A worker took an Editor's lease, which was free, or from a process that had died; or it lost the lease. */
const OWNER_CHANGES = ["taken", "taken_from_dead", "lost"] as const;
export type OwnerChange = (typeof OWNER_CHANGES)[number];

/** Upper bounds of the buckets, seconds: from a ping to a long build. */
export const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600] as const;
const BEYOND = "+Inf";

export function countsOfCreation({ effect, executionClass = "long" }: OperationRecord): Counts {
  return { [`accepted:${effect}`]: 1, [`class:${executionClass}:${effect}`]: 1 };
}

/** Empty unless the change ends the operation. */
export function countsOfChange(before: OperationRecord, after: OperationRecord): Counts {
  if (isFinal(before.state) || !isFinal(after.state)) return {};
  const { state, effect, acceptedAt, dispatchedAt } = after;
  return {
    [`ended:${state}:${effect}`]: 1,
    ...(dispatchedAt === undefined ? {} : durationCounts("queued", dispatchedAt - acceptedAt)),
    // Executed under another operation's id (▲10): counted there.
    ...(after.executionMs === undefined || after.executedAs !== undefined
      ? {}
      : durationCounts("executed", after.executionMs)),
  };
}

export function repetitionCounts(relation: Repetition): Counts {
  return { [`repeated:${relation}`]: 1 };
}

export function answerCounts(answer: CallAnswer): Counts {
  return { [`answered:${answer}`]: 1 };
}

/** A report was written, the last of those that were `received` since the one before. */
export function progressCounts(received: number): Counts {
  return { "progress:received": received, "progress:written": 1 };
}

export const PROGRESS_SENT: Counts = { "progress:sent": 1 };

export function connectionCounts(kind: ConnectionKind): Counts {
  return { [`connection:${kind}`]: 1 };
}

export function disconnectCounts(reason: CountedDisconnect): Counts {
  return { [`disconnect:${reason}`]: 1 };
}

export function ownerCounts(change: OwnerChange): Counts {
  return { [`owner:${change}`]: 1 };
}

/** The main thread of an Editor has stopped to answer. */
export const STALL: Counts = { stalls: 1 };

export function durationCounts(kind: Duration, ms: number): Counts {
  const whole = Math.max(0, Math.round(ms));
  const bucket = BUCKETS.find((seconds) => whole <= seconds * 1000) ?? BEYOND;
  return { [`${kind}:${bucket}`]: 1, [`${kind}:ms`]: whole };
}

export interface Distribution {
  /** Cumulative counts per bucket; the last one counts all. */
  upTo: { le: number | "+Inf"; count: number }[];
  sumSeconds: number;
  count: number;
}

export interface CounterSheet {
  accepted: { effect: Effect; count: number }[];
  ended: { state: State; effect: Effect; count: number }[];
  classes: { class: ExecutionClass; effect: Effect; count: number }[];
  repeated: { relation: Repetition; count: number }[];
  answered: { answer: CallAnswer; count: number }[];
  progress: { stage: (typeof PROGRESS)[number]; count: number }[];
  connections: { kind: ConnectionKind; count: number }[];
  disconnects: { reason: CountedDisconnect; count: number }[];
  ownerChanges: { change: OwnerChange; count: number }[];
  stalls: { count: number }[];
  durations: Record<Duration, Distribution>;
}

/** Reads the counters. One that was never counted is 0, so that its first increase is visible. */
export function sheetOf(counts: Counts): CounterSheet {
  const count = (...name: string[]): number => counts[name.join(":")] ?? 0;
  const distribution = (kind: Duration): Distribution => {
    let sum = 0;
    const upTo = [...BUCKETS, BEYOND].map((le) => {
      sum += count(kind, String(le));
      return { le: le as number | "+Inf", count: sum };
    });
    return { upTo, sumSeconds: count(kind, "ms") / 1000, count: sum };
  };
  return {
    accepted: EFFECTS.map((effect) => ({ effect, count: count("accepted", effect) })),
    ended: STATES.filter(isFinal).flatMap((state) =>
      EFFECTS.map((effect) => ({ state, effect, count: count("ended", state, effect) })),
    ),
    classes: EXECUTION_CLASSES.flatMap((name) =>
      EFFECTS.map((effect) => ({ class: name, effect, count: count("class", name, effect) })),
    ),
    repeated: REPETITIONS.map((relation) => ({ relation, count: count("repeated", relation) })),
    answered: ANSWERS.map((answer) => ({ answer, count: count("answered", answer) })),
    progress: PROGRESS.map((stage) => ({ stage, count: count("progress", stage) })),
    connections: CONNECTIONS.map((kind) => ({ kind, count: count("connection", kind) })),
    disconnects: DISCONNECTS.map((reason) => ({ reason, count: count("disconnect", reason) })),
    ownerChanges: OWNER_CHANGES.map((change) => ({ change, count: count("owner", change) })),
    stalls: [{ count: count("stalls") }],
    durations: {
      queued: distribution("queued"),
      executed: distribution("executed"),
      waited: distribution("waited"),
    },
  };
}
