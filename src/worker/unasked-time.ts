/**
 * How much of the process's time a peer may take with what nobody asked for. One that talks without end is read more
 * slowly, so that the Editors beside it are served; what was asked for costs nothing.
 */
import type { Log } from "../shared/log.js";

/** ms that may be taken at once … */
const BURST_MS = 100;
/** … and of every ms that passes. */
const SHARE = 0.1;
/** ms; a peer that is not read for longer would be taken for one that is away. */
const LONGEST_REST_MS = 2_000;

export interface UnaskedTime {
  /** So many ms were spent. Answers for how many ms nothing more may be read; 0 within the peer's share. */
  took(ms: number): number;
}

export function createUnaskedTime(log: Log): UnaskedTime {
  let credit = BURST_MS;
  let countedAt = performance.now();
  return {
    took(ms) {
      const now = performance.now();
      credit = Math.min(BURST_MS, credit + (now - countedAt) * SHARE) - ms;
      countedAt = now;
      if (credit >= 0) return 0;
      const restMs = Math.min(LONGEST_REST_MS, Math.ceil(-credit / SHARE));
      log.warn({ restMs }, "the peer says more than was asked for; it is read more slowly");
      return restMs;
    },
  };
}
