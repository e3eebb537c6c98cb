/** A log for events that a peer can cause without limit: a few lines per sentence and minute, and the number left out. */
import type { Log } from "../../shared/telemetry.js";

/** Most lines of the same sentence in a minute. */
const MOST = 20;
const MINUTE_MS = 60_000;

export function createSparseLog(log: Log, now: () => number = () => performance.now()): Log {
  const said = new Map<string, { since: number; count: number }>();

  const at =
    (level: keyof Log): Log[keyof Log] =>
    (values, message) => {
      const known = said.get(message);
      const isFresh = !known || now() - known.since >= MINUTE_MS;
      const leftOut = isFresh && known && known.count > MOST ? { leftOut: known.count - MOST } : {};
      const count = isFresh ? 1 : known.count + 1;
      // The sentences are this program's own, so there are few.
      said.set(message, { since: isFresh ? now() : known.since, count });
      if (count <= MOST) log[level]({ ...values, ...leftOut }, message);
    };

  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
