/** Publishes changes to every process that listens. A message may be lost: a waiter also reads the store. */
import type { Redis } from "ioredis";
import { channels } from "./keys.js";

export type NotifierChannel = keyof typeof channels;

export interface Notifier {
  /**
   * Calls `listener` with the message's subject (a log_id or an editor_id) until the returned function is called. `onGap`:
   * earlier messages may have been missed, so data read from the store may be stale. Called after each reconnect, and once
   * for `changed`, which is subscribed only while it has a listener; the other channels are subscribed from the start.
   */
  on(channel: NotifierChannel, listener: (subject: string) => void, onGap?: () => void): () => void;
  close(): void;
}

const { changed, ...ALWAYS } = channels;

/** Resubscribes after each reconnect. Resolves once Redis has confirmed, so that no later message is missed. */
export async function createNotifier(subscriber: Redis): Promise<Notifier> {
  const listeners = new Map<
    string,
    Set<{ listener: (subject: string) => void; onGap?: (() => void) | undefined }>
  >();
  const onMessage = (channel: string, subject: string): void => {
    for (const { listener } of listeners.get(channel) ?? []) listener(subject);
  };
  const reportGap = (): void => {
    for (const set of listeners.values()) for (const { onGap } of set) onGap?.();
  };
  subscriber.on("message", onMessage);
  const isFollowed = (): boolean => (listeners.get(changed)?.size ?? 0) > 0;
  const subscribe = (): Promise<unknown> =>
    subscriber.subscribe(...Object.values(ALWAYS), ...(isFollowed() ? [changed] : []));
  await subscribe();
  // Fails only if the connection is lost or closed: the next `ready`, if any, subscribes again.
  const ignore = (): undefined => undefined;
  const onReady = (): void => void subscribe().then(reportGap, ignore);
  subscriber.on("ready", onReady);
  return {
    on(name, listener, onGap) {
      const channel = channels[name];
      const set = listeners.get(channel) ?? new Set();
      const subscription = { listener, onGap };
      listeners.set(channel, set.add(subscription));
      if (channel === changed) subscriber.subscribe(changed).then(onGap, ignore);
      return () => {
        const isLast = set.delete(subscription) && set.size === 0;
        if (isLast && channel === changed) subscriber.unsubscribe(changed).catch(ignore);
      };
    },
    close() {
      subscriber.off("message", onMessage);
      subscriber.off("ready", onReady);
    },
  };
}
