/** What those who follow operations are sent, by server-sent events or a WebSocket. */
import type { OperationEventEntry } from "../../shared/store/operations/events.js";

/**
 * - `ready`      the first one; what comes later is after its id.
 * - `operation`  something happened to an operation; each once, in order.
 * - `progress` `partial` `log`  how a running operation is now, or what its Console says.
 * - `editors`    what Editors do has changed: read them again.
 * - `snapshot`   the operation as it is, before anything that happens later.
 * - `ended`      its answer; nothing follows.
 * - `gap`        what happened in between is not kept any more: read again what you show.
 */
export type LiveEventName =
  | "ready"
  | "operation"
  | "progress"
  | "partial"
  | "log"
  | "editors"
  | "snapshot"
  | "ended"
  | "gap";

export interface LiveEvent {
  event: LiveEventName;
  /** Where to go on after this one; absent: from the one before. */
  id?: string;
  data: unknown;
}

export const GAP = { message: "Events in between are not kept any more. Read again what you show." } as const;

/** How often a follower without a message looks, in case that one was lost, ms. */
export const LOOK_MS = 5_000;

export function shownEntry(entry: OperationEventEntry): Record<string, unknown> {
  const { at, event, logId, state, tool, editor, principal } = entry;
  return { log_id: logId, event, state, tool, editor, principal, at: new Date(at).toISOString() };
}

/** A place in the stream of events, as Redis writes it. */
export const EVENT_ID = /^\d{1,16}-\d{1,12}$/;
