/**
 * Lua: a strictly increasing time in ms, the score of a last use in a sorted set, even if two uses fall within one tick of
 * the clock or the clock went back. A double of this size still resolves a thousandth.
 */
export const USED_NOW = `
local function usedNow(uses)
  local time = redis.call('TIME')
  local newest = redis.call('ZREVRANGE', uses, 0, 0, 'WITHSCORES')[2]
  return math.max(time[1] * 1000 + time[2] / 1000, tonumber(newest or '0') + 0.001)
end`;
