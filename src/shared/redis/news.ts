/** What changed, told by pub/sub to every process that listens. A message may be lost: who waits also looks. */
import type { Redis } from "ioredis";
import { channels } from "./keys.js";

export type NewsChannel = keyof typeof channels;

export interface News {
  /**
   * Calls `listener` with the message's subject (a log_id or an editor_id) until the returned function is called.
   * `onHeard`: from now on no message is missed; told for `changed` alone, which is subscribed to while somebody
   * listens. The others are heard from the start.
   */
  on(channel: NewsChannel, listener: (subject: string) => void, onHeard?: () => void): () => void;
  close(): void;
}

const { changed, ...ALWAYS } = channels;

/** Subscribes again after each reconnect; resolves when Redis has confirmed it, so that nothing published later is missed. */
export async function createNews(subscriber: Redis): Promise<News> {
  const listeners = new Map<string, Set<(subject: string) => void>>();
  const onMessage = (channel: string, subject: string): void => {
    for (const listener of listeners.get(channel) ?? []) listener(subject);
  };
  subscriber.on("message", onMessage);
  const isFollowed = (): boolean => (listeners.get(changed)?.size ?? 0) > 0;
  const subscribe = (): Promise<unknown> =>
    subscriber.subscribe(...Object.values(ALWAYS), ...(isFollowed() ? [changed] : []));
  await subscribe();
  // Fails only where the connection is lost or closed again: then the next `ready` does it, if there is one.
  const ignore = (): undefined => undefined;
  const onReady = (): void => void subscribe().catch(ignore);
  subscriber.on("ready", onReady);
  return {
    on(name, listener, onHeard) {
      const channel = channels[name];
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      if (channel === changed) subscriber.subscribe(changed).then(onHeard, ignore);
      return () => {
        const isLast = set.delete(listener) && set.size === 0;
        if (isLast && channel === changed) subscriber.unsubscribe(changed).catch(ignore);
      };
    },
    close() {
      subscriber.off("message", onMessage);
      subscriber.off("ready", onReady);
    },
  };
}
