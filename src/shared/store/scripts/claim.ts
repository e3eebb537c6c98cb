/** Claims a waiting operation for sending, for the job that has been taken: no record, no dispatch (▲1). */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import type { Lane } from "../../tools/tool.js";
import { INCARNATION } from "../incarnation.js";
import { channels, keys, queueName } from "../keys.js";
import { NOTE_EVENT } from "../operations/events.js";
import { FAIR_PRIORITY } from "../operations/fair-priority.js";
import { PRINCIPAL_LIMIT } from "../operations/principal-limits.js";
import { readRecord } from "../operations/record.js";
import { RESOURCE_LIMIT, type Resources, resourcesFor } from "../operations/resource-limits.js";
import { defineScript, IN_INCARNATION, ownedBy } from "./script.js";

/** What an owner claims with. */
export interface Claimant {
  editor: string;
  lane: Lane;
  /** Fence (▲11): the owner's nonce, compared with the lease. */
  fence: string;
  /** Resubmission (▲12): the Editor session that will be asked; it is stored before the first byte leaves. */
  session: string;
  /** Store incarnation (▲13) in which the Editor's operations were imported. */
  incarnation: string;
}

/** A claimed operation, with its arguments as JSON. */
export interface ClaimedOperation {
  record: OperationRecord;
  args: string;
}

const WAITING = '{"state":"queued",';

/**
 * Claims what waits plainly. One whose cancellation was requested, for which another operation answers (▲10 b), which was
 * sent before, or whose record or arguments are lost, is read first: `conflict`.
 *
 * KEYS 3 chain, 4 operation, 5 lease, 6 turns
 * Answer: applied, document, mutationSeq, turn, arguments | incarnation | not_owner | conflict | held
 */
const CLAIM = `${INCARNATION}${NOTE_EVENT}${FAIR_PRIORITY}${PRINCIPAL_LIMIT}${RESOURCE_LIMIT}${IN_INCARNATION}
${ownedBy("KEYS[5]")}
local logId = ask.logId
local found = redis.call('HMGET', KEYS[4], 'doc', 'mutationSeq', 'turn', 'arguments')
if not found[1] or not found[4] or string.sub(found[1], 1, ${WAITING.length}) ~= '${WAITING}' then return {'conflict'} end
local record, turn = cjson.decode(found[1]), tonumber(found[3] or 0)
if record.hash ~= ask.hash or record.editor ~= ask.editor or record.lane ~= ask.lane then return {'conflict'} end
-- One of a pool may have been taken by another Editor, in a write that the store lost (▲13).
if record.pool and record.incarnation ~= ask.incarnation then return {'conflict'} end
if record.cancel or record.executedAs or record.sentIn then return {'conflict'} end
if not mayBeSent(logId, record.principal, ask.queue, turn, record.acceptedAt, ask.maxRunning) then return {'held'} end
if not mayUse(logId, ask.editor, ask.resources, ask.queue, turn, record.acceptedAt) then return {'held'} end
local now = math.max(storeTime(), record.acceptedAt)
local document = '{"state":"dispatched","dispatchedAt":' .. string.format('%.0f', now) .. ',"sentIn":' .. ask.session .. ','
  .. string.sub(found[1], ${WAITING.length + 1})
redis.call('HSET', KEYS[4], 'doc', document)
noteSent(logId, record.principal, ask.editor)
noteUsed(logId, ask.editor, ask.resources)
turnCame(KEYS[6], turn, ask.retentionMs)
-- A chain that was lost begins again with this operation: a call that comes now must find it.
redis.call('HSETNX', KEYS[3], 'newest', logId)
redis.call('HINCRBY', KEYS[3], 'version', 1)
redis.call('PERSIST', KEYS[3])
noteEvent('sent', 'dispatched', logId, record.principal, record.editor, record.tool, ask.retentionMs)
redis.call('PUBLISH', '${channels.changed}', logId)
-- The next one of its caller may be taken now.
if record.pool then redis.call('PUBLISH', '${channels.pools}', record.pool) end
return {'applied', document, found[2] or '0', found[3] or '0', found[4]}
`;

/** By the id of its job. Undefined: it must be read first, or may not be sent now. */
export type Claim = (jobId: string, claimant: Claimant) => Promise<ClaimedOperation | undefined>;

export function createClaim(
  redis: Redis,
  limits: { retentionMs: number; maxRunning: number; resources: Resources },
): Claim {
  const run = defineScript(redis, "ujbClaim", CLAIM);
  return async (jobId, { editor, lane, fence, session, incarnation }) => {
    const [hash = "", logId = ""] = jobId.split(".", 2);
    const queue = queueName(editor, lane);
    const answer = await run(
      [keys.chain(hash), keys.operation(logId), keys.lease(editor), keys.turns(queue)],
      {
        logId,
        hash,
        editor,
        lane,
        queue,
        ownerNonce: fence,
        session: JSON.stringify(session),
        incarnation,
        maxRunning: limits.maxRunning,
        resources: resourcesFor(lane, limits.resources),
        retentionMs: limits.retentionMs,
      },
    );
    const [document, seq, turn, args] = answer.slice(1);
    if (document === undefined) return undefined;
    return { record: readRecord(logId, [document, seq, turn]), args: String(args) };
  };
}
