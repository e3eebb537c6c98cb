/**
 * The schema's major version, and what happens when brokers of two versions use one store.
 *
 * A store keeps the number of the release that began it. A broker of another number refuses to start, and says what to do. One that
 * is already running when the store was emptied and begun by a newer release becomes harmless: the scripts that write operations and
 * that take or renew a lease refuse it. It does not exit: the client that started it would only start the same version again.
 */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import { BrokerError } from "../errors.js";
import { channels, keys, SCHEMA_VERSION } from "./keys.js";

const REFUSAL = "UJBNEWER";

/** The first lines of a script that a process of an older version must not run; `key` is its KEYS entry. */
export function guard(key: string): string {
  return `
local schema = redis.call('GET', ${key}) or '0'
if tonumber(schema) > ${SCHEMA_VERSION} then return redis.error_reply('${REFUSAL} ' .. schema) end`;
}

/** Awaits a guarded script; rejects with STORE_UNFIT if the guard refused. */
export async function guarded<T>(script: Promise<T>): Promise<T> {
  try {
    return await script;
  } catch (error) {
    const schema = new RegExp(`${REFUSAL} (\\d+)`).exec((error as Error).message)?.[1];
    throw schema === undefined ? error : newerBroker(schema, error);
  }
}

/**
 * KEYS 1 schema, 2 store id; ARGV 1 our version, 2 the id by which we know the store, or else empty, 3 one for a new store. Answer:
 * the schema, the store id.
 */
const CLAIM = `
local function madeAt(id) return tonumber(string.match(id, '^(%d+)%.') or '0') end
redis.call('SETNX', KEYS[1], ARGV[1])
local schema, id = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
local isKnown = ARGV[2] ~= ''
if schema == ARGV[1] and (not id or isKnown and madeAt(ARGV[2]) < madeAt(id)) then
  id = isKnown and ARGV[2] or ARGV[3]
  redis.call('SET', KEYS[2], id)
end
return {schema, id or ''}
`;

/**
 * Claims the store, and answers its id. A store that was emptied gets back the id by which the Editors know it: of two the one
 * that was made first, for a process that did not know it may have been there before. Rejects with STORE_UNFIT if its schema is another.
 */
export async function claimStore(redis: Redis, knownId = ""): Promise<string> {
  const newId = `${Date.now()}.${randomUUID()}`;
  const answer = await redis.eval(CLAIM, 2, keys.schema, keys.storeId, SCHEMA_VERSION, knownId, newId);
  const [schema, storeId] = answer as [string, string];
  if (Number(schema) > SCHEMA_VERSION) throw newerBroker(schema);
  if (Number(schema) < SCHEMA_VERSION) throw olderStore(schema);
  return storeId;
}

function olderStore(schema: string): BrokerError {
  return new BrokerError(
    "STORE_UNFIT",
    `This Redis holds the operations of an earlier release (schema ${schema}), which this one (schema ${SCHEMA_VERSION}) does not read. Empty it with FLUSHDB, or name another one in REDIS_URL; the private Redis of this machine: unity-broker down, then delete the folder redis of its data directory.`,
  );
}

function newerBroker(schema: string, cause?: unknown): BrokerError {
  return new BrokerError(
    "STORE_UNFIT",
    `A newer broker (schema ${schema}) uses this Redis; this one supports schema ${SCHEMA_VERSION}. Install that release here too, from the source you installed this one from.`,
    {},
    cause,
  );
}

// Store incarnation (▲13): it changes whenever the store may have lost its latest writes.
//
// A flush removes it. A restarted Redis has another run id and may have lost its last second. A private Redis that is
// shut down in order is marked before it ends (`orderly`), and keeps the incarnation.

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
