/**
 * How much of the process's time a peer may take with what nobody asked for. One that talks without end is read more
 * slowly, so that the Editors beside it are served. An answer that was asked for costs nothing, as long as taking it is
 * as little work as an ordinary one.
 */
import type { Log } from "../../shared/log.js";

/** ms that may be taken at once … */
const BURST_MS = 100;
/** … and of every ms that passes. */
const SHARE = 0.1;
/** ms that each answer may take. */
const ANSWER_MS = 50;
/** ms; what seems to have taken longer is a process that was stopped meanwhile, which is not the peer's. */
const MOST_AT_ONCE_MS = 5_000;

export interface UnaskedTime {
  /** So many ms were spent, on so many answers among other things. */
  spend(ms: number, answers: number): void;
  /** For how many ms nothing more may be read; 0 within the peer's share. */
  owedMs(): number;
}

/** The account of one Editor, whatever connections it makes. */
export function createUnaskedTime(log: Log, now: () => number = () => performance.now()): UnaskedTime {
  let credit = BURST_MS;
  let countedAt = now();
  const earn = (): void => {
    const passed = now() - countedAt;
    credit = Math.min(BURST_MS, credit + passed * SHARE);
    countedAt += passed;
  };
  return {
    spend(ms, answers) {
      earn();
      credit -= Math.min(MOST_AT_ONCE_MS, Math.max(0, ms - answers * ANSWER_MS));
    },
    owedMs() {
      earn();
      if (credit >= 0) return 0;
      const owedMs = Math.ceil(-credit / SHARE);
      log.warn({ owedMs }, "the peer takes more time than was asked for; it is read more slowly");
      return owedMs;
    },
  };
}
