/**
 * What an Editor announces on both its channels, the connection and the push channel: what comes twice acts once.
 *
 * Both say everything, in any order; so the second word about a thing is the first one from the other channel, for as
 * long as it may be on its way. Losing one channel loses nothing: the other one's words are then never taken as second.
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

/** How much later the same word may come on the other channel, ms. */
const TWIN_MS = 2_000;
/** Words of one event without a twin; a peer that says more of them only says them more often. */
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
  /** Words that the other channel has not repeated yet, by event: from where, and when. */
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
