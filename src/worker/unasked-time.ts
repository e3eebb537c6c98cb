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
const LONGEST_PAUSE_MS = 2_000;

export interface UnaskedTime {
  /** So many ms were spent: rests, where that is more than the peer's share. */
  took(ms: number): void;
  close(): void;
}

/** The system keeps what comes during a rest, and then the peer has to wait. `onEnd`: it is read again. */
export function createUnaskedTime(
  stream: { pause(): unknown; resume(): unknown },
  log: Log,
  onEnd: () => void,
): UnaskedTime {
  let credit = BURST_MS;
  let countedAt = performance.now();
  let clock: NodeJS.Timeout | undefined;
  return {
    took(ms) {
      const now = performance.now();
      credit = Math.min(BURST_MS, credit + (now - countedAt) * SHARE) - ms;
      countedAt = now;
      if (credit >= 0) return;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.ceil(-credit / SHARE));
      log.warn({ pauseMs }, "the peer says more than was asked for; it is read more slowly");
      stream.pause();
      clock = setTimeout(() => {
        onEnd();
        stream.resume();
      }, pauseMs);
    },
    close: () => clearTimeout(clock),
  };
}
