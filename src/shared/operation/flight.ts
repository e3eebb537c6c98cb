/** The message for an operation that has not ended: where it is, what it waits for, and for how long. */

import type { Diagnosis } from "../editors/diagnosis.js";
import { mostExecutionMs, overdueBy } from "../tools/call-rules.js";
import type { Estimate } from "./estimate.js";
import type { Deadline } from "./expiry.js";
import type { Gone } from "./gone.js";
import { isWaiting, type OperationRecord } from "./operation.js";

/** The Editor of an operation in flight is not connected. Times in ms since the epoch, store clock. */
export interface EditorAway {
  project: string | undefined;
  lastSeenAt: number | undefined;
  /** Its last process is proven to have ended; otherwise it may be reloading. */
  hasClosed: boolean;
  /** Why its session cannot come back, so that a cancellation may end the operation at once. */
  gone: Gone | undefined;
  /** When the operation stops waiting for it. */
  deadline: Deadline | undefined;
  /** The store was restored since: its record says that the operation waits, but it may have been sent (operation.ts). */
  mayHaveBeenSent: boolean;
}

/** The Editors of the pool in which an operation waits. */
export interface WaitingPool {
  known: number;
  /** Without those that are paused. */
  connected: number;
  paused: number;
  /** Since a loss of the store: one of these Editors, which are not back, may have run it (▲13). */
  closedBy: readonly string[];
}

export interface Flight {
  record: OperationRecord;
  /** Set while no Editor has taken it from its pool. */
  pool?: WaitingPool | undefined;
  queuePosition?: number | undefined;
  /** Where earlier identical calls tell it, and nothing else is in its way. */
  estimate?: Estimate | undefined;
  /** Nothing new is started in its Editor until a person resumes it. */
  isPaused?: boolean | undefined;
  /** Set while its Editor is not connected. */
  editorAway?: EditorAway | undefined;
  /** Set while the caller's limit, or that of a resource, keeps it from being sent. */
  heldBack?:
    | { limit: number; by: Pick<OperationRecord, "logId" | "tool" | "editor">[]; resource?: string }
    | undefined;
  /** What keeps its Editor from working. */
  diagnosis?: Diagnosis | undefined;
  /** ms since the epoch, store clock. */
  now: number;
}

export function flightMessage(view: Flight): string {
  const { diagnosis } = view;
  return diagnosis ? `${placeMessage(view)} ${diagnosis.message} ${diagnosis.next}` : placeMessage(view);
}

function placeMessage(view: Flight): string {
  const { record, editorAway, heldBack, queuePosition, pool, now, estimate } = view;
  if (editorAway) return awayMessage(view, editorAway);
  if (record.state === "running")
    return `It is running in the Editor.${endsIn(estimate)}${overdueMessage(record, now)}`;
  if (record.state === "dispatched") return "It was sent to the Editor and waits for its main thread.";
  if (heldBack) return heldMessage(heldBack);
  if (pool && pool.closedBy.length > 0)
    return `It waits: the broker's store has lost data, and one of the Editors that have not connected since may have run it: ${pool.closedBy.join(", ")}. It goes on once they are back; \`unity-broker editors forget\` removes one that is gone for good.`;
  if (pool) {
    if (pool.connected === 0)
      return `It waits: each connected Editor of ${record.editor} is paused (list_editors), and starts nothing new until \`unity-broker editors resume <editor>\`.`;
    const before = queuePosition ? `, behind ${queuePosition} other(s)` : "";
    const paused = pool.paused > 0 ? `, ${pool.paused} more paused` : "";
    return `It waits for an idle Editor of ${record.editor} (${pool.connected} connected${paused})${before}.${startsIn(estimate)}`;
  }
  if (view.isPaused)
    return `It waits: the Editor is paused, and starts nothing new until \`unity-broker editors resume ${record.editor}\`.`;
  return queuePosition
    ? `It waits in the Editor's queue behind ${queuePosition} other(s).${startsIn(estimate)}`
    : "It waits in the Editor's queue.";
}

const startsIn = ({ startMs }: Estimate = {}): string =>
  startMs === undefined || startMs < 1_000
    ? ""
    : ` By earlier identical calls it starts in about ${about(startMs)}.`;

const endsIn = ({ endMs }: Estimate = {}): string =>
  endMs === undefined || endMs < 1_000 ? "" : ` By the last identical call it ends in about ${about(endMs)}.`;

function about(ms: number): string {
  return ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** For an Editor that is not connected: says "running" of nothing. */
function awayMessage({ record, pool, diagnosis }: Flight, away: EditorAway): string {
  const { gone, deadline } = away;
  const by = deadline ? ` at ${clock(deadline.at)}` : "";
  if (pool && !away.mayHaveBeenSent)
    return `None of the ${pool.known} known Editor(s) of ${record.editor} is connected. The operation has not started: it waits for one of them, and expires${by} if none comes. Ask the user to start one.`;
  // A diagnosis already says what is wrong and what to do.
  const open = diagnosis ? "" : ` Ask the user to open ${away.project ?? "its project"} in Unity.`;
  const moved = away.hasClosed
    ? " If the project's folder was renamed or moved, it has another Editor now: cancel this operation and name that one."
    : "";
  if (away.mayHaveBeenSent) {
    const cancelled = record.cancel ? " If it has not started, its cancellation is delivered then." : "";
    return `${whereItIs(record, away, diagnosis)} The broker's store has lost data since; whether the operation was sent is unknown until the Editor is back.${cancelled}${open}`;
  }
  if (isWaiting(record.state)) {
    return `${whereItIs(record, away, diagnosis)} The operation has not started: it waits for the Editor, and expires${by} if the Editor does not come back.${open}${moved}`;
  }
  const begun = record.state === "running" ? "started there" : "been sent there";
  const cancelled = record.cancel && !gone ? " Its cancellation is delivered then." : "";
  const atOnce = gone ? "; cancel_operation ends it at once" : "";
  return `${whereItIs(record, away, diagnosis)} The operation had ${begun} and may have finished: its outcome is collected when the Editor is back.${cancelled} If the Editor does not come back, the operation is marked interrupted${by}${atOnce}.${open}`;
}

function whereItIs(
  { editor }: OperationRecord,
  { project, lastSeenAt, hasClosed, gone }: EditorAway,
  diagnosis: Diagnosis | undefined,
): string {
  if (gone === "forgotten") return `The Editor ${editor} was forgotten.`;
  const name = project === undefined ? `The Editor ${editor}` : `The Editor of ${project}`;
  const seen = lastSeenAt === undefined ? undefined : clock(lastSeenAt);
  if (hasClosed) return `${name} has closed${seen ? ` (last seen at ${seen})` : ""}.`;
  const guess = diagnosis ? "" : ": it is reloading, restarting, or closed";
  return `${name} is not connected${seen ? `, and was last seen at ${seen}` : ""}${guess}.`;
}

/** To the second, UTC. */
function clock(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function heldMessage({ limit, by, resource }: NonNullable<Flight["heldBack"]>): string {
  const those = by.map(({ logId, tool, editor }) => `${tool} on ${editor} (${logId})`).join(", ");
  if (resource !== undefined) {
    const yours = those === "" ? "" : ` (yours: ${those})`;
    return `It waits for a place of "${resource}": ${limit} operation(s) of Editors with this label may run at once (UNITY_BROKER_RESOURCES). It starts when one that runs there${yours} ends.`;
  }
  return `It is held back: ${limit} operation(s) of one caller may run at once (UNITY_BROKER_MAX_RUNNING), and these are running: ${those}. It starts when one of them ends; cancel one that is not needed with cancel_operation.`;
}

function overdueMessage(record: OperationRecord, now: number): string {
  if (overdueBy(record, now) === undefined) return "";
  const time = (ms: number): string =>
    ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
  const ran = time(now - (record.startedAt ?? now));
  return ` It has run for ${ran}; calls of its class (${record.executionClass ?? "long"}) usually end within ${time(mostExecutionMs(record))}. It is not stopped for that; cancel_operation asks the Editor to stop it.`;
}
