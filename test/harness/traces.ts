/** Records the spans of this process while a test runs. */
import { SpanKind, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { onTestFinished } from "vitest";

export function recordSpans() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  onTestFinished(async () => {
    trace.disable();
    await provider.shutdown();
  });
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
  return {
    spans,
    named: (name: string): ReadableSpan[] => spans().filter((span) => span.name === name),
    /** The names of a span and of those above it, from the top, as far as this process made them. */
    wayTo(span: ReadableSpan): string[] {
      const parent = spans().find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId);
      return [...(parent ? this.wayTo(parent) : []), span.name];
    },
  };
}

export { SpanKind };
