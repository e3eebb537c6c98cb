/** Creates an operation: its record, its place in its chain and in its queue, and its job, in one step (▲1). */
import type { Redis } from "ioredis";
import { countsOfCreation } from "../../counters.js";
import { jobIdOf, type OperationRecord } from "../../operation/operation.js";
import { countsAsChange, LANE_PLACES } from "../../tools/tool.js";
import { EDITORS_SEEN, type EditorsSeen } from "../editors/editors-seen.js";
import { INCARNATION } from "../incarnation.js";
import { channels, keys, queueName } from "../keys.js";
import { NOTE_EVENT } from "../operations/events.js";
import { LIFETIME } from "../operations/lifetime.js";
import { OWN_CHANGE } from "../operations/own-change.js";
import { type Resources, resourcesFor } from "../operations/resource-limits.js";
import {
  ARGUMENT_ACCOUNT,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
} from "../operations/result-quota.js";
import { CLAIM, type Claimant, claimOf } from "./claim.js";
import { ADD_JOB, jobOptions } from "./job.js";
import { type Answer, defineScript, IN_INCARNATION } from "./script.js";

/**
 * With a `claim` the operation is claimed and its job taken in the same step, if nothing in its lane is before it.
 *
 * KEYS 3 chain, 4 operation, 5 tombstone, 6 the principal's operations, 7 open, 8 mutations, 9 the caller's, 10 the principal's,
 *      11 turns, 12 counters, 13 the principal's request for room, 14–17 the account of results, 18–21 that of arguments
 * ARGV 2 record JSON, 3 arguments JSON
 * Answer: applied, mutationSeq, turn, the store's time, ms, 1 if it was claimed | incarnation | conflict | full | too_many | queue_full
 */
const CREATE = `${INCARNATION}${CLAIM}${RESULT_QUOTA}${LIFETIME}${OWN_CHANGE}${ADD_JOB}${EDITORS_SEEN}${NOTE_EVENT}${IN_INCARNATION}
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
if ask.assumed and ask.assumed.seen and not areAsSeen(ask.assumed.seen) then return {'conflict'} end
if (redis.call('HGET', KEYS[3], 'version') or '0') ~= ask.version then return {'conflict'} end
local results = accountOf(14, ask.room.results, ask.room.share)
local arguments = accountOf(18, ask.room.arguments, ask.room.share)
if redis.call('EXISTS', KEYS[13]) == 1 or not hasRoom(results, principal, 1) then return {'full'} end
if not hasRoom(arguments, principal, #ARGV[3]) then return {'full'} end
if redis.call('SCARD', waitingOf(principal)) >= ask.maxQueued then return {'too_many'} end
if redis.call('ZCARD', KEYS[7]) >= ask.maxInQueue then return {'queue_full'} end
-- Accepted now, where no time was read for the call: an earlier time would put it before what was created meanwhile.
local document, now = ARGV[2], storeTime()
if ask.assumed then
  ask.acceptedAt = now
  document = string.gsub(document, '^{"state":"queued","acceptedAt":%d+', '{"state":"queued","acceptedAt":' .. string.format('%.0f', now))
end
now = math.max(now, ask.acceptedAt)
local queue, claim = queueKeys(ask.queue), ask.claim
if claim and not (mayClaim(claim, ask.incarnation) and isIdle(queue, now) and claimed(document, claim, now)) then claim = nil end
local seq = countChange(ask.isChange, KEYS[8], {KEYS[9], KEYS[10]}, ask.acceptedAt, 3 * retention)
local turn = takeTurn(KEYS[11], KEYS[7], waitingOf(principal), principal, ask.priorityClass)
if claim and not mayBeSent(logId, principal, ask.queue, turn, ask.acceptedAt, ask.maxRunning) then claim = nil end
if claim and not mayUse(logId, ask.editor, ask.resources, ask.queue, turn, ask.acceptedAt) then claim = nil end
redis.call('HSET', KEYS[4], 'doc', document, 'mutationSeq', seq, 'turn', turn, 'arguments', ARGV[3])
takeRoom(arguments, principal, #ARGV[3])
openRoom(arguments, #ARGV[3])
redis.call('HSET', KEYS[3], 'newest', logId, 'at:' .. ask.editor, logId)
if ask.supersedes then redis.call('HSET', KEYS[3], 'forced:' .. ask.supersedes, logId) end
dropEndedLinks(KEYS[3], string.sub(KEYS[4], 1, -#logId - 1))
redis.call('HINCRBY', KEYS[3], 'version', 1)
redis.call('SET', KEYS[5], principal)
redis.call('ZADD', KEYS[6], ask.acceptedAt, logId)
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', ask.acceptedAt - 3 * retention)
redis.call('ZADD', '${keys.principals}', now, principal)
redis.call('ZREMRANGEBYSCORE', '${keys.principals}', '-inf', now - 3 * retention)
redis.call('PEXPIRE', '${keys.principals}', 3 * retention)
redis.call('ZADD', KEYS[7], ask.acceptedAt, logId)
redis.call('SADD', waitingOf(principal), logId)
for counter, by in pairs(ask.counts) do redis.call('HINCRBY', KEYS[12], counter, by) end
for _, key in ipairs({KEYS[3], KEYS[6], KEYS[8]}) do redis.call('PERSIST', key) end
redis.call('PEXPIRE', KEYS[11], 3 * retention)
addJob(queue, ask.job, turn, ask.places, claim, now)
if ask.pool then
  redis.call('ZADD', '${keys.pools}', now, ask.pool)
  redis.call('PUBLISH', '${channels.pools}', ask.pool)
end
noteEvent('accepted', 'queued', logId, principal, ask.editor, ask.job.name, retention)
-- The record last: with a job that could not be taken it waits, and gets another one.
if claim then
  noteSent(logId, principal, ask.editor)
  noteUsed(logId, ask.editor, ask.resources)
  turnCame(KEYS[11], turn, retention)
  redis.call('HSET', KEYS[4], 'doc', claimed(document, claim, now))
  noteEvent('sent', 'dispatched', logId, principal, ask.editor, ask.job.name, retention)
end
redis.call('PUBLISH', '${channels.changed}', logId)
return {'applied', seq, turn, now, claim and 1 or 0}
`;

/** Each write reads the three limits: they may change. */
export interface CreateOptions {
  retentionMs: number;
  /** Most operations of one principal that wait. */
  maxQueued: number;
  /** Most open operations of an Editor, or a pool, of all principals. */
  maxInQueue: number;
  /** Most of them that are sent and have not ended. */
  maxRunning: number;
  resources: Resources;
  room: RoomLimits;
}

/** `document`: the record as it is stored. `claimant`: claims it, if nothing in its lane is before it. */
export type Create = (
  operation: { record: OperationRecord; document: string; args: string },
  decidedOn: DecidedOn,
  claimant: Claimant | undefined,
) => Promise<Answer>;

/** What the decision to create was made on, and must still hold. */
interface DecidedOn {
  /** Of the chain. */
  version: string;
  /** What was not read for this call: the time, so that it is accepted when it is created, and perhaps the Editors. */
  assumed?: Assumed | undefined;
}

export interface Assumed {
  seen?: EditorsSeen | undefined;
}

export function createCreate(redis: Redis, limits: CreateOptions): Create {
  const run = defineScript(redis, "ujbCreate", CREATE);
  const { retentionMs, resources, room } = limits;
  const options = jobOptions(retentionMs);
  return ({ record, document, args }, decidedOn, claimant) => {
    const { logId, editor, principal, hash, createdBy } = record;
    const queue = queueName(editor, record.lane);
    return run(
      [
        keys.chain(hash),
        keys.operation(logId),
        keys.tombstone(logId),
        keys.principal(principal),
        keys.open(editor),
        keys.mutations(editor),
        keys.askerMutations(editor, createdBy.caller ?? principal),
        keys.askerMutations(editor, principal),
        keys.turns(queue),
        keys.counters,
        keys.roomWanted(principal),
        ...RESULT_ACCOUNT,
        ...ARGUMENT_ACCOUNT,
      ],
      {
        ...decidedOn,
        claim: claimant && claimOf(claimant),
        logId,
        editor,
        queue,
        pool: record.pool,
        principal,
        incarnation: record.incarnation,
        acceptedAt: record.acceptedAt,
        supersedes: record.supersedes,
        isChange: countsAsChange(record),
        priorityClass: record.priorityClass ?? "interactive",
        counts: countsOfCreation(record),
        retentionMs,
        maxQueued: limits.maxQueued,
        maxInQueue: limits.maxInQueue,
        maxRunning: limits.maxRunning,
        resources: resourcesFor(record.lane, resources),
        room,
        places: LANE_PLACES[record.lane],
        job: {
          id: jobIdOf(record),
          name: record.tool,
          data: JSON.stringify({ logId }),
          timestamp: Date.now(),
          options,
        },
      },
      document,
      args,
    );
  };
}
