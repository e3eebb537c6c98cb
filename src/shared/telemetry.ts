/** What the broker says of its work to operators: lines of the log, counters, spans. */

import {
  type Attributes,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import {
  isFinal,
  type OperationRecord,
  STATES,
  type State,
  type TraceContext,
} from "./operation/operation.js";
import { head } from "./printable.js";
import { type Effect, EXECUTION_CLASSES, type ExecutionClass } from "./tools/tool.js";

// Spans of OpenTelemetry, by its API alone: without an SDK nothing is recorded, and a trace that a client has begun is passed on as it came.
//
// A parent is always named: from the client to the Editor it travels as text (W3C Trace Context), in `_meta` or headers, in the
// operation's record, and in the submit. Baggage is not passed on: nobody knows what clients put there.

export interface TraceSpan {
  /** For those that belong to it; undefined if it is in no trace. */
  context: TraceContext | undefined;
  set(attributes: Attributes): void;
  /** It is about the same as this span of perhaps another trace. */
  link(to: TraceContext | undefined): void;
  /** `error`: why it failed. `at`: ms since the epoch; left out: now. */
  end(how?: { error?: unknown; at?: number }): void;
}

export interface SpanOptions {
  /** Undefined: it begins a trace. */
  parent: TraceContext | undefined;
  kind?: "server" | "producer" | "consumer" | "client";
  attributes?: Attributes;
  /** ms since the epoch; left out: now. */
  startedAt?: number;
}

const KINDS = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
};

/** What is longer is cut: clients name tools, and principals are configured. */
const LONGEST_NAME = 150;

export function startSpan(
  name: string,
  { parent, kind, attributes = {}, startedAt }: SpanOptions,
): TraceSpan {
  const remote = parent && spanContextOf(parent);
  const span = trace.getTracer("unity-job-broker").startSpan(
    head(name, LONGEST_NAME),
    {
      attributes,
      ...(kind === undefined ? {} : { kind: KINDS[kind] }),
      ...(startedAt === undefined ? {} : { startTime: startedAt }),
    },
    remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT,
  );
  return {
    context: contextOf(span.spanContext()),
    set: (more) => void span.setAttributes(more),
    link(to) {
      const context = to && spanContextOf(to);
      if (context) span.addLink({ context });
    },
    end({ error, at } = {}) {
      // Its message may quote arguments of the call.
      if (error !== undefined)
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", typeOf(error));
      span.end(at);
    },
  };
}

/** Runs `work` as a span. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: TraceSpan) => Promise<T>,
): Promise<T> {
  const span = startSpan(name, options);
  try {
    const done = await work(span);
    span.end();
    return done;
  } catch (error) {
    span.end({ error });
    throw error;
  }
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** W3C Trace Context requires no more to be passed on. */
const LONGEST_STATE = 512;

/** The trace context in `_meta` or in headers; undefined if there is none, or one that cannot be read. */
export function traceIn(fields: Record<string, unknown> | undefined): TraceContext | undefined {
  const { traceparent, tracestate } = fields ?? {};
  if (typeof traceparent !== "string") return undefined;
  const given: TraceContext = { traceparent };
  if (typeof tracestate === "string" && tracestate !== "" && tracestate.length <= LONGEST_STATE)
    given.tracestate = tracestate;
  return contextOf(spanContextOf(given));
}

function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}

function contextOf(span: SpanContext | undefined): TraceContext | undefined {
  if (!span || !isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span;
  const tracestate = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, "0")}`,
    ...(tracestate === "" ? {} : { tracestate }),
  };
}

function typeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : typeof error;
}

/** The part of a pino logger that the broker uses: values first, then the sentence. */
export interface Log {
  debug(values: Record<string, unknown>, message: string): void;
  info(values: Record<string, unknown>, message: string): void;
  warn(values: Record<string, unknown>, message: string): void;
  error(values: Record<string, unknown>, message: string): void;
}

/** The same log, whose lines all have these values. */
export function withFields(log: Log, fields: Record<string, unknown>): Log {
  return {
    debug: (values, message) => log.debug({ ...fields, ...values }, message),
    info: (values, message) => log.info({ ...fields, ...values }, message),
    warn: (values, message) => log.warn({ ...fields, ...values }, message),
    error: (values, message) => log.error({ ...fields, ...values }, message),
  };
}

// The counters for operators, and their names in the store.
//
// The counters belong to the store, not to a process. Those of operations are incremented in the very write that creates
// or ends one, so each is counted exactly once, whichever process writes it and whichever dies. A process could not keep
// them: a worker that ends an operation has no gateway, and a stdio gateway exits with its client. The others (answers, progress,
// connections, owners) are events that write no record: one that happens while Redis is away is not counted.

/** Counters and their increments, whole numbers. */
export type Counts = Record<string, number>;

/** From acceptance to the last sending; from start to end in the Editor; from a wait's start to its answer. */
type Duration = "queued" | "executed" | "waited";

const REPETITIONS = ["joined", "replayed"] as const;
type Repetition = (typeof REPETITIONS)[number];

const EFFECTS: readonly Effect[] = ["read_only", "repeatable", "mutating"];

/**
 * How a tool call was answered: by its outcome, within its wait; by its log_id, when the wait had ended or when it was made as
 * a task; or not at all, because its client gave it up.
 */
const ANSWERS = ["outcome", "log_id", "given_up"] as const;
type CallAnswer = (typeof ANSWERS)[number];

/** Reports of progress: received from Editors, written to the store (the last of several), sent to clients. */
const PROGRESS = ["received", "written", "sent"] as const;

/** The first connection of an Editor's owner, or one after a loss. */
const CONNECTIONS = ["first", "again"] as const;
type ConnectionKind = (typeof CONNECTIONS)[number];

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
type CountedDisconnect = (typeof DISCONNECTS)[number];

/** A worker took an Editor's lease, which was free, or from a process that had died; or it lost the lease. */
const OWNER_CHANGES = ["taken", "taken_from_dead", "lost"] as const;
type OwnerChange = (typeof OWNER_CHANGES)[number];

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
