/**
 * Lua, for the scripts that write operations: sets the lifetime of the keys beside a record, and writes what a chain says of it.
 * With these nothing that the script writes stays for ever (docs/reference/store.md).
 */

/** Links checked per new operation. Each operation adds at most two, so dead links stay a small part. */
const LINKS_LOOKED_AT = 8;

/**
 * `keepFor`: without expiry while `inFlight`, else for `ms`. `noteHash`: the hash has a chain from now on. `isChainLost`: it had one
 * that has not expired, and is gone. `chainChanged`: an operation of it has changed, and may have begun. `dropEndedLinks`: checks
 * some of a chain's links and removes those whose record is gone, since they lead nowhere. `records`: the prefix of the records' keys.
 */
export const LIFETIME = `
local function keepFor(key, ms, inFlight)
  if inFlight then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ms) end
end
local function noteHash(hashes, hash, at, retention)
  redis.call('ZADD', hashes, 'GT', at, hash)
  redis.call('ZREMRANGEBYSCORE', hashes, '-inf', at - 3 * retention)
  keepAtLeast(hashes, 3 * retention)
end
local function isChainLost(chain, hashes, hash, at, retention)
  return redis.call('EXISTS', chain) == 0 and tonumber(redis.call('ZSCORE', hashes, hash) or '-inf') > at - 3 * retention
end
-- Of a chain that was lost nothing is written: the next call puts it back, whole.
local function chainChanged(chain)
  if redis.call('EXISTS', chain) == 0 then return end
  for _, target in ipairs(ask.began and ask.began ~= '' and ask.targets or {}) do
    redis.call(ask.began == 'began' and 'HSET' or 'HSETNX', chain, 'began:' .. target, ask.logId)
  end
  redis.call('HINCRBY', chain, 'version', 1)
end
local function dropEndedLinks(chain, records)
  local links = redis.call('HRANDFIELD', chain, ${LINKS_LOOKED_AT}, 'WITHVALUES')
  for i = 1, #links, 2 do
    local kind = string.match(links[i], '^(%a+):')
    if (kind == 'forced' or kind == 'at' or kind == 'began') and redis.call('EXISTS', records .. links[i + 1]) == 0 then
      redis.call('HDEL', chain, links[i])
    end
  end
end
`;

// Lua: a strictly increasing time in ms, the score of a last use in a sorted set, even if two uses fall within one tick of
// the clock or the clock went back. A double of this size still resolves a thousandth.

export const USED_NOW = `
local function usedNow(uses)
  local time = redis.call('TIME')
  local newest = redis.call('ZREVRANGE', uses, 0, 0, 'WITHSCORES')[2]
  return math.max(time[1] * 1000 + time[2] / 1000, tonumber(newest or '0') + 0.001)
end`;
