/**
 * The counters for operators, and their names in the store.
 *
 * The counters belong to the store, not to a process. Those of operations are incremented in the very write that creates
 * or ends one, so each is counted exactly once, whichever process writes it and whichever dies. A process could not keep
 * them: a worker that ends an operation has no gateway, and a stdio gateway exits with its client.
 */
import { isFinal, type OperationRecord, STATES, type State } from "./operation/operation.js";
import type { Effect } from "./tools/tool.js";

/** Counters and their increments, whole numbers. */
export type Counts = Record<string, number>;

/** From acceptance to the last sending; from start to end in the Editor; from a wait's start to its answer. */
export type Duration = "queued" | "executed" | "waited";

const REPETITIONS = ["joined", "replayed"] as const;
export type Repetition = (typeof REPETITIONS)[number];

const EFFECTS: readonly Effect[] = ["read_only", "repeatable", "mutating"];

/** Upper bounds of the buckets, seconds: from a ping to a long build. */
export const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600] as const;
const BEYOND = "+Inf";

export function countsOfCreation({ effect }: OperationRecord): Counts {
  return { [`accepted:${effect}`]: 1 };
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
  repeated: { relation: Repetition; count: number }[];
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
    repeated: REPETITIONS.map((relation) => ({ relation, count: count("repeated", relation) })),
    durations: {
      queued: distribution("queued"),
      executed: distribution("executed"),
      waited: distribution("waited"),
    },
  };
}
