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

/** KEYS of the accounts: ends, bytes, shares. */
export const RESULT_ACCOUNT = [keys.resultEnds, keys.resultBytes, keys.resultShares] as const;
export const ARGUMENT_ACCOUNT = [keys.argumentEnds, keys.argumentBytes, keys.argumentShares] as const;

/** Redis itself has reached its maxmemory. */
export function isStoreFull(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}

/** A result that found no room is offered again well within this time, ms; until then new calls are refused. */
const WANTED_MS = 30_000;

/**
 * Lua, for the scripts that create and finish operations, and for result-upload.ts. An account has `ends`: ZSET
 * `<bytes>:<log_id>:<principal>` by the end of retention, "+inf" while in flight; `bytes`: their sum; `shares`: HASH, the
 * sum of each principal; and the limits `budget` and `share`. An entry larger than the whole budget has room when nothing
 * else is stored.
 */
export const RESULT_QUOTA = `
local function accountOf(ends, bytes, shares, budget, share)
  return {ends = ends, bytes = bytes, shares = shares, budget = budget, share = share}
end
local function storeTime()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function releaseEnded(account)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', account.ends, '-inf', storeTime(), 'LIMIT', 0, 1000)) do
    local size, principal = string.match(entry, '^(%d+):[^:]*:?(.*)$')
    redis.call('ZREM', account.ends, entry)
    redis.call('DECRBY', account.bytes, size)
    if principal ~= '' and redis.call('HINCRBY', account.shares, principal, -tonumber(size)) <= 0 then
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
local function keepAccount(account, retention)
  local inFlight = redis.call('ZCOUNT', account.ends, '+inf', '+inf') > 0
  for _, key in ipairs({account.ends, account.bytes, account.shares}) do
    if inFlight then redis.call('PERSIST', key)
    elseif redis.call('PTTL', key) < retention then redis.call('PEXPIRE', key, retention) end
  end
end
local function takeRoom(account, logId, principal, size, retention, isInFlight)
  local ends = isInFlight and '+inf' or storeTime() + retention
  local entry = string.format('%.0f:%s:%s', size, logId, principal)
  if redis.call('ZADD', account.ends, ends, entry) == 1 then
    redis.call('INCRBY', account.bytes, size)
    redis.call('HINCRBY', account.shares, principal, size)
  end
  keepAccount(account, retention)
end
local function endRoom(account, logId, principal, size, retention)
  local entry = string.format('%.0f:%s:%s', size, logId, principal)
  redis.call('ZADD', account.ends, 'XX', storeTime() + retention, entry)
  keepAccount(account, retention)
end
`;
