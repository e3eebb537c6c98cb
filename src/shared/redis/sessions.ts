/** What a gateway that was started again must know of an MCP session over HTTP to adopt it. */
import type { Redis, Result } from "ioredis";
import { keys } from "./keys.js";
import { USED_NOW } from "./used-now.js";

export interface StoredSession {
  principal: string;
  /** What is needed of the client's `initialize` request. */
  initialize: unknown;
  /** The Editor that it selected. */
  selected?: string | undefined;
}

export interface Sessions {
  /** A new one. Beyond so many of one principal the one that is unused for longest is forgotten. */
  save(sessionId: string, session: StoredSession): Promise<void>;
  /** What it selected; nothing where it has ended. */
  change(sessionId: string, session: StoredSession): Promise<void>;
  /** It is used: begins its time anew. */
  touch(sessionId: string, principal: string): Promise<void>;
  /** Also renews its lifetime; undefined when unknown. */
  load(sessionId: string): Promise<StoredSession | undefined>;
  remove(sessionId: string, principal: string): Promise<void>;
}

export interface SessionsOptions {
  retentionMs: number;
  /** Of one principal. */
  mostSessions?: number | undefined;
}

/** Each takes about 1 KiB, and anybody with a token may open as many as a client can ask for. */
const MOST_SESSIONS = 1_000;

/**
 * KEYS 1 the session, 2 the principal's sessions
 * ARGV 1 id, 2 its JSON ("": as it is stored), 3 life ms, 4 how many of one principal are kept, 5 the prefix of sessions,
 * 6 "new", or else only where it is there
 */
const SAVE = `${USED_NOW}
local time = redis.call('TIME')
local now, life = time[1] * 1000 + time[2] / 1000, tonumber(ARGV[3])
if ARGV[6] ~= 'new' and redis.call('PEXPIRE', KEYS[1], life) == 0 then return end
if ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2], 'PX', life) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - life)
redis.call('ZADD', KEYS[2], usedNow(KEYS[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[2], life)
for _ = 1, redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4]) do
  redis.call('DEL', ARGV[5] .. redis.call('ZPOPMIN', KEYS[2])[1])
end`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbSaveSession(...keysAndArguments: (string | number)[]): Result<null, Context>;
  }
}

export function createSessions(redis: Redis, options: SessionsOptions): Sessions {
  const { retentionMs, mostSessions = MOST_SESSIONS } = options;
  redis.defineCommand("ujbSaveSession", { numberOfKeys: 2, lua: SAVE });

  const save = async (
    sessionId: string,
    principal: string,
    text: string,
    which: "new" | "known",
  ): Promise<void> => {
    await redis.ujbSaveSession(
      ...[keys.session(sessionId), keys.sessions(principal)],
      ...[sessionId, text, retentionMs, mostSessions, keys.session(""), which],
    );
  };

  return {
    save: (sessionId, session) => save(sessionId, session.principal, JSON.stringify(session), "new"),
    change: (sessionId, session) => save(sessionId, session.principal, JSON.stringify(session), "known"),
    touch: (sessionId, principal) => save(sessionId, principal, "", "known"),

    async load(sessionId) {
      const text = await redis.get(keys.session(sessionId));
      if (text === null) return undefined;
      const session = JSON.parse(text) as StoredSession;
      await save(sessionId, session.principal, "", "known");
      return session;
    },

    async remove(sessionId, principal) {
      await redis.multi().del(keys.session(sessionId)).zrem(keys.sessions(principal), sessionId).exec();
    },
  };
}
