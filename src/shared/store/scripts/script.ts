/** Lua scripts that write operations: what they have in common. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { keys } from "../keys.js";
import { isStoreFull } from "../operations/limits.js";
import { guard, guarded } from "../schema.js";

/**
 * Why a script wrote nothing:
 * - `conflict`     the record, or its chain, is not the one that was read: read again
 * - `chain_lost`   the store has lost the chain of the hash: put it back, and read again
 * - `not_owner`    another owner holds the Editor's lease: fence (▲11)
 * - `incarnation`  the store may have lost something since the decision: store incarnation (▲13)
 * - `too_many`     the principal's limit on waiting operations is reached
 * - `queue_full`   the Editor's, or the pool's, limit on open operations is reached
 * - `held`         the principal's limit on running operations is reached
 * - `short`        there is no place of a resource that the Editor needs
 * - `busy`         its Editor has something to do: ask again when that has ended
 * - `full`         there is no room for the arguments or the result
 */
export type NotWritten =
  | "conflict"
  | "chain_lost"
  | "not_owner"
  | "incarnation"
  | "too_many"
  | "queue_full"
  | "held"
  | "short"
  | "busy"
  | "full";

export type Answer = readonly ["applied", ...(number | string)[]] | readonly [NotWritten];

/** Values by name, which the script reads as `ask`; undefined ones are left out, so that they are nil. */
export type Ask = Record<string, unknown>;

export type Script = (
  keyList: readonly string[],
  ask: Ask,
  ...texts: readonly (string | Buffer)[]
) => Promise<Answer>;

/** Lua: the store's clock, ms since the epoch; it stands still while a script runs. */
export const STORE_TIME = `
local clock
local function storeTime()
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end
`;

/** Lua: a key lives for so long at the least, and for twice that at the most: what is only read is not appended to the store's file. */
const KEEP_AT_LEAST = `
local function keepAtLeast(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, 2 * ms) end
end
`;

/**
 * The first lines of every script. A process of an older version is refused (schema.ts). KEYS 1 schema, 2 incarnation, which
 * the caller of a script does not name. ARGV 1 `ask` as JSON.
 */
const HEAD = `${guard("KEYS[1]")}
local ask = cjson.decode(ARGV[1])
${STORE_TIME}${KEEP_AT_LEAST}`;

/**
 * Lua, for scripts that include INCARNATION: ends with `incarnation` if one was decided on that is not the present one.
 * `ask.fresh` is an id for a new one.
 */
export const IN_INCARNATION = `
if ask.incarnation and incarnationOf(KEYS[2], ask.fresh) ~= ask.incarnation then return {'incarnation'} end
`;

/** Lua: ends with `not_owner` if an owner writes that does not hold the lease (any more). */
export const ownedBy = (lease: string): string => `
if ask.ownerNonce and redis.call('GET', ${lease}) ~= ask.ownerNonce then return {'not_owner'} end
`;

/** Defines a script on a connection, under a name that no command has. */
export function defineScript(redis: Redis, name: string, lua: string): Script {
  redis.defineCommand(name, { lua: HEAD + lua });
  const commands = redis as unknown as Record<
    string,
    (...given: readonly (string | number | Buffer)[]) => Promise<Answer>
  >;
  return async (keyList, ask, ...texts) => {
    const all = [keys.schema, keys.incarnation, ...keyList];
    const packed = JSON.stringify({ ...ask, fresh: randomUUID() });
    const run = commands[name]?.call(redis, all.length, ...all, packed, ...texts);
    return guarded(run as Promise<Answer>).catch((error: unknown) => {
      // Nothing was written: Redis refuses the script at its first write.
      if (isStoreFull(error)) return ["full"] as const;
      throw error;
    });
  };
}
