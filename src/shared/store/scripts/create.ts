/** Creates an operation: its record, its place in its chain and its turn in its queue, in one step, before it has a job (▲1). */
import type { Redis } from "ioredis";
import { countsOfCreation } from "../../counters.js";
import type { OperationRecord } from "../../operation/operation.js";
import { countsAsChange } from "../../tools/tool.js";
import { INCARNATION } from "../incarnation.js";
import { channels, keys, queueName } from "../keys.js";
import { NOTE_EVENT } from "../operations/events.js";
import { FAIR_PRIORITY } from "../operations/fair-priority.js";
import { LIFETIME } from "../operations/lifetime.js";
import { OWN_CHANGE } from "../operations/own-change.js";
import { PRINCIPAL_LIMIT } from "../operations/principal-limits.js";
import { documentOf } from "../operations/record.js";
import {
  ARGUMENT_ACCOUNT,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
} from "../operations/result-quota.js";
import { type Answer, defineScript, IN_INCARNATION } from "./script.js";

/**
 * KEYS 3 chain, 4 operation, 5 tombstone, 6 the principal's operations, 7 open, 8 mutations, 9 the caller's, 10 the principal's,
 *      11 turns, 12 counters, 13 the principal's request for room, 14–17 the account of results, 18–21 that of arguments
 * ARGV 2 record JSON, 3 arguments JSON
 * Answer: applied, mutationSeq, turn | incarnation | conflict | full | too_many | queue_full
 */
const CREATE = `${INCARNATION}${FAIR_PRIORITY}${PRINCIPAL_LIMIT}${RESULT_QUOTA}${LIFETIME}${OWN_CHANGE}${NOTE_EVENT}${IN_INCARNATION}
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
if (redis.call('HGET', KEYS[3], 'version') or '0') ~= ask.version then return {'conflict'} end
local results = accountOf(14, ask.room.results, ask.room.share)
local arguments = accountOf(18, ask.room.arguments, ask.room.share)
if redis.call('EXISTS', KEYS[13]) == 1 or not hasRoom(results, principal, 1) then return {'full'} end
if not hasRoom(arguments, principal, #ARGV[3]) then return {'full'} end
if redis.call('SCARD', waitingOf(principal)) >= ask.maxQueued then return {'too_many'} end
if redis.call('ZCARD', KEYS[7]) >= ask.maxInQueue then return {'queue_full'} end
local now = math.max(storeTime(), ask.acceptedAt)
local seq = countChange(ask.isChange, KEYS[8], {KEYS[9], KEYS[10]}, ask.acceptedAt, 3 * retention)
local turn = takeTurn(KEYS[11], KEYS[7], waitingOf(principal), principal, ask.priorityClass)
redis.call('HSET', KEYS[4], 'doc', ARGV[2], 'mutationSeq', seq, 'turn', turn, 'arguments', ARGV[3])
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
if ask.pool then redis.call('ZADD', '${keys.pools}', now, ask.pool) end
noteEvent('accepted', 'queued', logId, principal, ask.editor, ask.tool, retention)
redis.call('PUBLISH', '${channels.changed}', logId)
return {'applied', seq, turn}
`;

/** Each write reads the three limits: they may change. */
export interface CreateOptions {
  retentionMs: number;
  /** Most operations of one principal that wait. */
  maxQueued: number;
  /** Most open operations of an Editor, or a pool, of all principals. */
  maxInQueue: number;
  room: RoomLimits;
}

/** `version`: that of the chain that the decision to create was made on; it must still be the same. */
export type Create = (record: OperationRecord, args: string, version: string) => Promise<Answer>;

export function createCreate(redis: Redis, limits: CreateOptions): Create {
  const run = defineScript(redis, "ujbCreate", CREATE);
  const { retentionMs, room } = limits;
  return (record, args, version) => {
    const { logId, editor, principal, hash, createdBy } = record;
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
        keys.turns(queueName(editor, record.lane)),
        keys.counters,
        keys.roomWanted(principal),
        ...RESULT_ACCOUNT,
        ...ARGUMENT_ACCOUNT,
      ],
      {
        version,
        logId,
        editor,
        tool: record.tool,
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
        room,
      },
      documentOf(record),
      args,
    );
  };
}
