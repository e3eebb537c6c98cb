/** What `run` says when it ends without a result, and the commands that go on. */
import { isFinal } from "../../shared/operation/operation.js";
import { spoken } from "./duration.js";
import type { Submitted } from "./submission.js";

export interface Hints {
  accepted(submitted: Submitted): string;
  waitEnded(logId: string, waitMs: number): string[];
  interrupted(logId: string | undefined): string[];
  away(logId: string | undefined, reason: string): string[];
  lost(logId: string): string[];
  unknown(logId: string): string[];
  notCancelled(logId: string): string[];
  unread(logId: string, reason: string): string[];
}

/** `self`: how this command line is called. */
export function createHints(self: string): Hints {
  const ways = (logId: string): string[] => [
    `Go on waiting:  ${self} run --log-id ${logId}`,
    `Cancel it:      ${self} cancel ${logId}`,
  ];
  const sameCommand = "Start the same command again: it finds the operation and runs nothing twice.";
  return {
    accepted: acceptedLine,
    waitEnded: (logId, waitMs) => [
      `The wait of ${spoken(waitMs)} ended; the operation goes on as ${logId}.`,
      ...ways(logId),
    ],
    interrupted: (logId) =>
      logId === undefined
        ? [`Interrupted before the broker had answered. ${sameCommand}`]
        : [`Interrupted; the operation goes on as ${logId}.`, ...ways(logId)],
    away: (logId, reason) => [
      `The broker does not answer: ${reason}`,
      ...(logId === undefined ? [sameCommand] : ways(logId)),
    ],
    lost: (logId) => [
      `The broker does not know the operation ${logId} any more: its store was lost, or its retention ended.`,
      "It may have run. Check the project's state first.",
    ],
    unknown: (logId) => [
      "It is not run again. Check the project's state; if it should run again, start the same command with",
      `  --force-new ${logId}`,
    ],
    notCancelled: (logId) => [
      `The cancellation was asked for, and the operation has not ended yet: ${logId}.`,
      ...ways(logId).slice(0, 1),
    ],
    unread: (logId, reason) => [
      `The operation ended, and its result could not be read: ${reason}`,
      ...ways(logId).slice(0, 1),
    ],
  };
}

function acceptedLine({ answer, supersedes }: Submitted): string {
  const { log_id: logId, deduplicated, state } = answer;
  if (supersedes !== undefined)
    return deduplicated
      ? `The outcome of ${supersedes} was read before, and another command has started it again as ${logId}.`
      : `The outcome of ${supersedes} was read before: it runs again as ${logId}.`;
  if (!deduplicated) return `log_id ${logId}`;
  return state !== undefined && isFinal(state)
    ? `Not run again: this is the recorded outcome of ${logId}.`
    : `This call is under way as ${logId}: waiting for it.`;
}
