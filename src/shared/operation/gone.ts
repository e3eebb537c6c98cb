/** Has the Editor session that holds an operation ended for good? Then only its ledger could say how the operation ended. */
import { type Evidence, isSent, isSessionKnown, next, type OperationRecord } from "./operation.js";

/**
 * - `closed`         its process is proven to have ended
 * - `newer_session`  another session of the same project has said hello since
 * - `forgotten`      a person ran the command that forgets the Editor
 */
export type Gone = "closed" | "newer_session" | "forgotten";

/** What the store knows of an Editor. */
export interface EditorTrace {
  profile: { editorSessionId: string };
  ended?: { editorSessionId: string; at: number } | undefined;
  last?: { at: number; phase: string; mainThreadStallMs: number; runningOperationId?: string } | undefined;
  /** ms since the epoch, store clock. */
  lastSeenAt: number;
}

/** Undefined while the operation waits for the Editor: it is connected, it only reloads, or nothing is known. */
export function goneOf(
  record: OperationRecord,
  editor: EditorTrace | undefined,
  isHere: boolean,
): Gone | undefined {
  if (!isSent(record.state) || isHere) return undefined;
  if (editor?.ended && editor.ended.editorSessionId === record.sentIn) return "closed";
  // A rebuilt record is older than what the store knows of its Editor.
  if (record.rebuilt) return undefined;
  if (!editor) return "forgotten";
  if (!isSessionKnown(record)) return undefined;
  const isNewer = editor.profile.editorSessionId !== record.sentIn;
  return isNewer && editor.lastSeenAt >= (record.dispatchedAt ?? record.acceptedAt)
    ? "newer_session"
    : undefined;
}

const WHY: Record<Gone, string> = {
  closed: "Its Editor closed (the process is gone) before it reported an outcome",
  newer_session: "Its Editor was restarted, and has not reported an outcome",
  forgotten: "Its Editor was forgotten before it reported an outcome",
};

/** The cancelled record, with an unknown outcome; undefined if the operation has ended meanwhile. */
export function interruptAsGone(
  record: OperationRecord,
  gone: Gone,
  editor: EditorTrace | undefined,
  now: number,
): OperationRecord | undefined {
  const state = next(record.state, "interrupted");
  if (!state) return undefined;
  const message = `${WHY[gone]}; then it was cancelled.`;
  return {
    ...record,
    state,
    endedAt: now,
    cancel: record.cancel ?? { requestedAt: now },
    error: { code: "OUTCOME_UNKNOWN", type: "editor_gone", message },
    ...(editor ? { evidence: evidenceOf(record, editor) } : {}),
  };
}

function evidenceOf({ logId, executedAs }: OperationRecord, { last, lastSeenAt }: EditorTrace): Evidence {
  if (!last) return { lastHeartbeatAt: lastSeenAt };
  const { at, phase, mainThreadStallMs, runningOperationId } = last;
  const wasRunning = runningOperationId === (executedAs ?? logId);
  return { lastHeartbeatAt: at, phase, mainThreadStallMs, wasRunning };
}
