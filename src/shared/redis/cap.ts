/**
 * How much one principal may have waiting and running, over all Editors. Counted from the sets that the writing script
 * keeps with the records, so a crash leaves no count behind.
 */

export interface Caps {
  /** Sent and not ended; the next one waits without blocking others. */
  maxRunning: number;
  /** Accepted and not sent; the next one is refused. */
  maxQueued: number;
}

export const CAPS: Caps = { maxRunning: 5, maxQueued: 100 };

/** An operation that came too early comes again after this long, ms … */
export const HELD_RETRY_MS = 1_000;
/** … and after this long without coming again nobody waits for it: its Editor or its owner is away, ms. */
const HELD_STANDS_MS = 5_000;

/**
 * Lua, for the script in apply.ts: may an operation be sent now? It may if as many places are free as there are others
 * that came too early and were accepted before it: the oldest goes first, whichever lane asks most often. In its own
 * queue it never passes one of its principal. `held`: HASH log_id → queue|turn|acceptedAt|when it last asked.
 */
export const CAP = `
local function mayBeSent(sent, held, logId, queue, turn, acceptedAt, max)
  if redis.call('SISMEMBER', sent, logId) == 1 then return true end
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local free = max - redis.call('SCARD', sent)
  local others = redis.call('HGETALL', held)
  for i = 1, #others, 2 do
    local other = others[i]
    local where, place, accepted, asked = string.match(others[i + 1], '^(.*)|(%d+)|(%d+)|(%d+)$')
    if now - tonumber(asked) > ${HELD_STANDS_MS} then
      redis.call('HDEL', held, other)
    elseif other ~= logId and where == queue then
      if tonumber(place) < turn then free = 0 end
    elseif other ~= logId and (tonumber(accepted) < acceptedAt or (tonumber(accepted) == acceptedAt and other < logId)) then
      free = free - 1
    end
  end
  if free > 0 then return true end
  redis.call('HSET', held, logId, string.format('%s|%.0f|%.0f|%.0f', queue, turn, acceptedAt, now))
  return false
end
`;
