/** Whether this process records traces: OpenTelemetry's own variables say it. Off, nothing of its SDK is loaded. */
import type { Environment } from "../../embedded-redis/directories.js";
import type { Log } from "../../shared/log.js";
import type { Traces } from "./open-traces.js";

const OFF: Traces = { close: async () => undefined };

/**
 * Of the exporters only `otlp`: `console` would write to the stream on which MCP is spoken. Without any of these variables the
 * SDK would send to a collector on this machine; here they are off.
 */
function areWanted(env: Environment): boolean {
  if (/^true$/i.test(env.OTEL_SDK_DISABLED ?? "")) return false;
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (exporter) return exporter === "otlp";
  return Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

/** A process without the SDK, which npm may have left out, is reported and records nothing. */
export async function startTraces(env: Environment, version: string, log: Log): Promise<Traces> {
  if (!areWanted(env)) return OFF;
  try {
    const { openTraces } = await import("./open-traces.js");
    return openTraces(env, version, log);
  } catch (error) {
    const fix = "Install the package without --omit=optional, or unset OTEL_TRACES_EXPORTER.";
    log.warn({ error: (error as Error).message }, `Traces are not recorded. ${fix}`);
    return OFF;
  }
}
