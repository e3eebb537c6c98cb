/**
 * Fairness between principals: an operation's place in its queue, as a virtual start time.
 *
 * A principal's next operation starts one turn after its last waiting one, but never before the one that was sent last:
 * who comes late begins where the queue stands, behind at most one operation of everybody else. `batch` begins behind
 * everything interactive that waits at this moment; what comes later passes it only until its turn has come.
 */

/** BullMQ knows priorities up to this one; there the order of acceptance decides alone, until the Editor has a pause. */
const LAST_TURN = 2_097_151;

/**
 * Lua, for the script in apply.ts: `takeTurn` answers the turn of a new operation, `turnCame` notes that it was sent.
 * With nothing open on the Editor the numbers begin again. `turns`: HASH sent, highest, last:<principal>.
 */
export const TURN = `
local function takeTurn(turns, open, waiting, principal, band)
  if redis.call('ZCARD', open) == 0 then redis.call('DEL', turns) end
  local found = redis.call('HMGET', turns, 'sent', 'last:' .. principal, 'highest')
  local sent, last, highest = tonumber(found[1] or 0), tonumber(found[2] or 0), tonumber(found[3] or 0)
  local from = sent
  if redis.call('SCARD', waiting) > 0 then from = math.max(from, last) end
  if band == 'batch' then from = math.max(from, highest) end
  local turn = math.min(from + 1, ${LAST_TURN})
  redis.call('HSET', turns, 'last:' .. principal, turn)
  if band ~= 'batch' then redis.call('HSET', turns, 'highest', math.max(highest, turn)) end
  return turn
end
local function turnCame(turns, turn)
  local sent = tonumber(redis.call('HGET', turns, 'sent') or 0)
  redis.call('HSET', turns, 'sent', math.max(sent, turn))
end
`;
