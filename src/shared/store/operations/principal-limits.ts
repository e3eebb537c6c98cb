/**
 * Limits on a principal's waiting and running operations, over all connected Editors. Counted from what the writing
 * script keeps with the records, so a crash leaves no wrong count.
 */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import { isConnected } from "../editors/editors.js";
import { keys } from "../keys.js";

export interface PrincipalLimits {
  /** Most sent and not ended; the next one waits without blocking other principals. */
  maxRunning: number;
  /** Most accepted and not sent; the next one is refused. */
  maxQueued: number;
  /** Most open in one Editor, or one pool, of all principals; the next one is refused. */
  maxInQueue: number;
}

export const PRINCIPAL_LIMITS: PrincipalLimits = { maxRunning: 5, maxQueued: 100, maxInQueue: 1_000 };

/** A held-back operation asks again after this long, ms … */
export const HELD_RETRY_MS = 1_000;
/** … and counts as waiting for a place for this long after its last request, ms: its Editor or its owner may be away. */
export const HELD_STANDS_MS = 5_000;

/**
 * Lua. The sets of a principal: `waiting`: SET log_id. `sent`: HASH log_id → editor. `held`: HASH log_id →
 * queue|turn|acceptedAt|when it last asked.
 */
const PRINCIPAL_SETS = `
local function waitingOf(principal) return '${keys.waiting("")}' .. principal end
local function heldOf(principal) return '${keys.held("")}' .. principal end
local function sentOf(principal) return '${keys.sent("")}' .. principal end
local function noteSent(logId, principal, editor)
  redis.call('HDEL', heldOf(principal), logId)
  redis.call('SREM', waitingOf(principal), logId)
  redis.call('HSET', sentOf(principal), logId, editor)
end
local function noteReturned(logId, principal)
  redis.call('SADD', waitingOf(principal), logId)
  redis.call('HDEL', sentOf(principal), logId)
end
local function noteEnded(logId, principal)
  redis.call('SREM', waitingOf(principal), logId)
  redis.call('HDEL', sentOf(principal), logId)
  redis.call('HDEL', heldOf(principal), logId)
end
`;

/**
 * Lua, for the scripts that write operations: may an operation be sent now? Only if more places are free than held-back
 * operations were accepted before it: the oldest goes first, whichever lane asks most often. Within its own queue it
 * never passes an older one of its principal. One order for all: with another within a queue, each of three operations could
 * wait for the next. Operations of Editors that are away take no place.
 */
export const PRINCIPAL_LIMIT = `${PRINCIPAL_SETS}
local function placesTaken(sent, max)
  local all = redis.call('HLEN', sent)
  if all < max then return all end
  local taken = 0
  for _, editor in ipairs(redis.call('HVALS', sent)) do
    local owner = redis.call('HGET', '${keys.editor("")}' .. editor, 'owner')
    if owner and owner == redis.call('GET', '${keys.lease("")}' .. editor) then taken = taken + 1 end
  end
  return taken
end
local function noteHeld(logId, held, queue, turn, acceptedAt)
  redis.call('HSET', held, logId, string.format('%s|%.0f|%.0f|%.0f', queue, turn, acceptedAt, storeTime()))
end
-- Without a queue it is only asked: it does not wait for a place from then on.
local function mayTakePlace(logId, sent, held, queue, turn, acceptedAt, max)
  if redis.call('HEXISTS', sent, logId) == 1 then return true end
  local now = storeTime()
  local free = max - placesTaken(sent, max)
  local others = redis.call('HGETALL', held)
  for i = 1, #others, 2 do
    local other = others[i]
    local where, accepted, asked = string.match(others[i + 1], '^(.*)|%d+|(%d+)|(%d+)$')
    if now - tonumber(asked) > ${HELD_STANDS_MS} then
      redis.call('HDEL', held, other)
    elseif other ~= logId and (tonumber(accepted) < acceptedAt or (tonumber(accepted) == acceptedAt and other < logId)) then
      if where == queue then free = 0 else free = free - 1 end
    end
  end
  if free > 0 then return true end
  if queue then noteHeld(logId, held, queue, turn, acceptedAt) end
  return false
end
local function mayBeSent(logId, principal, queue, turn, acceptedAt, max)
  return mayTakePlace(logId, sentOf(principal), heldOf(principal), queue, turn, acceptedAt, max)
end
`;

/** Why a waiting operation is held back. */
export interface HeldBack {
  /** How many operations of its principal, or that use the resource, may run at once. */
  limit: number;
  /** The running ones. */
  by: Pick<OperationRecord, "logId" | "tool" | "editor">[];
  /** The label of the resource; undefined: the limit is that of its principal. */
  resource?: string;
}

type Find = (logId: string) => Promise<OperationRecord | undefined>;

/** For the answer to a caller; no decision depends on it. */
export async function heldBack(
  redis: Redis,
  { logId, principal }: OperationRecord,
  limit: number,
  find: Find,
): Promise<HeldBack | undefined> {
  const held = { key: keys.held(principal), logId };
  const by = await placesOf(redis, { held, sent: keys.sent(principal), find });
  return by && { limit, by };
}

/** What takes the places of a limit; undefined: nothing does, or this operation is not held back by it. */
export async function placesOf(
  redis: Redis,
  { held, sent, find }: { held: { key: string; logId: string } | undefined; sent: string; find: Find },
): Promise<OperationRecord[] | undefined> {
  const [seconds] = await redis.time();
  const now = Number(seconds) * 1000;
  const asked = held && (await redis.hget(held.key, held.logId))?.split("|").at(-1);
  if (held && (asked === undefined || now - Number(asked) > HELD_STANDS_MS)) return undefined;
  const taking = await Promise.all(
    Object.entries(await redis.hgetall(sent)).map(async ([other, editor]) => {
      return (await isConnected(redis, editor)) ? find(other) : undefined;
    }),
  );
  const by = taking.filter((record) => record !== undefined);
  return by.length === 0 ? undefined : by;
}
