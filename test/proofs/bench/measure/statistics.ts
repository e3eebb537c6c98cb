/** What is made of samples: quantiles of all, and ratios of the medians of one round. */

/** One block of calls of one row in one round. */
export interface Block {
  /** µs of each call. */
  readonly latencies: readonly number[];
  readonly perSecond: number;
}

export interface Spread {
  median: number;
  lowest: number;
  highest: number;
}

/** The smallest value that at least this share of the values does not exceed; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Between the two in the middle where there are two. */
export function median(values: readonly number[]): number {
  return (
    (quantile(values, 0.5) +
      -quantile(
        values.map((value) => -value),
        0.5,
      )) /
    2
  );
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}
