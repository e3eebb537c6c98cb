/** Creates an operation: its record, its place in its chain and in its queue, and its job, in one step (▲1). */
import type { Redis } from "ioredis";
import { countsOfCreation } from "../../counters.js";
import { jobIdOf, type OperationRecord } from "../../operation/operation.js";
import { countsAsChange } from "../../tools/tool.js";
import { INCARNATION } from "../incarnation.js";
import { keys, queueName } from "../keys.js";
import { FAIR_PRIORITY } from "../operations/fair-priority.js";
import { LIFETIME } from "../operations/lifetime.js";
import { OWN_CHANGE } from "../operations/own-change.js";
import {
  ARGUMENT_ACCOUNT,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
} from "../operations/result-quota.js";
import { ADD_JOB, jobKeys, jobOptions } from "./job.js";
import { type Answer, defineScript, IN_INCARNATION } from "./script.js";

/**
 * KEYS 3 chain, 4 operation, 5 arguments, 6 tombstone, 7 the principal's operations, 8 open, 9 waiting, 10 mutations, 11 the
 *      caller's, 12 the principal's, 13 turns, 14 counters, 15 the principal's request for room, 16–18 the account of results,
 *      19–21 that of arguments, from 22 the job's
 * ARGV 2 record JSON, 3 arguments JSON
 * Answer: applied, mutationSeq, turn, the store's time, ms | incarnation | conflict | full | too_many
 */
const CREATE = `${INCARNATION}${FAIR_PRIORITY}${RESULT_QUOTA}${LIFETIME}${OWN_CHANGE}${ADD_JOB}${IN_INCARNATION}
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
if (redis.call('HGET', KEYS[3], 'version') or '0') ~= ask.version then return {'conflict'} end
local results = accountOf(KEYS[16], KEYS[17], KEYS[18], ask.room.results, ask.room.share)
local arguments = accountOf(KEYS[19], KEYS[20], KEYS[21], ask.room.arguments, ask.room.share)
if redis.call('EXISTS', KEYS[15]) == 1 or not hasRoom(results, principal, 1) then return {'full'} end
if not hasRoom(arguments, principal, #ARGV[3]) then return {'full'} end
if redis.call('SCARD', KEYS[9]) >= ask.maxQueued then return {'too_many'} end
local seq = countChange(ask.isChange, KEYS[10], {KEYS[11], KEYS[12]}, ask.acceptedAt, 3 * retention)
local turn = takeTurn(KEYS[13], KEYS[8], KEYS[9], principal, ask.priorityClass)
redis.call('HSET', KEYS[4], 'doc', ARGV[2], 'mutationSeq', seq, 'turn', turn)
redis.call('SET', KEYS[5], ARGV[3])
takeRoom(arguments, logId, principal, #ARGV[3], retention, true)
redis.call('HSET', KEYS[3], 'newest', logId, 'at:' .. ask.editor, logId)
if ask.supersedes then redis.call('HSET', KEYS[3], 'forced:' .. ask.supersedes, logId) end
dropEndedLinks(KEYS[3], string.sub(KEYS[4], 1, -#logId - 1))
redis.call('HINCRBY', KEYS[3], 'version', 1)
redis.call('SET', KEYS[6], principal)
redis.call('ZADD', KEYS[7], ask.acceptedAt, logId)
redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', ask.acceptedAt - 3 * retention)
redis.call('ZADD', KEYS[8], ask.acceptedAt, logId)
redis.call('SADD', KEYS[9], logId)
for counter, by in pairs(ask.counts) do redis.call('HINCRBY', KEYS[14], counter, by) end
for _, key in ipairs({KEYS[3], KEYS[7], KEYS[10]}) do redis.call('PERSIST', key) end
redis.call('PEXPIRE', KEYS[13], 3 * retention)
addJob(22, ask.job, turn)
return {'applied', seq, turn, storeTime()}
`;

export interface CreateOptions {
  retentionMs: number;
  /** Most operations of one principal that wait. */
  maxQueued: number;
  room: RoomLimits;
}

/** `version`: that of the chain which was decided on. */
export type Create = (record: OperationRecord, args: string, version: string) => Promise<Answer>;

export function createCreate(redis: Redis, { retentionMs, maxQueued, room }: CreateOptions): Create {
  const run = defineScript(redis, "ujbCreate", CREATE);
  const options = jobOptions(retentionMs);
  return (record, args, version) => {
    const { logId, editor, principal, hash, createdBy } = record;
    const jobId = jobIdOf(record);
    return run(
      [
        keys.chain(hash),
        keys.operation(logId),
        keys.arguments(logId),
        keys.tombstone(logId),
        keys.principal(principal),
        keys.open(editor),
        keys.waiting(principal),
        keys.mutations(editor),
        keys.askerMutations(editor, createdBy.caller ?? principal),
        keys.askerMutations(editor, principal),
        keys.turns(queueName(editor, record.lane)),
        keys.counters,
        keys.roomWanted(principal),
        ...RESULT_ACCOUNT,
        ...ARGUMENT_ACCOUNT,
        ...jobKeys(queueName(editor, record.lane), jobId),
      ],
      {
        version,
        logId,
        editor,
        principal,
        incarnation: record.incarnation,
        acceptedAt: record.acceptedAt,
        supersedes: record.supersedes,
        isChange: countsAsChange(record),
        priorityClass: record.priorityClass ?? "interactive",
        counts: countsOfCreation(record),
        retentionMs,
        maxQueued,
        room,
        job: {
          id: jobId,
          name: record.tool,
          data: JSON.stringify({ logId }),
          timestamp: Date.now(),
          options,
        },
      },
      JSON.stringify(record),
      args,
    );
  };
}
