/** What changed, told by pub/sub to every process that listens. A message may be lost: who waits also looks. */
import type { Redis } from "ioredis";
import { channels } from "./keys.js";

export type NewsChannel = keyof typeof channels;

export interface News {
  /** Calls `listener` with the message's subject (a log_id or an editor_id) until the returned function is called. */
  on(channel: NewsChannel, listener: (subject: string) => void): () => void;
  close(): void;
}

/** Subscribes to every channel, again after each reconnect; resolves when Redis has confirmed it, so that nothing published later is missed. */
export async function createNews(subscriber: Redis): Promise<News> {
  const listeners = new Map<string, Set<(subject: string) => void>>();
  const onMessage = (channel: string, subject: string): void => {
    for (const listener of listeners.get(channel) ?? []) listener(subject);
  };
  subscriber.on("message", onMessage);
  const subscribe = (): Promise<unknown> => subscriber.subscribe(...Object.values(channels));
  await subscribe();
  const onReady = (): void => {
    // Fails only where the connection is lost or closed again: then the next `ready` does it, if there is one.
    subscribe().catch(() => undefined);
  };
  subscriber.on("ready", onReady);
  return {
    on(name, listener) {
      const channel = channels[name];
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      return () => set.delete(listener);
    },
    close() {
      subscriber.off("message", onMessage);
      subscriber.off("ready", onReady);
    },
  };
}
