/** What a run says of its rows and of the machine. */
import type { Machine } from "./machine.js";
import type { Measured, Row } from "./rounds.js";
import { median, quantile } from "./statistics.js";

export interface RowReport {
  key: string;
  title: string;
  calls: number;
  /** µs. */
  p50: number;
  p95: number;
  p99: number;
  /** Median of the rounds. */
  perSecond: number;
}

export function rowReports(rows: readonly Row[], measured: Measured): RowReport[] {
  return rows.map(({ key, title }) => {
    const blocks = measured.get(key) ?? [];
    const all = blocks.flatMap(({ latencies }) => latencies);
    return {
      key,
      title,
      calls: all.length,
      p50: quantile(all, 0.5),
      p95: quantile(all, 0.95),
      p99: quantile(all, 0.99),
      perSecond: median(blocks.map(({ perSecond }) => perSecond)),
    };
  });
}

export function machineLine({ cores, processor, system, node, redis, load }: Machine): string {
  return `${cores} cores (${processor}), ${system}, Node ${node}, Redis ${redis}, load ${load.toFixed(1)}`;
}

/** Said where the numbers cannot be trusted. */
export function loadWarning({ cores, load }: Machine): string | undefined {
  if (load <= cores) return undefined;
  return `WARNING: the load of ${load.toFixed(1)} is above the ${cores} cores: only the ratios say something, if at all.`;
}
