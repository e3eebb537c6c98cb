/** How an Editor's reports about an operation enter its record. */
import type { ErrorCode } from "../../shared/errors.js";
import {
  type EditorMark,
  type EndMark,
  type Evidence,
  eventsOf,
  isFinal,
  next,
  nextAfter,
  type OperationEvent,
  type OperationRecord,
} from "../../shared/operation/operation.js";
import { KEY_CONFLICT } from "../../shared/operation/recover.js";
import { shortened } from "../../shared/shortened-text.js";
import type { Change } from "../../shared/store/operations/changes.js";
import type { StoredResult } from "../../shared/store/results/stored-result.js";
import type { Outcome } from "../../shared/wire/wire.js";

/** The record with the start of its execution; undefined if that is known already. */
export function started(record: OperationRecord, now: number): Change | undefined {
  const state = next(record.state, "started");
  return state && { record: { ...record, state, startedAt: now } };
}

export interface Ending {
  evidence?: Evidence | undefined;
  result?: StoredResult | undefined;
  /** It had ended before it was asked for, so its end was not received when it happened. */
  isCollected?: boolean;
}

/** An Editor may report any number, and the scripts add it to the counters: Redis refuses one that is too large. */
const LONGEST_MS = 366 * 24 * 3_600_000;

/** The record with its outcome; undefined if it has one already. */
export function settled(
  record: OperationRecord,
  reported: Outcome,
  now: number,
  mark: OperationRecord["editorMark"],
  { evidence, result, isCollected = false }: Ending = {},
): Change | undefined {
  // It completed, but the Editor can no longer read its result: that must not look like an empty result.
  const outcome =
    reported.status === "completed" && reported.error ? { ...reported, status: "failed" as const } : reported;
  const state = nextAfter(record.state, eventsOf(record.state, outcome));
  if (!state) return undefined;
  const executionMs = outcome.executionMs && Math.min(Math.max(outcome.executionMs, 0), LONGEST_MS);
  const { startedAt, endedAt } = timesOf(record, outcome, now, isCollected || record.rebuilt === true);
  const error = errorOf(outcome);
  const stood = outcome.endedIn ? markOf(outcome.endedIn) : mark;
  return {
    record: {
      ...record,
      state,
      endedAt,
      ...(record.startedAt === undefined && startedAt !== undefined ? { startedAt } : {}),
      ...(executionMs === undefined ? {} : { executionMs }),
      ...(stood === undefined ? {} : { editorMark: stood }),
      ...(error === undefined ? {} : { error }),
      ...(evidence === undefined ? {} : { evidence }),
      ...(result === undefined ? {} : { resultBytes: result.bytes }),
    },
    result,
  };
}

/**
 * When it began and ended, between its sending and now. The Editor's clock is not the store's: only the duration is taken
 * from it, except for an operation that ended unobserved, which nothing else can date.
 */
function timesOf(
  { acceptedAt, dispatchedAt = acceptedAt, startedAt: known = dispatchedAt }: OperationRecord,
  outcome: Outcome,
  now: number,
  isUnseen: boolean,
): { startedAt: number | undefined; endedAt: number } {
  const within = (at: number): number => Math.min(Math.max(at, known), now);
  const endedAt = isUnseen ? within(outcome.endedAt) : now;
  if (outcome.startedAt === undefined) return { startedAt: undefined, endedAt };
  const startedAt = isUnseen ? outcome.startedAt : now - (outcome.executionMs ?? 0);
  return { startedAt: Math.min(within(startedAt), endedAt), endedAt };
}

/**
 * Chain check (▲10 b): the record once another operation has answered its call: its state, without a start or an end of its own.
 * Undefined while that is in flight, or if this one has ended already.
 */
export function answeredBy(record: OperationRecord, other: OperationRecord): Change | undefined {
  const state = nextAfter(record.state, endLike(other.state));
  if (!isFinal(other.state) || !state) return undefined;
  return { record: { ...record, state, ...(other.error ? { error: other.error } : {}) } };
}

function endLike(state: OperationRecord["state"]): OperationEvent[] {
  switch (state) {
    case "completed":
    case "failed":
    case "interrupted":
      return [state];
    case "cancelled":
    case "expired":
      return ["returned", state];
    case "queued":
    case "dispatched":
    case "running":
      return [];
  }
}

/** Reported with the outcome if the bridge does so: the last heartbeat is older, and may be of another session. */
function markOf({ editorSessionId, generation, assetCounter, reloadAnnounced }: EndedIn): EndMark {
  const mark = { editorSessionId, generation, assetCounter };
  return reloadAnnounced ? { ...mark, reloadAnnounced: true } : mark;
}

type EndedIn = EditorMark & { reloadAnnounced?: boolean | undefined };

/** Refused before it began: nothing was executed. */
export function refusedOutcome(refusal: { type: string; message: string }, now: number): Outcome {
  return { status: "failed", error: refusal, endedAt: now };
}

/** It is unknown whether, or how far, it ran. */
export function unknownOutcome(
  { why, type = "outcome_unknown" }: { why: string; type?: string },
  now: number,
): Outcome {
  return { status: "interrupted", error: { type, message: why }, endedAt: now };
}

/** Characters of an error's message that its record keeps: every answer has room for them. */
const MOST_OF_MESSAGE = 64_000;

function errorOf(outcome: Outcome): OperationRecord["error"] {
  const { status, error } = outcome;
  if (status === "completed" || status === "cancelled") return undefined;
  const unsaid = status === "interrupted" ? "The outcome is unknown." : "The tool failed.";
  return {
    code: codeOf(outcome),
    type: error?.type ?? status,
    message: shortened(error?.message ?? unsaid, MOST_OF_MESSAGE),
  };
}

/** What an Editor refuses before it begins, by the type that it reports. */
const BEFORE_IT_BEGAN: Partial<Record<string, ErrorCode>> = {
  [KEY_CONFLICT]: "IDEMPOTENCY_CONFLICT",
  invalid_arguments: "INVALID_ARGUMENTS",
};

function codeOf({ status, error, startedAt }: Outcome): ErrorCode {
  if (status === "interrupted") return "OUTCOME_UNKNOWN";
  if (startedAt !== undefined) return "TOOL_FAILED";
  return (error && BEFORE_IT_BEGAN[error.type]) ?? "EDITOR_REFUSED";
}
