/**
 * The events that an Editor announces on both its connection and the push channel: one that comes twice acts once.
 *
 * Both channels carry every event, in any order. So the second report of an event is the first one from the other
 * channel, within the time that it may be late. Losing one channel loses nothing: reports of the other then all act.
 */
import type { PushType } from "../../shared/wire/push.js";

export type EditorEvent = "reloading" | "recovered" | "tools_changed" | "leaving" | "disconnected_by_user";
type Channel = "connection" | "push";

const EVENTS: Partial<Record<PushType, EditorEvent>> = {
  DOMAIN_RELOAD: "reloading",
  DOMAIN_RELOAD_RECOVERED: "recovered",
  TOOLS_CHANGED: "tools_changed",
  UNITY_SHUTDOWN: "leaving",
  USER_DISCONNECT: "disconnected_by_user",
};

/** How much later the same event may arrive on the other channel, ms. */
const TWIN_MS = 2_000;
/** Most unmatched reports of one event; further ones only act more often. */
const MAX_SINGLE = 16;

export interface EditorEvents {
  pushed(type: PushType): void;
  toolsChanged(): void;
  /** `notifications/server/shutdown`. */
  stopping(reason: string | undefined): void;
}

export function createEditorEvents(
  act: (event: EditorEvent) => void,
  now: () => number = () => performance.now(),
): EditorEvents {
  /** Reports that the other channel has not repeated yet, by event: from where, and when. */
  const single = new Map<EditorEvent, { from: Channel; at: number }[]>();

  const heard = (event: EditorEvent, from: Channel): void => {
    const fresh = (single.get(event) ?? []).filter(({ at }) => now() - at < TWIN_MS);
    const twin = fresh.findIndex((word) => word.from !== from);
    if (twin >= 0) fresh.splice(twin, 1);
    else if (fresh.length < MAX_SINGLE) fresh.push({ from, at: now() });
    single.set(event, fresh);
    if (twin < 0) act(event);
  };

  return {
    pushed(type) {
      const event = EVENTS[type];
      if (event) heard(event, "push");
    },
    toolsChanged: () => heard("tools_changed", "connection"),
    stopping: (reason) => heard(isReload(reason) ? "reloading" : "leaving", "connection"),
  };
}

/** `DomainReload` and `EditorQuit` of uLoop bridges, `domain_reload` and `editor_quit` of ours. */
function isReload(reason: string | undefined): boolean {
  return /reload/i.test(reason ?? "");
}
