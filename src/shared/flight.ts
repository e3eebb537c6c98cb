/** What is said of an operation that has not ended: where it is, what it waits for, and for how long. */
import { CLASS_MS, overdueBy } from "./execution-class.js";
import type { Deadline } from "./expiry.js";
import type { Gone } from "./gone.js";
import type { OperationRecord } from "./operation.js";
import type { Trouble } from "./trouble.js";

/** The Editor of an operation in flight is not here. Times in ms since the epoch, store clock. */
export interface EditorAway {
  project: string | undefined;
  lastSeenAt: number | undefined;
  /** Its last process is proven to be gone; else it may be reloading. */
  hasClosed: boolean;
  /** What it had of this operation can be given up by a cancellation. */
  gone: Gone | undefined;
  /** When the operation stops waiting for it. */
  deadline: Deadline | undefined;
  /** The store was put back since: it says that the operation waits, and it may have been sent (unsent.ts). */
  mayHaveBeenSent: boolean;
}

export interface Flight {
  record: OperationRecord;
  queuePosition?: number | undefined;
  /** Set where its Editor is away. */
  editorAway?: EditorAway | undefined;
  /** What keeps it from being sent, if it is its caller's limit. */
  heldBack?: { limit: number; by: Pick<OperationRecord, "logId" | "tool" | "editor">[] } | undefined;
  /** What keeps its Editor from working. */
  trouble?: Trouble | undefined;
  /** ms since the epoch, store clock. */
  now: number;
}

export function flightMessage(view: Flight): string {
  const { trouble } = view;
  return trouble ? `${placeMessage(view)} ${trouble.message} ${trouble.next}` : placeMessage(view);
}

function placeMessage(view: Flight): string {
  const { record, editorAway, heldBack, queuePosition, now } = view;
  if (editorAway) return awayMessage(view, editorAway);
  if (record.state === "running") return `It is running in the Editor.${overdueMessage(record, now)}`;
  if (record.state === "dispatched") return "It was sent to the Editor and waits for its main thread.";
  if (heldBack) return heldMessage(heldBack);
  return queuePosition
    ? `It waits in the Editor's queue behind ${queuePosition} other(s).`
    : "It waits in the Editor's queue.";
}

/** Nothing is said to run where nobody has heard of the Editor. */
function awayMessage({ record, trouble }: Flight, away: EditorAway): string {
  const { gone, deadline } = away;
  const by = deadline ? ` at ${clock(deadline.at)}` : "";
  // A trouble says by itself what is the matter and what to do about it.
  const open = trouble ? "" : ` Ask the user to open ${away.project ?? "its project"} in Unity.`;
  if (away.mayHaveBeenSent) {
    const cancelled = record.cancel ? " Its cancellation is passed on then, if it has not started." : "";
    return `${whereItIs(record, away, trouble)} The broker's store was put back, and whether the operation was sent is not known until the Editor is back.${cancelled}${open}`;
  }
  if (record.state === "accepted" || record.state === "queued") {
    return `${whereItIs(record, away, trouble)} The operation has not started: it waits for the Editor, and expires${by} if that stays away.${open}`;
  }
  const begun = record.state === "running" ? "begun there" : "been sent there";
  const cancelled = record.cancel && !gone ? " Its cancellation is passed on then." : "";
  const atOnce = gone ? "; cancel_operation ends it at once" : "";
  return `${whereItIs(record, away, trouble)} The operation had ${begun} and may have finished: its outcome is collected when the Editor is back.${cancelled} Without that it is called interrupted${by}${atOnce}.${open}`;
}

function whereItIs(
  { editor }: OperationRecord,
  { project, lastSeenAt, hasClosed, gone }: EditorAway,
  trouble: Trouble | undefined,
): string {
  if (gone === "forgotten") return `The Editor ${editor} was forgotten.`;
  const name = project === undefined ? `The Editor ${editor}` : `The Editor of ${project}`;
  const seen = lastSeenAt === undefined ? undefined : clock(lastSeenAt);
  if (hasClosed) return `${name} has closed${seen ? ` (last seen at ${seen})` : ""}.`;
  const guess = trouble ? "" : ": it reloads, restarts, or was closed";
  return `${name} is not connected${seen ? `, and was last seen at ${seen}` : ""}${guess}.`;
}

/** To the second, UTC. */
function clock(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function heldMessage({ limit, by }: NonNullable<Flight["heldBack"]>): string {
  const those = by.map(({ logId, tool, editor }) => `${tool} on ${editor} (${logId})`).join(", ");
  return `It is held back: ${limit} operation(s) of one caller may run at once (UNITY_BROKER_MAX_RUNNING), and these do: ${those}. It starts when one of them ends; cancel_operation ends one that is not needed.`;
}

function overdueMessage(record: OperationRecord, now: number): string {
  if (overdueBy(record, now) === undefined) return "";
  const time = (ms: number): string =>
    ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
  const ran = time(now - (record.startedAt ?? now));
  return ` It has run for ${ran}; calls of its class (${record.executionClass ?? "long"}) usually end within ${time(CLASS_MS[record.executionClass ?? "long"])}. That alone ends nothing; cancel_operation asks the Editor to stop it.`;
}
