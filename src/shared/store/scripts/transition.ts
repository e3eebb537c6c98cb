/** Changes an operation in flight that does not end by it: claimed, returned, started, asked to be cancelled. */
import type { Redis } from "ioredis";
import { isSent, type OperationRecord } from "../../operation/operation.js";
import type { OperationEventName } from "../../operation/operation-event.js";
import { channels, keys, queueName } from "../keys.js";
import { type Answer, defineScript, type Limits, ownedBy, resourcesFor } from "../operations/limits.js";
import { beganAs, targetsOf } from "../operations/record.js";

/**
 * KEYS 3 chain, 4 operation, 5 lease, 6 turns
 * ARGV 2 the record JSON that was read, 3 the new one
 * Answer: applied, those that are due (limits.ts) | incarnation | conflict | not_owner | held
 */
const TRANSITION = `
local logId = ask.logId
local found = redis.call('HMGET', KEYS[4], 'doc', 'turn')
if found[1] ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[5]")}
local turn = tonumber(found[2] or 0)
local limits = limitsOn(ask.principal, ask.editor)
if ask.isSent and ask.maxRunning and heldBack(logId, limits, ask.queue, ask.acceptedAt) then return {'held'} end
redis.call('HSET', KEYS[4], 'doc', ARGV[3])
if ask.isSent then
  noteSent(logId, ask.principal, ask.editor, limits)
  turnCame(KEYS[6], turn, ask.retentionMs)
else
  redis.call('SADD', waitingOf(ask.principal), logId)
  release(leave(logId, ask.principal))
end
chainChanged(KEYS[3])
if ask.event then noteEvent(ask.event, ask.state, logId, ask.principal, ask.editor, ask.tool, ask.retentionMs) end
redis.call('PUBLISH', ask.channel, logId)
-- The next one of its caller may be taken now.
if ask.isSent and ask.pool then redis.call('PUBLISH', '${channels.pools}', ask.pool) end
return {'applied', unpack(due)}
`;

/** `expected`: the record as it was read. */
export type Transition = (
  record: OperationRecord,
  texts: { expected: string; text: string },
  only: { fence?: string | undefined; incarnation?: string | undefined; wasSent?: boolean },
  event: OperationEventName | undefined,
) => Promise<Answer>;

export function createTransition(redis: Redis, limits: Limits): Transition {
  const run = defineScript(redis, "ujbTransition", TRANSITION);
  const { retentionMs, resources } = limits;
  return (record, { expected, text }, { fence, incarnation, wasSent }, event) => {
    const { logId, editor, principal } = record;
    const queue = queueName(editor, record.lane);
    return run(
      [keys.chain(record.hash), keys.operation(logId), keys.lease(editor), keys.turns(queue)],
      {
        logId,
        editor,
        principal,
        queue,
        acceptedAt: record.acceptedAt,
        isSent: isSent(record.state),
        pool: record.pool,
        began: beganAs(record),
        targets: targetsOf(record),
        ownerNonce: fence,
        incarnation,
        // Sent already: any number may be.
        maxRunning: wasSent ? undefined : limits.maxRunning,
        resources: resourcesFor(record.lane, resources),
        retentionMs,
        event,
        state: record.state,
        tool: record.tool,
        channel: channels.changed,
      },
      expected,
      text,
    );
  };
}
