/** Moves an operation that waits from one queue to another (▲13): an Editor takes it from its pool, or the pool takes it back. */
import type { Redis } from "ioredis";
import { isPool } from "../../editors/target.js";
import { countsAsChange, type OperationRecord } from "../../operation/operation.js";
import { channels, keys, queueName } from "../keys.js";
import { type Answer, defineScript, type Limits, ownedBy, resourcesFor } from "../operations/limits.js";

/** Lua: has an Editor taken an earlier operation of the principal from the pool, which it is about to send? */
const EARLIER_TAKEN = `
-- One that was sent before, or for which another answers, has had its turn.
local function isEarlierTaken(principal)
  for _, other in ipairs(redis.call('SMEMBERS', waitingOf(principal))) do
    local document = redis.call('HGET', '${keys.operation("")}' .. other, 'doc')
    local record = document and cjson.decode(document)
    if record and record.pool == ask.pool and record.editor ~= ask.pool and record.lane == ask.lane
      and record.acceptedAt <= ask.acceptedAt and not record.sentIn and not record.executedAs then return true end
  end
  return false
end
`;

/**
 * With `whenIdle` only while the Editor has nothing open, one more of its principal may run, and no earlier one of its principal has been
 * taken from the pool and is about to be sent: that one begins first.
 *
 * KEYS 3 chain, 4 operation, 5 open where it was, 6 mutations there, 7 turns there, 8 open where it goes, 9 mutations there, 10 the
 *      caller's there, 11 the principal's there, 12 turns there, 13 lease of the Editor that takes it or gives it back
 * ARGV 2 the record JSON that was read, 3 the new one
 * Answer: applied, its turn there | incarnation | conflict | not_owner | busy | held (by its principal's limit or order) | short (of a resource)
 */
const MOVE = `${EARLIER_TAKEN}
local logId, principal, retention, now = ask.logId, ask.principal, ask.retentionMs, storeTime()
local found = redis.call('HMGET', KEYS[4], 'doc', 'turn')
if found[1] ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[13]")}
if ask.whenIdle then
  if redis.call('EXISTS', KEYS[8]) == 1 then return {'busy'} end
  if isEarlierTaken(principal) then return {'held'} end
  -- It would keep the Editor from those of others. If it stands in line, it waits for its place from the pool.
  local why = heldBack(logId, limitsOn(principal, ask.editor), ask.standsInLine and ask.from, ask.acceptedAt)
  if why then return {why} end
end
redis.call('ZREM', KEYS[5], logId)
keepFor(KEYS[6], 3 * retention, redis.call('EXISTS', KEYS[5]) == 1)
turnCame(KEYS[7], tonumber(found[2] or 0), retention)
local seq = countChange(ask.isChange, KEYS[9], {KEYS[10], KEYS[11]}, ask.acceptedAt, 3 * retention)
-- As before: what was accepted for the pool since then is later than it.
if ask.poolSeq and not ask.isChange then seq = ask.poolSeq end
-- Its turn had come: what its caller had accepted there since then does not pass it.
local turn = ask.poolTurn and turnAgain(KEYS[12], ask.poolTurn)
  or takeTurn(KEYS[12], KEYS[8], waitingOf(principal), principal, ask.priorityClass)
redis.call('HSET', KEYS[4], 'doc', ARGV[3], 'mutationSeq', seq, 'turn', turn)
redis.call('ZADD', KEYS[8], ask.acceptedAt, logId)
-- Where it goes it is claimed next: until then nothing passes it.
if not ask.whenIdle then leave(logId, principal) end
local chain = readChain(KEYS[3])
if chain then
  chain['at:' .. ask.editor] = logId
  writeChain(KEYS[3], chain)
end
redis.call('PERSIST', KEYS[9])
keepAtLeast(KEYS[12], 3 * retention)
redis.call('PUBLISH', '${channels.changed}', logId)
if ask.isPool then redis.call('ZADD', '${keys.pools}', now, ask.editor) end
return {'applied', turn}
`;

/** `before`: the record as it was read; `record`: the same in its new place. */
export type Move = (
  before: OperationRecord,
  record: OperationRecord,
  texts: { expected: string; text: string },
  only: MoveOptions,
) => Promise<Answer>;

export interface MoveOptions {
  fence?: string | undefined;
  incarnation: string;
  whenIdle?: boolean;
  /** While there is no place for it, none that was accepted after it gets one. */
  standsInLine?: boolean;
}

export function createMove(redis: Redis, limits: Limits): Move {
  const run = defineScript(redis, "ujbMove", MOVE);
  const { retentionMs, resources } = limits;
  return (before, record, { expected, text }, { fence, incarnation, whenIdle, standsInLine }) => {
    const { logId, editor, principal, createdBy, lane } = record;
    const [from, to] = [queueName(before.editor, lane), queueName(editor, lane)];
    return run(
      [
        keys.chain(record.hash),
        keys.operation(logId),
        ...[keys.open(before.editor), keys.mutations(before.editor), keys.turns(from)],
        ...[keys.open(editor), keys.mutations(editor)],
        keys.askerMutations(editor, createdBy.caller ?? principal),
        keys.askerMutations(editor, principal),
        ...[keys.turns(to), keys.lease(isPool(editor) ? before.editor : editor)],
      ],
      {
        logId,
        editor,
        principal,
        from,
        lane,
        pool: record.pool,
        isPool: isPool(editor),
        acceptedAt: record.acceptedAt,
        isChange: countsAsChange(record),
        priorityClass: record.priorityClass ?? "interactive",
        ownerNonce: fence,
        incarnation,
        whenIdle,
        standsInLine,
        poolSeq: isPool(editor) ? record.poolSeq : undefined,
        poolTurn: isPool(editor) ? record.poolTurn : undefined,
        maxRunning: limits.maxRunning,
        resources: resourcesFor(lane, resources),
        retentionMs,
      },
      expected,
      text,
    );
  };
}
