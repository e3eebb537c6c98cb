/** What a restarted gateway needs to adopt an MCP session over HTTP. */
import type { Redis, Result } from "ioredis";
import { keys } from "./keys.js";
import { USED_NOW } from "./operations/limits.js";

export interface StoredSession {
  principal: string;
  /** The needed parts of the client's `initialize` request. */
  initialize: unknown;
  /** The Editor that it selected. */
  selected?: string | undefined;
}

export interface Sessions {
  /** Stores a new session. Beyond the limit of its principal, the one unused for longest is dropped. */
  save(sessionId: string, session: StoredSession): Promise<void>;
  /** Stores what the session selected, even if the store forgot the session: its next call may reach another gateway. Does nothing if it has ended. */
  change(sessionId: string, session: StoredSession): Promise<void>;
  /** Records a use: restarts its lifetime. */
  touch(sessionId: string, principal: string): Promise<void>;
  /** Undefined if unknown or another principal's; does not restart its lifetime. */
  peek(sessionId: string, principal: string): Promise<StoredSession | undefined>;
  /** As `peek`, and restarts its lifetime. */
  load(sessionId: string, principal: string): Promise<StoredSession | undefined>;
  remove(sessionId: string, principal: string): Promise<void>;
}

export interface SessionsOptions {
  retentionMs: number;
  /** Most sessions of one principal. */
  mostSessions?: number | undefined;
}

/** Each takes about 1 KiB, and any client with a token may open sessions without limit. */
const MOST_SESSIONS = 1_000;

/** The end of a session is kept longer than any request that was under way then can take, ms. */
const ENDED_MS = 600_000;
/** Stands for the JSON of a session that has ended. */
const ENDED = "{}";

/**
 * KEYS 1 the session, 2 the principal's sessions
 * ARGV 1 id, 2 its JSON ("": unchanged), 3 life ms, 4 most sessions of one principal, 5 the prefix of sessions,
 * 6 "new", "change": unless it has ended, "touch": only if it exists
 */
const SAVE = `${USED_NOW}
local time = redis.call('TIME')
local now, life = time[1] * 1000 + time[2] / 1000, tonumber(ARGV[3])
local before = ARGV[6] ~= 'new' and redis.call('GET', KEYS[1])
if before == '${ENDED}' or (ARGV[6] == 'touch' and not before) then return end
if ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2], 'PX', life) else redis.call('PEXPIRE', KEYS[1], life) end
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
    which: "new" | "change" | "touch",
  ): Promise<void> => {
    await redis.ujbSaveSession(
      ...[keys.session(sessionId), keys.sessions(principal)],
      ...[sessionId, text, retentionMs, mostSessions, keys.session(""), which],
    );
  };

  const peek: Sessions["peek"] = async (sessionId, principal) => {
    const text = await redis.get(keys.session(sessionId));
    if (text === null) return undefined;
    const session = JSON.parse(text) as StoredSession;
    return session.principal === principal ? session : undefined;
  };

  return {
    save: (sessionId, session) => save(sessionId, session.principal, JSON.stringify(session), "new"),
    change: (sessionId, session) => save(sessionId, session.principal, JSON.stringify(session), "change"),
    touch: (sessionId, principal) => save(sessionId, principal, "", "touch"),
    peek,

    async load(sessionId, principal) {
      const session = await peek(sessionId, principal);
      if (session) await save(sessionId, principal, "", "touch");
      return session;
    },

    async remove(sessionId, principal) {
      await redis
        .multi()
        .set(keys.session(sessionId), ENDED, "PX", ENDED_MS)
        .zrem(keys.sessions(principal), sessionId)
        .exec();
    },
  };
}
