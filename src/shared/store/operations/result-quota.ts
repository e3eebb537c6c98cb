/**
 * Budgets for stored results and stored arguments. Within its retention nothing is ever removed to make room: over a
 * budget new calls are refused, and outcomes stay with their Editors until there is room (invariant 3).
 *
 * Of each budget a principal may hold at most a share of what the others leave free. So there is always room for the
 * next principal, however much the others hold.
 */
import { keys } from "../keys.js";

export interface ResultQuotaOptions {
  /** Most bytes of all results together. */
  resultsBudgetBytes?: number;
  /** Most bytes of all arguments together, including operations in flight. */
  argumentsBudgetBytes?: number;
  /** The share of what the others leave of a budget that one principal may hold: above 0, at most 1. */
  principalShare?: number;
}

const MB = 1024 * 1024;
const ROOM_DEFAULTS: Required<ResultQuotaOptions> = {
  resultsBudgetBytes: 1024 * MB,
  argumentsBudgetBytes: 256 * MB,
  principalShare: 0.75,
};

/** The budgets as the scripts read them, bytes. */
export interface RoomLimits {
  results: number;
  arguments: number;
  share: number;
}

export function roomLimits(options: ResultQuotaOptions): RoomLimits {
  const { resultsBudgetBytes, argumentsBudgetBytes, principalShare } = { ...ROOM_DEFAULTS, ...options };
  return { results: resultsBudgetBytes, arguments: argumentsBudgetBytes, share: principalShare };
}

/** KEYS of the accounts: ends, sums, bytes, shares. */
export const RESULT_ACCOUNT = [
  keys.resultEnds,
  keys.resultSums,
  keys.resultBytes,
  keys.resultShares,
] as const;
export const ARGUMENT_ACCOUNT = [
  keys.argumentEnds,
  keys.argumentSums,
  keys.argumentBytes,
  keys.argumentShares,
] as const;

/** Redis itself has reached its maxmemory. */
export function isStoreFull(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}

/** A result that found no room is offered again well within this time, ms; until then new calls are refused. */
const WANTED_MS = 30_000;

/** What ends within the same one of so many parts of a retention is counted together: a minute of a day. */
const PARTS = 1_440;

/**
 * Lua, for the scripts that create and finish operations, and for result-upload.ts. An account has `bytes`: all that is
 * stored; `shares`: HASH, those of each principal; `sums`: HASH, those of a principal whose retention ends together, by
 * `until:<end>:<principal>`, and `open`, those of operations in flight; `ends`: ZSET, the names of these sums by their end; and the limits
 * `budget` and `share`. An entry larger than the whole budget has room when nothing else is stored.
 */
export const RESULT_QUOTA = `
local function accountOf(first, limit, share)
  return {ends = KEYS[first], sums = KEYS[first + 1], bytes = KEYS[first + 2], shares = KEYS[first + 3], budget = limit, share = share}
end
local function releaseEnded(account)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', account.ends, '-inf', storeTime(), 'LIMIT', 0, 1000)) do
    local size, principal = redis.call('HGET', account.sums, entry), string.match(entry, '^until:%d+:(.*)$')
    size = tonumber(size or 0)
    redis.call('ZREM', account.ends, entry)
    redis.call('HDEL', account.sums, entry)
    redis.call('DECRBY', account.bytes, size)
    if principal and redis.call('HINCRBY', account.shares, principal, 0 - size) <= 0 then
      redis.call('HDEL', account.shares, principal)
    end
  end
end
local function hasRoom(account, principal, size)
  releaseEnded(account)
  local stored = tonumber(redis.call('GET', account.bytes) or '0')
  if stored <= 0 then return true end
  local own = tonumber(redis.call('HGET', account.shares, principal) or '0')
  return own + size <= account.share * (account.budget - (stored - own))
end
local function wantRoom(wanted, size)
  redis.call('SET', wanted, size, 'PX', ${WANTED_MS})
end
local function keepAccount(account, ms)
  for _, key in ipairs({account.ends, account.sums, account.bytes, account.shares}) do
    if ms then redis.call('PEXPIRE', key, ms) else redis.call('PERSIST', key) end
  end
end
local function takeRoom(account, principal, size)
  redis.call('INCRBY', account.bytes, size)
  redis.call('HINCRBY', account.shares, principal, size)
end
-- In flight it has no end. The account is kept from the first of these to the last.
local function openRoom(account, size)
  if redis.call('HINCRBY', account.sums, 'open', size) == size then keepAccount(account) end
end
local function closeRoom(account, size)
  if redis.call('HINCRBY', account.sums, 'open', -size) <= 0 then redis.call('HDEL', account.sums, 'open') end
end
-- It has an end: that of its retention.
local function endRoom(account, principal, size, retention)
  local part = math.max(1, math.floor(retention / ${PARTS}))
  local ends = math.ceil((storeTime() + retention) / part) * part
  local entry = string.format('until:%.0f:%s', ends, principal)
  redis.call('ZADD', account.ends, ends, entry)
  redis.call('HINCRBY', account.sums, entry, size)
  if redis.call('HEXISTS', account.sums, 'open') == 0 and redis.call('PTTL', account.ends) < retention then
    keepAccount(account, retention + 2 * part)
  end
end
`;
