/**
 * /metrics: Prometheus.
 *
 * Metrics of operations and Editors describe the store (src/shared/telemetry.ts says why it counts there): every gateway
 * reports the same values, which survive its restart and include stdio clients and workers. So over several gateways on
 * one store use `max`, not `sum`. Metrics of the process (`process_…`, `nodejs_…`, and how long Redis takes to answer it) are
 * each gateway's own. No label holds a tool, an Editor, a principal or a log_id: the number of series is fixed.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { isFinal, isWaiting, type OperationRecord, STATES } from "../../shared/operation/operation.js";
import type { Store } from "../../shared/store/store.js";
import { type CounterSheet, type Distribution, sheetOf } from "../../shared/telemetry.js";
import type { Broker } from "../broker.js";

/** A histogram whose buckets were counted elsewhere: prom-client's own counts only its own observations. */
export interface StoredHistogram {
  tell(latest: Distribution): void;
  /** Nothing is reported until the next `tell`. */
  reset(): void;
}

function storedHistogram(registry: Registry, name: string, help: string): StoredHistogram {
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
    tell(latest) {
      distribution = latest;
    },
    reset() {
      distribution = undefined;
    },
  };
}

export interface Metrics {
  contentType: string;
  /** The text of a scrape. While Redis is away it has only store_up and the metrics of the process. */
  scrape(): Promise<string>;
}

export function createMetrics(deps: {
  store: Pick<Store, "counters" | "editors" | "operations" | "pools">;
  broker: Pick<Broker, "editors">;
}): Metrics {
  const { store } = deps;
  const registry = new Registry();
  const storeUp = new Gauge({
    name: "unity_broker_store_up",
    help: "1 while Redis answers this gateway",
    registers: [registry],
  });
  const redisSeconds = new Histogram({
    name: "unity_broker_redis_seconds",
    help: "How long Redis took to answer this gateway, asked once at each scrape",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  const counted = countedMetrics(registry);
  const present = presentMetrics(registry);

  const look = async (): Promise<void> => {
    const askedAt = performance.now();
    await store.operations.now();
    redisSeconds.observe((performance.now() - askedAt) / 1000);
    const [counts, state] = await Promise.all([store.counters.read(), readPresent(deps)]);
    counted.tell(sheetOf(counts));
    present.tell(state);
  };

  return {
    contentType: registry.contentType,
    async scrape() {
      // The event loop is measured a hundred times a second: only in a process that is scraped.
      if (!registry.getSingleMetric("process_cpu_seconds_total"))
        collectDefaultMetrics({ register: registry });
      storeUp.set(0);
      await look().then(
        () => storeUp.set(1),
        () => {
          // Old values would look like the present.
          counted.reset();
          present.reset();
        },
      );
      return registry.metrics();
    },
  };
}

/** What was counted in the store, by all its processes. */
function countedMetrics(registry: Registry) {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `unity_broker_${name}`, help, labelNames, registers: [registry] });
  const seconds = (name: string, help: string) =>
    storedHistogram(registry, `unity_broker_${name}_seconds`, help);
  const counters = {
    accepted: counter("operations_accepted_total", "Operations accepted", ["effect"]),
    classes: counter(
      "operations_by_class_total",
      "Operations accepted, by how long such calls usually take",
      ["class", "effect"],
    ),
    ended: counter("operations_ended_total", "Operations ended, by their final state", ["state", "effect"]),
    repeated: counter(
      "duplicates_total",
      "Calls answered by an existing operation: joined in flight, or replayed",
      ["relation"],
    ),
    answered: counter("calls_answered_total", "Tool calls, by how they were answered", ["answer"]),
    progress: counter("progress_reports_total", "Reports of progress: received, written, sent", ["stage"]),
    connections: counter("editor_connections_total", "Connections to Editors that became ready", ["kind"]),
    disconnects: counter("editor_disconnects_total", "Connections to Editors that ended", ["reason"]),
    ownerChanges: counter("editor_owner_changes_total", "Leases of Editors taken and lost", ["change"]),
    stalls: counter("editor_stalls_total", "Times that an Editor's main thread stopped answering"),
  };
  const histograms = {
    queued: seconds("queue", "From acceptance to the last sending to the Editor"),
    executed: seconds("execution", "How long the Editor executed"),
    waited: seconds("wait", "How long callers waited for an answer"),
  };
  const resetCounters = (): void => {
    for (const metric of Object.values(counters)) metric.reset();
  };
  return {
    tell(sheet: CounterSheet): void {
      resetCounters();
      for (const name of keysOf(counters)) {
        for (const { count, ...labels } of sheet[name]) counters[name].inc(labels, count);
      }
      for (const name of keysOf(histograms)) histograms[name].tell(sheet.durations[name]);
    },
    reset(): void {
      resetCounters();
      for (const histogram of Object.values(histograms)) histogram.reset();
    },
  };
}

interface Present {
  editors: Awaited<ReturnType<Broker["editors"]>>["editors"];
  /** The open operations of each Editor and pool. */
  open: OperationRecord[][];
  resultBytes: number;
  argumentBytes: number;
}

async function readPresent({
  store,
  broker,
}: {
  store: Pick<Store, "operations" | "pools">;
  broker: Pick<Broker, "editors">;
}): Promise<Present> {
  const [{ editors }, pools, resultBytes, argumentBytes] = await Promise.all([
    broker.editors(),
    store.pools.ids(),
    store.operations.resultBytes(),
    store.operations.argumentBytes(),
  ]);
  const open = await Promise.all(
    [...editors.map(({ profile }) => profile.editorId), ...pools].map(store.operations.openOf),
  );
  return { editors, open, resultBytes, argumentBytes };
}

/** How things stand at the scrape. */
function presentMetrics(registry: Registry) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `unity_broker_${name}`, help, labelNames, registers: [registry] });
  const open = gauge("operations_open", "Operations that have not ended", ["state"]);
  const longest = gauge("queue_longest", "Most operations that wait for one Editor, or one pool");
  const editors = gauge("editors", "Known Editors", ["connected", "phase"]);
  const memory = gauge("editors_memory_bytes", "Memory of the connected Editors' processes", ["of"]);
  const processors = gauge("editors_cpu_cores", "Processors that the connected Editors use", ["of"]);
  const results = gauge("results_bytes", "Bytes of the stored results in Redis");
  const callArguments = gauge("arguments_bytes", "Bytes of the stored arguments in Redis");
  const reset = (): void => {
    for (const one of [open, longest, editors, memory, processors, results, callArguments]) one.reset();
  };
  return {
    reset,
    tell(present: Present): void {
      reset();
      for (const state of STATES.filter((state) => !isFinal(state))) open.set({ state }, 0);
      for (const { state } of present.open.flat()) open.inc({ state });
      longest.set(
        Math.max(0, ...present.open.map((records) => records.filter(({ state }) => isWaiting(state)).length)),
      );
      for (const { connected, live } of present.editors) {
        editors.inc({ connected: connected ? "yes" : "no", phase: connected ? phaseLabel(live?.phase) : "" });
      }
      const lives = present.editors.flatMap(({ connected, live }) => (connected && live ? [live] : []));
      for (const [metric, values] of [
        [memory, lives.map(({ memoryBytes = 0 }) => memoryBytes)],
        [processors, lives.map(({ cpuPercent = 0 }) => cpuPercent / 100)],
      ] as const) {
        metric.set({ of: "all" }, sum(values));
        metric.set({ of: "largest" }, Math.max(0, ...values));
      }
      results.set(present.resultBytes);
      callArguments.set(present.argumentBytes);
    },
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function keysOf<T extends object>(table: T): (keyof T)[] {
  return Object.keys(table) as (keyof T)[];
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
