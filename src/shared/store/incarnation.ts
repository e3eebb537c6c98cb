/**
 * Store incarnation (▲13): it changes whenever the store may have lost its latest writes.
 *
 * A flush removes it. A restarted Redis has another run id and may have lost its last second. A private Redis that is
 * shut down in order is marked before it ends (`orderly`), and keeps the incarnation.
 */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import { channels, keys } from "./keys.js";

/** Lua: begins another incarnation, and says so: what an Editor knows is asked for at once. */
export const BEGIN_INCARNATION = `
local function beginIncarnation(key, id)
  redis.call('HSET', key, 'id', id)
  redis.call('PUBLISH', '${channels.incarnation}', id)
end
`;

/**
 * Lua: `incarnationOf` answers the incarnation, and begins the given one if the store may have lost something. A Redis
 * that is used after it was marked was not shut down, so the mark is removed. `key`: HASH id, run (the run id of the
 * Redis that it was last seen in), before (the run id before that), orderly (the run id of one that lost nothing).
 */
export const INCARNATION = `${BEGIN_INCARNATION}
local function incarnationOf(key, fresh)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local found = redis.call('HMGET', key, 'id', 'run', 'orderly')
  local id, seen, orderly = found[1], found[2], found[3]
  if id and seen == run then
    if orderly then redis.call('HDEL', key, 'orderly') end
    return id
  end
  if not id or orderly ~= seen then
    id = fresh
    beginIncarnation(key, id)
  end
  redis.call('HSET', key, 'run', run, 'before', seen or '')
  redis.call('HDEL', key, 'orderly')
  return id
end
`;

/** KEYS 1 incarnation; ARGV 1 a new incarnation, if the store had lost something before. Answer: 1, or 0 if it has none. */
const ORDERLY = `${INCARNATION}
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
incarnationOf(KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], 'orderly', redis.call('HGET', KEYS[1], 'run'))
return 1
`;

/**
 * The command to send to a private Redis right before SHUTDOWN, which saves everything: the next Redis on the same data
 * then keeps the incarnation. Without it, or if the Redis goes on running, the incarnation changes.
 */
export function orderlyEnd(): string[] {
  return ["EVAL", ORDERLY, "1", keys.incarnation, randomUUID()];
}

/** KEYS 1 editor, 2 its lease; ARGV 1 the owner's nonce, 2 the incarnation, 3 the Editor, 4 the channel of Editors. */
const NOTE_IMPORT = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'imported', ARGV[2])
redis.call('PUBLISH', ARGV[4], ARGV[3])
return 1
`;

/** KEYS 1 incarnation; ARGV 1 the incarnation to end, 2 a new one. */
const BEGIN = `${BEGIN_INCARNATION}
if redis.call('HGET', KEYS[1], 'id') == ARGV[1] then beginIncarnation(KEYS[1], ARGV[2]) end
`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbIncarnation(key: string, fresh: string): Result<string, Context>;
    ujbBeginIncarnation(key: string, over: string, fresh: string): Result<null, Context>;
    ujbNoteImport(...keysAndArguments: string[]): Result<number, Context>;
  }
}

export interface Incarnations {
  /** The store's present incarnation. The first call after a possible loss begins a new one. */
  incarnation(): Promise<string>;
  /** The one that was found last, by whatever process; it may have ended since. */
  lastIncarnation(): Promise<string | undefined>;
  /**
   * The run ids of the Redis that the store is in, and of the one before. A process that has since seen the store in
   * another Redis knows that an older copy was restored: a Redis shut down in order takes its mark along.
   */
  runs(): Promise<string[]>;
  /** The caller knows that the store has lost something in this incarnation: begins another. */
  beginIncarnation(over: string): Promise<void>;
  /** The incarnation in which the Editor's whole ledger was last imported (▲13). */
  importedIn(editor: string): Promise<string | undefined>;
  /** Called by the Editor's owner. Has no effect after it lost its lease: its restored records were refused. */
  noteImport(editor: string, incarnation: string, fence: string): Promise<void>;
}

export function createIncarnations(redis: Redis): Incarnations {
  redis.defineCommand("ujbIncarnation", {
    numberOfKeys: 1,
    lua: `${INCARNATION} return incarnationOf(KEYS[1], ARGV[1])`,
  });
  redis.defineCommand("ujbBeginIncarnation", { numberOfKeys: 1, lua: BEGIN });
  redis.defineCommand("ujbNoteImport", { numberOfKeys: 2, lua: NOTE_IMPORT });
  return {
    incarnation: () => redis.ujbIncarnation(keys.incarnation, randomUUID()),
    lastIncarnation: async () => (await redis.hget(keys.incarnation, "id")) ?? undefined,
    async runs() {
      const found = await redis.hmget(keys.incarnation, "run", "before");
      return found.filter((run) => run !== null && run !== "") as string[];
    },
    async beginIncarnation(over) {
      await redis.ujbBeginIncarnation(keys.incarnation, over, randomUUID());
    },
    importedIn: async (editor) => (await redis.hget(keys.editor(editor), "imported")) ?? undefined,
    async noteImport(editor, incarnation, fence) {
      await redis.ujbNoteImport(
        keys.editor(editor),
        keys.lease(editor),
        fence,
        incarnation,
        editor,
        channels.editors,
      );
    },
  };
}
