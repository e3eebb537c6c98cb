/**
 * How much the stored results may take. Inside their retention none is ever removed to make room: over the budget new
 * calls are refused, and outcomes stay with their Editors until there is room (invariant 3).
 */

/** Bytes in the store, of all results together. */
export const RESULTS_BUDGET_BYTES = 1024 * 1024 * 1024;

/** Redis itself has reached its maxmemory. */
export function isStoreFull(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}

/** A result that found no room is offered again well within this time, ms; until it is not, new calls are refused. */
const WANTED_MS = 30_000;

/**
 * Lua, for the scripts in apply.ts and stage.ts. `ends`: ZSET `<bytes>:<log_id>` by the end of retention; `total`: their
 * sum; `wanted`: exists while a result waits for room. A single result that is larger than all may be has room when
 * nothing else is stored.
 */
export const ROOM = `
local function storedNow(ends, total)
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 1000)) do
    redis.call('ZREM', ends, entry)
    redis.call('DECRBY', total, string.match(entry, '^%d+'))
  end
  return tonumber(redis.call('GET', total) or '0'), now
end
local function hasRoom(ends, total, wanted, size, budget)
  local stored = storedNow(ends, total)
  if stored == 0 or stored + size <= budget then return true end
  redis.call('SET', wanted, size, 'PX', ${WANTED_MS})
  return false
end
local function takeRoom(ends, total, wanted, logId, size, retention)
  local _, now = storedNow(ends, total)
  redis.call('ZADD', ends, now + retention, string.format('%.0f:%s', size, logId))
  redis.call('INCRBY', total, size)
  for _, key in ipairs({ends, total}) do
    if redis.call('PTTL', key) < retention then redis.call('PEXPIRE', key, retention) end
  end
  redis.call('DEL', wanted)
end
`;
