/** What the history of an operation says besides its timeline: what a row of the list says, and the calls that it answers. */
import { callsOf } from "../../shared/operation/calls.js";
import type { Explained } from "../broker.js";

export function historyFacts({ record, duplicates }: Explained): Record<string, unknown> {
  const { principal, effect, executionMs, error } = record;
  const times = {
    accepted_at: record.acceptedAt,
    sent_at: record.dispatchedAt,
    started_at: record.startedAt,
    ended_at: record.endedAt,
  };
  return {
    calls: callsOf(record, duplicates),
    ...{ principal, effect },
    ...Object.fromEntries(
      Object.entries(times).flatMap(([name, at]) =>
        at === undefined ? [] : [[name, new Date(at).toISOString()]],
      ),
    ),
    ...(executionMs === undefined ? {} : { execution_ms: executionMs }),
    ...(error === undefined ? {} : { error }),
  };
}
