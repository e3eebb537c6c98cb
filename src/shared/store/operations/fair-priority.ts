/**
 * Fairness between principals: an operation's place in its queue is a virtual start time.
 *
 * A principal's next operation starts one turn after its last waiting one, but never before the operation that was sent
 * last: a newcomer begins where the queue stands, behind at most one operation of every other principal. A `batch`
 * operation begins behind every interactive one that waits at this moment; later ones pass it only until its turn comes.
 */

/** BullMQ's highest priority. From there on only the order of acceptance counts, until nothing is open on the Editor. */
const LAST_TURN = 2_097_151;

/**
 * Lua, for the scripts that write operations: `takeTurn` answers the turn of a new operation, `turnCame` records that it
 * was sent, `turnAgain` answers that of one that comes back. The numbers start again at 2 when nothing is open on the Editor:
 * what comes back then has turn 1. `turns`: HASH sent, highest, last:<principal>.
 */
export const FAIR_PRIORITY = `
local function takeTurn(turns, open, waiting, principal, class)
  if redis.call('ZCARD', open) == 0 then redis.call('DEL', turns) end
  local found = redis.call('HMGET', turns, 'sent', 'last:' .. principal, 'highest')
  local sent, last, highest = tonumber(found[1] or 1), tonumber(found[2] or 0), tonumber(found[3] or 0)
  local from = sent
  if redis.call('SCARD', waiting) > 0 then from = math.max(from, last) end
  if class == 'batch' then from = math.max(from, highest) end
  local turn = math.min(from + 1, ${LAST_TURN})
  redis.call('HSET', turns, 'last:' .. principal, turn)
  if class ~= 'batch' then redis.call('HSET', turns, 'highest', math.max(highest, turn)) end
  return turn
end
local function turnAgain(turns, turn)
  return math.max(1, math.min(turn, tonumber(redis.call('HGET', turns, 'sent') or 1)))
end
local function turnCame(turns, turn, retention)
  local sent = tonumber(redis.call('HGET', turns, 'sent') or 0)
  redis.call('HSET', turns, 'sent', math.max(sent, turn))
  redis.call('PEXPIRE', turns, 3 * retention)
end
`;
