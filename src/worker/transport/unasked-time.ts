/**
 * Limits how much of the process's time a peer may take with unrequested messages. A peer that sends without end is read
 * more slowly, so that other Editors are served. A requested answer costs nothing, as long as handling it is
 * as little work as for an ordinary one.
 */
import type { Log } from "../../shared/log.js";

/** The burst, ms: so much may be taken at once. */
const BURST_MS = 100;
/** The refill: ms of that for each ms that passes. */
const SHARE = 0.1;
/** ms that handling one answer may take. */
const ANSWER_MS = 50;
/** Most ms that count: anything longer means that this process was stopped meanwhile. */
const MOST_AT_ONCE_MS = 5_000;

export interface UnaskedTime {
  /** Records the ms that were spent, and the number of answers among the messages. */
  spend(ms: number, answers: number): void;
  /** For how many ms to read nothing more; 0 within the peer's share. */
  owedMs(): number;
}

/** The account of one Editor over all its connections. */
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
      log.warn({ owedMs }, "the peer sends too much that was not requested; it is read more slowly");
      return owedMs;
    },
  };
}
