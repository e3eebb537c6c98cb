/** OpenTelemetry's SDK, from here on recording what src/shared/telemetry.ts says. Loaded only where traces are wanted (traces.ts). */
import { setTimeout as delay } from "node:timers/promises";
import { DiagLogLevel, diag, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Environment } from "../../embedded-redis/directories.js";
import type { Log } from "../../shared/telemetry.js";
import { createSparseLog } from "../../worker/editor/sparse-log.js";

export interface Traces {
  /** Sends what is still to be sent, within 2 s. */
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;

export function openTraces(env: Environment, version: string, log: Log): Traces {
  // A collector that is away is reported now and then, and what it misses is dropped.
  const sparse = createSparseLog(log);
  const warn = (message: string): void => sparse.warn({ error: message }, "traces could not be sent");
  const quiet = (): void => undefined;
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const own = { "service.name": env.OTEL_SERVICE_NAME || "unity-job-broker", "service.version": version };
  const named = detectResources({ detectors: [envDetector] });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(own)).merge(named),
    sampler: samplerIn(env),
    // Its settings (address, headers, compression) it reads from OTEL_EXPORTER_OTLP_… by itself.
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  trace.setGlobalTracerProvider(provider);
  log.info({}, "traces are recorded");
  return {
    async close() {
      await Promise.race([provider.shutdown().catch(quiet), delay(CLOSE_MS, undefined, { ref: false })]);
      trace.disable();
      diag.disable();
    },
  };
}

/** The SDK of traces alone does not read these variables. */
function samplerIn({ OTEL_TRACES_SAMPLER: name = "", OTEL_TRACES_SAMPLER_ARG: share }: Environment): Sampler {
  const root = rootSampler(name.replace(/^parentbased_/, ""), Number(share ?? 1));
  return name === "" || name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string, share: number): Sampler {
  if (name === "always_off") return new AlwaysOffSampler();
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(Number.isFinite(share) ? share : 1);
  return new AlwaysOnSampler();
}
