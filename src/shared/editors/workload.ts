/** What an Editor runs and how much waits for it, as one principal may see it. */
import { isWaiting, type OperationRecord } from "../operation/operation.js";

export interface Workload {
  /** Undefined: nothing runs in its main lane. `since`: ms since the epoch, store clock. `own`: the operation is this principal's. */
  running: { since: number; own?: { tool: string; logId: string } } | undefined;
  /** Operations of all principals that were not sent yet. Those that wait in a pool are no Editor's. */
  waiting: number;
}

/** `open`: the Editor's operations that have not ended. */
export function workloadOf(open: readonly OperationRecord[], principal: string): Workload {
  const sent = open.find(({ state, lane }) => lane === "main" && !isWaiting(state));
  const since = sent?.startedAt ?? sent?.dispatchedAt;
  const waiting = open.filter(({ state }) => isWaiting(state)).length;
  if (!sent || since === undefined) return { running: undefined, waiting };
  const { tool, logId } = sent;
  return { running: { since, ...(sent.principal === principal ? { own: { tool, logId } } : {}) }, waiting };
}
