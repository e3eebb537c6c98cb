/**
 * Spans of OpenTelemetry, by its API alone: without an SDK nothing is recorded, and a trace that a client has begun is passed on as it came.
 *
 * A parent is always named: from the client to the Editor it travels as text (W3C Trace Context), in `_meta` or headers, in the
 * operation's record, and in the submit. Baggage is not passed on: nobody knows what clients put there.
 */
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
import { head } from "./printable.js";

/** One span of a trace, as it travels. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

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
