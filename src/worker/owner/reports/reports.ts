/** The reports to the store about an operation while it runs. */
import { progressCounts } from "../../../shared/counters.js";
import type { Log } from "../../../shared/log.js";
import type { Store } from "../../../shared/store/store.js";
import { started } from "../../execution/outcome.js";
import type { UnderWay } from "../under-way.js";
import { createLogReports } from "./log-reports.js";
import { createProgressReports } from "./progress-reports.js";
import { createStartedNotice } from "./started-notice.js";

/** About the time of one Unity frame: a reader of the record notices no difference. */
const SHOW_RUNNING_MS = 20;

export function createReports({
  store: { operations, counters },
  underWay,
  fence,
  log,
}: {
  store: Pick<Store, "operations" | "counters">;
  underWay: UnderWay;
  /** The fence (▲11) under which they are written. */
  fence: string;
  log: Log;
}) {
  const { isOwn } = underWay;
  const startedNotice = createStartedNotice(
    { markStarted: (logId) => operations.change(logId, started, fence), log },
    { holdMs: SHOW_RUNNING_MS },
  );
  const reportProgress = createProgressReports({
    isOwn,
    async report(logId, live) {
      await startedNotice.shown(logId);
      await operations.report(logId, live);
    },
    written: (received) => counters.add(progressCounts(received)),
    log,
  });
  const logReports = createLogReports({ isOwn, add: operations.addLines, log });
  return { startedNotice, reportProgress, logReports };
}
