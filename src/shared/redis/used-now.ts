/**
 * Lua: the score of a use: its time in ms, and more than that of every use before it, also where two come within one
 * tick of the clock or the clock went back. A thousandth is what a double of this size still tells apart.
 */
export const USED_NOW = `
local function usedNow(uses)
  local time = redis.call('TIME')
  local newest = redis.call('ZREVRANGE', uses, 0, 0, 'WITHSCORES')[2]
  return math.max(time[1] * 1000 + time[2] / 1000, tonumber(newest or '0') + 0.001)
end`;
