/** What is listed beside the records: operations by principal and by queue, how long a tool took, and what is left of the ended ones. */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import { keys, TOMBSTONE_MS } from "../keys.js";
import { BEGIN_INCARNATION } from "../schema.js";
import type { Find } from "./record.js";

/** How long it is known that an operation in flight was lost, ms: longer than anything is kept of the operations of its time. */
const LOST_MS = 4 * TOMBSTONE_MS;

/**
 * Lua: the principal of an operation whose retention ended. A record that is missing before that is a loss, which begins
 * another incarnation: the Editors are asked for what they know, and until then the operation was never heard of. It is not the latest
 * write alone that is lost: that the store knows of an Editor's departure does not say that it knows what that Editor ran. Its
 * tombstone says '' until an Editor brings it back.
 *
 * KEYS 1 operation, 2 tombstone, 3 incarnation, 4 and 5 the known Editors and the pools; ARGV 1 log_id, 2 a new incarnation
 */
const TOMBSTONE = `${BEGIN_INCARNATION}
local principal = redis.call('GET', KEYS[2])
if not principal or principal == '' then return false end
if redis.call('HEXISTS', KEYS[1], 'doc') == 1 then return principal end
local left = redis.call('PTTL', KEYS[2])
if left >= 0 and left <= ${TOMBSTONE_MS} then return principal end
redis.call('SET', KEYS[2], '', 'PX', left > 0 and left or ${LOST_MS})
beginIncarnation(KEYS[3], ARGV[2])
for i = 4, 5 do
  for _, editor in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
    redis.call('ZREM', '${keys.open("")}' .. editor, ARGV[1])
    local last = redis.call('HGET', '${keys.editor("")}' .. editor, 'last')
    if last then redis.call('HSETNX', '${keys.editor("")}' .. editor, 'live', last) end
  end
end
redis.call('SREM', '${keys.waiting("")}' .. principal, ARGV[1])
redis.call('HDEL', '${keys.sent("")}' .. principal, ARGV[1])
redis.call('HDEL', '${keys.held("")}' .. principal, ARGV[1])
return false
`;

/**
 * Lua: what waits, or was sent, is in the list of its Editor, or its pool, again after that list alone was lost: then it is more than
 * the lists have. Answers the log_ids that have no record.
 *
 * KEYS 1 the principals, 2 and 3 the known Editors and the pools
 */
const RELIST = `
local listed, missing = 0, {}
for i = 2, 3 do
  for _, editor in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do listed = listed + redis.call('ZCARD', '${keys.open("")}' .. editor) end
end
local principals, known = redis.call('ZRANGE', KEYS[1], 0, -1), 0
for _, principal in ipairs(principals) do
  known = known + redis.call('SCARD', '${keys.waiting("")}' .. principal) + redis.call('HLEN', '${keys.sent("")}' .. principal)
end
if known == listed then return missing end
for _, principal in ipairs(principals) do
  local waiting, sent = '${keys.waiting("")}' .. principal, '${keys.sent("")}' .. principal
  local open = redis.call('HKEYS', sent)
  for _, logId in ipairs(redis.call('SMEMBERS', waiting)) do open[#open + 1] = logId end
  for _, logId in ipairs(open) do
    local document = redis.call('HGET', '${keys.operation("")}' .. logId, 'doc')
    local record = document and cjson.decode(document)
    if not record and (redis.call('GET', '${keys.tombstone("")}' .. logId) or '') ~= '' then
      missing[#missing + 1] = logId
    elseif not record then
      redis.call('SREM', waiting, logId)
      redis.call('HDEL', sent, logId)
    elseif not record.endedAt then
      redis.call('ZADD', '${keys.open("")}' .. record.editor, 'NX', record.acceptedAt, logId)
    end
  end
end
return missing
`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbRelist(principals: string, editors: string, pools: string): Result<string[], Context>;
    ujbTombstone(...keysAndArguments: string[]): Result<string | null, Context>;
  }
}

export interface Listings {
  /** The principal of an operation whose retention ended, as long as its tombstone exists. Notes a loss of the store. */
  tombstone(logId: string): Promise<string | undefined>;
  /** Newest first; `isWanted` chooses among them, and `before` is the last one of an earlier list. */
  listOf(principal: string, limit: number, wanted?: Wanted): Promise<OperationRecord[]>;
  /** Puts back into the lists of Editors and pools what is in flight, should one of them have been lost. */
  relist(): Promise<unknown>;
  /** Of an Editor or a pool; with `most`, so many of the oldest. */
  openOf(editor: string, most?: number): Promise<OperationRecord[]>;
  /** How long the tool's recent calls took; newest first. */
  durationsOf(tool: string): Promise<RecordedDuration[]>;
}

/** How long a call took, by the Editor that ran it. */
export interface RecordedDuration {
  ms: number;
  editor: string;
}

export interface Wanted {
  isWanted?: (record: OperationRecord) => boolean;
  /** For each record that is missing. */
  orElse?: (logId: string) => Promise<unknown>;
  before?: string | undefined;
}

/** Records read at once while some are looked for. */
const READ = 100;

export function createListings(redis: Redis, find: Find): Listings {
  redis.defineCommand("ujbRelist", { numberOfKeys: 3, lua: RELIST });
  redis.defineCommand("ujbTombstone", { numberOfKeys: 5, lua: TOMBSTONE });
  const tombstone: Listings["tombstone"] = async (logId) =>
    (await redis.ujbTombstone(
      keys.operation(logId),
      keys.tombstone(logId),
      keys.incarnation,
      keys.editors,
      keys.pools,
      logId,
      randomUUID(),
    )) ?? undefined;

  const findAll = async (logIds: string[], orElse?: (logId: string) => Promise<unknown>) => {
    const found = await Promise.all(logIds.map(find));
    if (orElse) await Promise.all(logIds.filter((_, at) => !found[at]).map(orElse));
    return found.filter((record) => record !== undefined);
  };

  return {
    tombstone,
    async listOf(principal, limit, { isWanted = () => true, orElse, before } = {}) {
      const key = keys.principal(principal);
      // By its rank now: operations that came meanwhile move nothing to another list.
      const rank = before === undefined ? -1 : await redis.zrevrank(key, before);
      if (rank === null) return [];
      const listed: OperationRecord[] = [];
      for (let at = rank + 1; listed.length < limit; ) {
        const count = Math.min(READ, limit - listed.length);
        const logIds = await redis.zrevrange(key, at, at + count - 1);
        listed.push(...(await findAll(logIds, orElse)).filter(isWanted));
        at += count;
        if (logIds.length < count) break;
      }
      return listed;
    },
    relist: async () =>
      Promise.all((await redis.ujbRelist(keys.principals, keys.editors, keys.pools)).map(tombstone)),
    openOf: async (editor, most = 0) =>
      findAll(await redis.zrange(keys.open(editor), 0, `${most - 1}`), tombstone),
    durationsOf: async (tool) => (await redis.lrange(keys.durations(tool), 0, -1)).map(readDuration),
  };
}

/** <ms> <editor id> */
function readDuration(text: string): RecordedDuration {
  const [ms, editor = ""] = text.split(" ");
  return { ms: Number(ms), editor };
}
