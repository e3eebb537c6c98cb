/** What a gateway that was started again must know of an MCP session over HTTP to adopt it. */
import type { Redis } from "ioredis";
import { keys } from "./keys.js";

export interface StoredSession {
  principal: string;
  /** What is needed of the client's `initialize` request. */
  initialize: unknown;
  /** The Editor that it selected. */
  selected?: string | undefined;
}

export interface Sessions {
  save(sessionId: string, session: StoredSession): Promise<void>;
  /** Also renews its lifetime; undefined when unknown. */
  load(sessionId: string): Promise<StoredSession | undefined>;
  remove(sessionId: string): Promise<void>;
}

export function createSessions(redis: Redis, options: { retentionMs: number }): Sessions {
  return {
    async save(sessionId, session) {
      await redis.set(keys.session(sessionId), JSON.stringify(session), "PX", options.retentionMs);
    },
    async load(sessionId) {
      const text = await redis.getex(keys.session(sessionId), "PX", options.retentionMs);
      return text === null ? undefined : (JSON.parse(text) as StoredSession);
    },
    async remove(sessionId) {
      await redis.del(keys.session(sessionId));
    },
  };
}
