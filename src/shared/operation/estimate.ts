/** When an operation starts and ends, as far as earlier identical calls tell. */

/** An operation and its usual time; `ranMs`: since it started. */
export interface Timed {
  usualMs: number | undefined;
  ranMs?: number | undefined;
}

/** From now, ms. */
export interface Estimate {
  startMs?: number;
  endMs?: number;
}

/**
 * Pure. `ahead`: undefined for an operation that runs; else what goes before it, in order, over so many `places` at once. Says
 * nothing of what is not known, and nothing that depends on one that has run for longer than before.
 */
export function estimateOf(own: Timed, ahead: readonly Timed[] | undefined, places: number): Estimate {
  const startMs = ahead === undefined ? 0 : timeOf(ahead, places);
  if (startMs === undefined) return {};
  const left = leftOf(own);
  return {
    ...(ahead === undefined ? {} : { startMs }),
    ...(left === undefined ? {} : { endMs: startMs + left }),
  };
}

/** Until a place is free for the next one: each of those ahead takes the place that is free first. */
function timeOf(ahead: readonly Timed[], places: number): number | undefined {
  const free = Array<number>(places).fill(0);
  for (const each of ahead) {
    const left = leftOf(each);
    if (left === undefined) return undefined;
    const first = free.indexOf(Math.min(...free));
    free[first] = (free[first] ?? 0) + left;
  }
  return Math.min(...free);
}

/** Undefined once its time is over. */
function leftOf({ usualMs, ranMs }: Timed): number | undefined {
  if (usualMs === undefined || ranMs === undefined) return usualMs;
  return ranMs < usualMs ? usualMs - ranMs : undefined;
}
