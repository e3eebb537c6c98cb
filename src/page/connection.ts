/** Whether the gateway answers, and since when it does not: the page never passes off old values as the present. */

export interface Connection {
  /** `live`: told of changes; `asking`: asks every few seconds; `paused`: nobody looks; `lost`: no answer. */
  is: "connecting" | "live" | "asking" | "paused" | "lost";
  /** ms since the epoch */
  since: number;
}

let now: Connection = { is: "connecting", since: Date.now() };
const listeners = new Set<(connection: Connection) => void>();

export function connection(): Connection {
  return now;
}

export function becomes(is: Connection["is"]): void {
  if (is === now.is) return;
  now = { is, since: Date.now() };
  for (const listener of listeners) listener(now);
}

export function onConnection(listener: (connection: Connection) => void): void {
  listeners.add(listener);
  listener(now);
}
