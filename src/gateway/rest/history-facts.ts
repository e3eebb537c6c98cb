/** What the history of an operation says besides its timeline: what a row of the list says, and the calls that it answers. */
import { callsOf } from "../../shared/operation/calls.js";
import type { ReportTimes } from "../../shared/store/operations/attachments.js";
import type { Explained } from "../explained.js";

export function historyFacts({ record, duplicates, reports }: Explained): Record<string, unknown> {
  const { effect, executionMs, error } = record;
  const times = {
    accepted_at: record.acceptedAt,
    sent_at: record.dispatchedAt,
    started_at: record.startedAt,
    ended_at: record.endedAt,
  };
  return {
    calls: callsOf(record, duplicates),
    ...(reports.progress || reports.partial
      ? { reports: { progress: shown(reports.progress), partial: shown(reports.partial) } }
      : {}),
    effect,
    ...Object.fromEntries(
      Object.entries(times).flatMap(([name, at]) =>
        at === undefined ? [] : [[name, new Date(at).toISOString()]],
      ),
    ),
    ...(executionMs === undefined ? {} : { execution_ms: executionMs }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Undefined leaves it out. */
function shown(times: ReportTimes | undefined): Record<string, unknown> | undefined {
  return (
    times && {
      first_at: new Date(times.first).toISOString(),
      last_at: new Date(times.last).toISOString(),
      count: times.count,
    }
  );
}
