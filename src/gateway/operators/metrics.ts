/**
 * /metrics: Prometheus.
 *
 * Metrics of operations and Editors describe the store (src/shared/counters.ts says why it counts there): every gateway
 * reports the same values, which survive its restart and include stdio clients and workers. So over several gateways on
 * one store use `max`, not `sum`. Metrics of the process (`process_…`, `nodejs_…`) are each gateway's own. No label holds
 * a tool, an Editor, a principal or a log_id: the number of series is fixed.
 */
import { Counter, collectDefaultMetrics, Gauge, type Histogram, Registry } from "prom-client";
import { type Distribution, sheetOf } from "../../shared/counters.js";
import { isFinal, STATES } from "../../shared/operation/operation.js";
import type { Store } from "../../shared/store/store.js";
import type { Broker } from "../broker.js";

export interface Metrics {
  contentType: string;
  /** The text of a scrape. While Redis is away it has only store_up and the metrics of the process. */
  scrape(): Promise<string>;
}

export function createMetrics(deps: {
  store: Pick<Store, "counters" | "editors" | "operations" | "pools">;
  broker: Pick<Broker, "editors">;
}): Metrics {
  const { store, broker } = deps;
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `unity_broker_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `unity_broker_${name}`, help, labelNames, registers });

  collectDefaultMetrics({ register: registry });
  const storeUp = gauge("store_up", "1 while Redis answers this gateway");
  const accepted = counter("operations_accepted_total", "Operations accepted", ["effect"]);
  const ended = counter("operations_ended_total", "Operations ended, by their final state", [
    "state",
    "effect",
  ]);
  const repeated = counter(
    "duplicates_total",
    "Calls answered by an existing operation: joined in flight, or replayed",
    ["relation"],
  );
  const open = gauge("operations_open", "Operations that have not ended", ["state"]);
  const editors = gauge("editors", "Known Editors", ["connected", "phase"]);
  const results = gauge("results_bytes", "Bytes of the stored results in Redis");
  const callArguments = gauge("arguments_bytes", "Bytes of the stored arguments in Redis");
  const queued = seconds(registry, "queue_seconds", "From acceptance to the last sending to the Editor");
  const executed = seconds(registry, "execution_seconds", "How long the Editor executed");
  const waited = seconds(registry, "wait_seconds", "How long callers waited for an answer");

  const look = async (): Promise<void> => {
    const [counts, known, pools, resultBytes, argumentBytes] = await Promise.all([
      store.counters.read(),
      broker.editors(),
      store.pools.ids(),
      store.operations.resultBytes(),
      store.operations.argumentBytes(),
    ]);
    const records = await Promise.all(
      [...known.editors.map(({ profile }) => profile.editorId), ...pools].map(store.operations.openOf),
    );
    const sheet = sheetOf(counts);
    for (const metric of [accepted, ended, repeated, open, editors, results, callArguments]) metric.reset();
    for (const { count, ...labels } of sheet.accepted) accepted.inc(labels, count);
    for (const { count, ...labels } of sheet.ended) ended.inc(labels, count);
    for (const { count, ...labels } of sheet.repeated) repeated.inc(labels, count);
    for (const state of STATES.filter((state) => !isFinal(state))) open.set({ state }, 0);
    for (const { state } of records.flat()) open.inc({ state });
    for (const { connected, live } of known.editors) {
      editors.inc({ connected: connected ? "yes" : "no", phase: connected ? phaseLabel(live?.phase) : "" });
    }
    results.set(resultBytes);
    callArguments.set(argumentBytes);
    queued.tell(sheet.durations.queued);
    executed.tell(sheet.durations.executed);
    waited.tell(sheet.durations.waited);
  };

  return {
    contentType: registry.contentType,
    async scrape() {
      storeUp.set(0);
      await look().then(
        () => storeUp.set(1),
        // Old values would look like the present.
        () =>
          [accepted, ended, repeated, open, editors, results, callArguments, queued, executed, waited].map(
            (one) => one.reset(),
          ),
      );
      return registry.metrics();
    },
  };
}

/** The phases in docs/reference/protocol.md; a bridge may send any text, and every new label value would be a series. */
const PHASES = new Set([
  "ready",
  "compiling",
  "importing",
  "changing_play_mode",
  "playing",
  "building",
  "testing",
  "reloading",
  "quitting",
  "compile_errors",
  "safe_mode",
]);

function phaseLabel(word = ""): string {
  return word === "" || PHASES.has(word) ? word : "other";
}

/** A histogram whose buckets were counted elsewhere: prom-client's own counts only its own observations. */
function seconds(registry: Registry, what: string, help: string) {
  const name = `unity_broker_${what}`;
  let distribution: Distribution | undefined;
  const histogram = {
    name,
    help,
    type: "histogram",
    aggregator: "sum",
    async get() {
      if (!distribution) return { name, help, type: "histogram", values: [], aggregator: "sum" };
      const { upTo, sumSeconds, count } = distribution;
      const values = [
        ...upTo.map(({ le, count }) => ({ metricName: `${name}_bucket`, labels: { le }, value: count })),
        { metricName: `${name}_sum`, labels: {}, value: sumSeconds },
        { metricName: `${name}_count`, labels: {}, value: count },
      ];
      return { name, help, type: "histogram", values, aggregator: "sum" };
    },
  };
  // The registry uses only this of a metric.
  registry.registerMetric(histogram as unknown as Histogram);
  return {
    tell(latest: Distribution): void {
      distribution = latest;
    },
    reset(): void {
      distribution = undefined;
    },
  };
}
