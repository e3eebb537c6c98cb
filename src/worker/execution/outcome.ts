/** How an Editor's reports about an operation enter its record. */
import type { ErrorCode } from "../../shared/errors.js";
import {
  type EditorMark,
  type EndMark,
  type Evidence,
  eventsOf,
  fieldsOf,
  isFinal,
  next,
  nextAfter,
  type OperationEvent,
  type OperationRecord,
  type TraceContext,
} from "../../shared/operation/operation.js";
import { KEY_CONFLICT } from "../../shared/operation/recover.js";
import { shortened, wellFormedBytes } from "../../shared/printable.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import {
  type Change,
  type Changed,
  encodeParts,
  encodeResult,
  type StoredResult,
} from "../../shared/store/operations/record.js";
import { inSpan, type Log, startSpan } from "../../shared/telemetry.js";
import { EDITOR_CODES, type Outcome } from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";
import type { EditorLink } from "../editor/editor-link.js";
import { refusalOf } from "../editor/refusal.js";
import type { AttemptResult, ExecutorDeps, ExecutorResult } from "./executor-deps.js";

// The result of an outcome in its stored form; one too large for a frame is fetched part by part.

/** Bytes per request: far below a frame's cap, base64 included. */
const PART_BYTES = 4 * 1024 * 1024;

/** Text up to this size is checked to be JSON before it is stored; larger text is only ever read in place, which checks it. */
const CHECKED_BYTES = 8 * 1024 * 1024;

/** The limit on one result's JSON. */
export const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/** The operation has ended, and its result can be taken neither now nor later. */
export class ResultRefused extends Error {
  override readonly name = "ResultRefused";
  readonly type: "result_too_large" | "result_unreadable";

  constructor(type: ResultRefused["type"], message: string) {
    super(message);
    this.type = type;
  }
}

/**
 * Rejects with ResultRefused, or if the connection ends before the last part: then request all of it again. A result
 * larger than `maxBytes` is not requested.
 */
export async function storedResultOf(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  { result, resultBytes }: Outcome,
  maxBytes: number,
): Promise<StoredResult | undefined> {
  if (resultBytes === undefined) return result === undefined ? undefined : encoded(result, maxBytes);
  if (resultBytes > maxBytes) throw tooLarge(resultBytes, maxBytes);
  if (!Number.isSafeInteger(resultBytes) || resultBytes < 1) {
    throw new ResultRefused("result_unreadable", `${resultBytes} is not a size of a result.`);
  }
  const parts = partsOf(calls, operationId, resultBytes);
  return encodeParts(resultBytes > CHECKED_BYTES ? parts : checked(parts));
}

/** The outcome that replaces one whose result cannot be taken. */
function withoutResult(
  { result: _result, resultBytes: _bytes, ...outcome }: Outcome,
  { type, message }: ResultRefused,
): Outcome {
  const error = outcome.error ?? { type, message: `It ran and ended, but without its result: ${message}` };
  return { ...outcome, error };
}

async function encoded(result: unknown, maxBytes: number): Promise<StoredResult> {
  let encoded: StoredResult;
  try {
    encoded = await encodeResult(result);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ResultRefused("result_unreadable", "It nests too deep to be written.");
  }
  if (encoded.bytes > maxBytes) throw tooLarge(encoded.bytes, maxBytes);
  return encoded;
}

/** The same bytes, checked to be JSON. */
async function* checked(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const buffers: Buffer[] = [];
  for await (const part of parts) buffers.push(part);
  const text = Buffer.concat(buffers);
  try {
    JSON.parse(text.toString("utf8"));
  } catch {
    throw new ResultRefused("result_unreadable", "Its parts are not JSON.");
  }
  yield wellFormedBytes(text);
}

/** Holds one part at a time: requests the next only after the last one is compressed. */
async function* partsOf(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  bytes: number,
): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < bytes; ) {
    const length = Math.min(PART_BYTES, bytes - offset);
    const answer = await calls.resultPart(operationId, offset, length).catch(refuse);
    const part = Buffer.from(answer.base64, "base64");
    const isAsked = answer.offset === offset && answer.total === bytes;
    if (!isAsked || part.length === 0 || part.length > length) {
      throw new ResultRefused(
        "result_unreadable",
        `Of its ${bytes} bytes, ${length} from ${offset} were requested; ${part.length} from ${answer.offset} of ${answer.total} arrived.`,
      );
    }
    yield part;
    offset += part.length;
  }
}

/**
 * The Editor itself refuses to hand out the result, for good. A lost connection or an unreadable ledger is temporary:
 * then the error is passed on, and the Editor is asked again.
 */
function refuse(error: unknown): never {
  const refusal = refusalOf(error);
  if (!refusal || refusal.code === EDITOR_CODES.LEDGER_UNAVAILABLE) throw error;
  throw new ResultRefused("result_unreadable", `The Editor does not hand it out: ${refusal.message}`);
}

function tooLarge(bytes: number, maxBytes: number): ResultRefused {
  const most = `${Math.floor(maxBytes / (1024 * 1024))} MB`;
  return new ResultRefused(
    "result_too_large",
    `It has ${bytes} bytes; the limit is ${most} (UNITY_BROKER_MAX_RESULT_MB).`,
  );
}

// What a report makes of the record.

/** The record with the start of its execution; undefined if that is known already. */
export function started(record: OperationRecord, now: number): Change | undefined {
  const state = next(record.state, "started");
  return state && { record: { ...record, state, startedAt: now } };
}

interface Ending {
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
  mark: (() => OperationRecord["editorMark"]) | undefined,
  { evidence, result, isCollected = false }: Ending = {},
): Change | undefined {
  // It completed, but the Editor can no longer read its result: that must not look like an empty result.
  const outcome =
    reported.status === "completed" && reported.error ? { ...reported, status: "failed" as const } : reported;
  const state = nextAfter(record.state, eventsOf(record.state, outcome));
  if (!state) return undefined;
  const executionMs = outcome.executionMs && Math.min(Math.max(outcome.executionMs, 0), LONGEST_MS);
  const error = errorOf(outcome);
  const stood = outcome.endedIn ? markOf(outcome.endedIn) : mark?.();
  return {
    record: {
      ...record,
      ...timesOf(record, outcome, now, isCollected || record.rebuilt === true),
      state,
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
 * When it was sent, began and ended, between its acceptance and now. The Editor's clock is not the store's: only the duration is taken
 * from it, which also dates a start that was heard late, or not at all; except for an operation that ended unobserved, which nothing
 * else can date. What was sent again ran from a sending that was no later than its start.
 */
function timesOf(
  { acceptedAt, dispatchedAt = acceptedAt, startedAt: heard }: OperationRecord,
  outcome: Outcome,
  now: number,
  isUnseen: boolean,
): Pick<OperationRecord, "dispatchedAt" | "startedAt" | "endedAt"> {
  const within = (at: number): number => Math.min(Math.max(at, heard ?? dispatchedAt), now);
  const endedAt = isUnseen ? within(outcome.endedAt) : now;
  if (outcome.startedAt === undefined) return { endedAt };
  const byDuration = Math.max(now - (outcome.executionMs ?? 0), acceptedAt);
  const startedAt = Math.min(heard ?? now, isUnseen ? within(outcome.startedAt) : byDuration, endedAt);
  return { dispatchedAt: Math.min(dispatchedAt, startedAt), startedAt, endedAt };
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

/** What becomes of the job of an operation that has ended. */
export function endedAs({ state }: Pick<OperationRecord, "state">): "settled" | "failed" {
  return state === "failed" || state === "interrupted" ? "failed" : "settled";
}

/** Stores an operation's begin and end: from the Editor's report, or from the operation that answers in its place. */
export interface Settlement {
  /** Stores the outcome with its result, waiting as long as the results are above their quota; then the Editor may forget it. */
  settle(
    record: OperationRecord,
    outcome: Outcome,
    signal: AbortSignal,
    how?: Pick<Ending, "isCollected"> & { trace?: TraceContext | undefined },
  ): Promise<ExecutorResult>;
  /** Chain check (▲10 b): another operation answers the call; this one takes its state once it has ended. */
  copyOutcomeOf(record: OperationRecord, executedAs: string, signal: AbortSignal): Promise<AttemptResult>;
  markStarted(record: OperationRecord): Promise<Changed>;
}

export function createSettlement(deps: ExecutorDeps): Settlement {
  const { operations, editor, fence } = deps;

  /**
   * A result that the Editor cannot hand out, or that is refused, is missing for good: the outcome says so, because it
   * must not look like an empty result.
   */
  const collected = async (logId: string, reported: Outcome) => {
    try {
      return { outcome: reported, result: await editor.result(logId, reported) };
    } catch (error) {
      if (!(error instanceof ResultRefused)) throw error;
      deps.log.warn({ log_id: logId, error: error.message }, "the result of an operation cannot be taken");
      return { outcome: withoutResult(reported, error), result: undefined };
    }
  };

  const settle: Settlement["settle"] = (record, reported, signal, { trace = record.trace, ...how } = {}) =>
    inSpan("settle", { parent: trace }, (span) => {
      span.set({ "unity_broker.outcome": reported.status });
      return stored(record, reported, signal, { ...how, trace });
    });

  const stored = async (
    record: OperationRecord,
    reported: Outcome,
    signal: AbortSignal,
    { trace, ...how }: Pick<Ending, "isCollected"> & { trace: TraceContext | undefined },
  ): Promise<ExecutorResult> => {
    const { outcome, result } = await collected(record.logId, reported);
    const evidence = outcome.status === "interrupted" ? await deps.evidence(record) : undefined;
    /** No produced result is lost (invariant 3): an outcome above the results' quota stays with the Editor, unacknowledged, until there is room. */
    const end = async (): Promise<Changed> => {
      for (;;) {
        const changed = await operations.change(
          record,
          (latest, now) => settled(latest, outcome, now, editor.mark, { ...how, evidence, result }),
          fence,
        );
        if (changed.kind !== "full" || signal.aborted) return changed;
        await deps.awaitResultQuota(signal);
      }
    };
    let changed = await end();
    if (changed.kind === "unknown") {
      // Record recovery (▲10 d): the store lost this operation while it ran; its outcome must not be lost with it.
      await operations.restore(record, fence);
      changed = await end();
    }
    if (changed.kind === "not_owner" || changed.kind === "full") return "handed_over";
    if (changed.kind === "applied") {
      const { tool, state, executionMs } = changed.record;
      deps.log.debug({ ...fieldsOf(record), tool, state, executionMs }, "an operation has ended");
      traceExecution(record, outcome, trace);
    }
    // Durable acknowledgement (▲14): after the write, never before.
    if (changed.kind !== "unknown") deps.acknowledge(record.logId);
    return "record" in changed ? endedAs(changed.record) : "settled";
  };

  const copyOutcomeOf: Settlement["copyOutcomeOf"] = async ({ logId }, executedAs, signal) => {
    const processed = await deps.processShared(executedAs);
    if (signal.aborted || processed === "handed_over") return "handed_over";
    const other = await operations.find(executedAs);
    // The store lost it once more: ask the Editor again.
    const forget = ({ executedAs: _lost, ...record }: OperationRecord) => ({ record });
    const changed = await operations.change(
      logId,
      (record) => {
        if (isFinal(record.state)) return undefined;
        return other ? answeredBy(record, other) : forget(record);
      },
      fence,
    );
    if (changed.kind === "not_owner") return "handed_over";
    if (!("record" in changed)) return "settled";
    if (isFinal(changed.record.state)) return endedAs(changed.record);
    await deps.pause(signal);
    return "try_again";
  };

  return { settle, copyOutcomeOf, markStarted: (record) => operations.change(record, started, fence) };
}

// Durable acknowledgement (▲14): the Editor may forget an outcome once it is durable, with AOF everysec at least 2 s after the write.

export interface Acknowledger {
  stored(logId: string): void;
  /** The outcomes that the Editor's hello named; the stored ones are due. */
  named(operationIds: readonly string[]): Promise<void>;
  close(): void;
}

export interface AcknowledgerDeps {
  operations: Pick<Operations, "stateOf" | "tombstone">;
  link: Pick<EditorLink, "ack" | "helloAgain" | "hello">;
  log: Log;
}

/** Most outcomes per hello; the next hello names the rest. */
const MOST_NAMED = 10_000;

/** An acknowledgement that fails, because the store or the Editor is away, is due again a delay later. */
export function createAcknowledger(
  { operations, link, log }: AcknowledgerDeps,
  options: { ackDelayMs: number },
): Acknowledger {
  let pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const isStored = async (logId: string): Promise<boolean> => {
    const state = await operations.stateOf(logId);
    return state ? isFinal(state) : (await operations.tombstone(logId)) !== undefined;
  };

  /** Outcomes that the store has lost since are not acknowledged: the Editor names them in its next hello, and they are rebuilt. */
  const send = async (due: ReadonlySet<string>): Promise<void> => {
    const all = [...due];
    const found = await Promise.all(all.map(isStored));
    const kept = all.filter((_logId, at) => found[at]);
    if (kept.length > 0) await link.ack(kept);
    if (kept.length < due.size && !link.hello?.plain) link.helloAgain();
  };

  // Outcomes stored while a delay runs wait for the next delay.
  const arm = (): void => {
    if (isClosed || timer !== undefined || pending.size === 0) return;
    const due = pending;
    pending = new Set();
    timer = setTimeout(() => {
      timer = undefined;
      send(due).catch((error: Error) => {
        log.debug({ error: error.message }, "outcomes are not acknowledged yet");
        pending = new Set([...due, ...pending]);
        arm();
      });
      arm();
    }, options.ackDelayMs);
  };

  const stored: Acknowledger["stored"] = (logId) => {
    pending.add(logId);
    arm();
  };

  return {
    stored,
    async named(operationIds) {
      for (const operationId of operationIds.slice(0, MOST_NAMED))
        if (await isStored(operationId)) stored(operationId);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      pending.clear();
    },
  };
}

// The spans of an operation's way through its owner and its Editor; they belong to the span that made the operation.

/** One attempt of this owner. `isFresh`: it begins with the end of the wait in the queue, which is a span as well. */
export function inExecutionSpan<Subject extends { record: OperationRecord }, T>(
  subject: Subject,
  isFresh: boolean,
  attempt: (subject: Subject & { trace: TraceContext | undefined }) => Promise<T>,
): Promise<T> {
  const { record } = subject;
  const parent = record.trace;
  const { acceptedAt, dispatchedAt = acceptedAt } = record;
  if (isFresh)
    startSpan("queue", { parent, startedAt: acceptedAt, attributes: of(record) }).end({ at: dispatchedAt });
  const about = { parent, kind: "consumer", attributes: of(record) } as const;
  return inSpan("execute", about, (span) => attempt({ ...subject, trace: span.context }));
}

/** What the Editor did, by the times that it reports. */
function traceExecution(
  record: OperationRecord,
  { status, startedAt, endedAt, executionMs }: Outcome,
  parent: TraceContext | undefined,
): void {
  if (startedAt === undefined) return;
  const attributes = {
    ...of(record),
    "unity_broker.outcome": status,
    ...(executionMs === undefined ? {} : { "unity_broker.execution_ms": executionMs }),
  };
  const span = startSpan("run in Unity", { parent, startedAt, attributes });
  span.end({
    at: Math.max(startedAt, endedAt),
    ...(status === "completed" ? {} : { error: { code: status } }),
  });
}

function of({ logId, tool, editor, principal }: OperationRecord) {
  return {
    "unity_broker.log_id": logId,
    "unity_broker.tool": tool,
    "unity_broker.editor": editor,
    "unity_broker.principal": principal,
  };
}

// Listeners for the end of operations on the Editor.

export interface OutcomeListeners {
  follow(operationId: string): { outcome: Promise<Outcome>; stop(): void };
  finished(operationId: string, outcome: Outcome): void;
  /** The connection ended: it delivers no further outcome. */
  lost(error: Error): void;
  /** An outcome arrived and could not be read: of this operation, or of any (undefined). */
  missed(error: Error, operationId: string | undefined): void;
}

interface Follower {
  operationId: string;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export function createOutcomeListeners(): OutcomeListeners {
  const followers = new Set<Follower>();
  const of = (operationId: string): Follower[] =>
    [...followers].filter((follower) => follower.operationId === operationId);

  return {
    follow(operationId) {
      let stop: () => void = () => undefined;
      const outcome = new Promise<Outcome>((resolve, reject) => {
        const follower = { operationId, resolve, reject };
        followers.add(follower);
        stop = () => followers.delete(follower);
      });
      // Nothing may be awaiting it when the connection ends.
      outcome.catch(() => undefined);
      return { outcome, stop };
    },
    finished(operationId, outcome) {
      for (const follower of of(operationId)) follower.resolve(outcome);
    },
    lost(error) {
      for (const follower of followers) follower.reject(error);
      followers.clear();
    },
    missed(error, operationId) {
      const missing = operationId === undefined ? [...followers] : of(operationId);
      for (const follower of missing) follower.reject(error);
    },
  };
}
