/** A histogram whose buckets were counted elsewhere: prom-client's own counts only its own observations. */
import type { Histogram, Registry } from "prom-client";
import type { Distribution } from "../../shared/counters.js";

export interface StoredHistogram {
  tell(latest: Distribution): void;
  /** Nothing is reported until the next `tell`. */
  reset(): void;
}

export function storedHistogram(registry: Registry, name: string, help: string): StoredHistogram {
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
