/** The three scripts of a call: create, claim, finish. Each is one step in the store, and each decides only whether what was read still holds. */
import type { Redis } from "ioredis";
import { countsAsChange, type OperationRecord } from "../../operation/operation.js";
import { type Counts, countsOfCreation } from "../../telemetry.js";
import type { Lane } from "../../tools/tool.js";
import { channels, keys, queueName, TOMBSTONE_MS } from "../keys.js";
import {
  type Answer,
  ARGUMENT_ACCOUNT,
  defineScript,
  type Limits,
  ownedBy,
  RESULT_ACCOUNT,
  resourcesFor,
} from "../operations/limits.js";
import { beganAs, readRecord, targetsOf, type UploadedResult } from "../operations/record.js";

// Creates an operation: its record, its place in its chain and its turn in its queue, in one step, before it has a job (▲1).

/**
 * KEYS 3 chain, 4 operation, 5 tombstone, 6 the principal's operations, 7 open, 8 mutations, 9 the caller's, 10 the principal's,
 *      11 turns, 12 counters, 13 the principal's request for room, 14 and 15 the account of results, 16 and 17 that of arguments,
 *      18 the principal's hashes
 * ARGV 2 record JSON, 3 arguments JSON
 * Answer: applied, mutationSeq, turn | incarnation | conflict | chain_lost | full | too_many | queue_full
 */
const CREATE = `
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
local chain = readChain(KEYS[3])
if (chain and chain.version or '0') ~= ask.version then return {'conflict'} end
if isChainLost(chain, KEYS[18], ask.hash, ask.acceptedAt, retention) then return {'chain_lost'} end
local results = accountOf(14, ask.room.results, ask.room.share)
local arguments = accountOf(16, ask.room.arguments, ask.room.share)
if wantsRoom(KEYS[13]) or not hasRoom(results, principal, 1) then return {'full'} end
if not hasRoom(arguments, principal, #ARGV[3]) then return {'full'} end
if redis.call('SCARD', waitingOf(principal)) >= ask.maxQueued then return {'too_many'} end
if redis.call('ZCARD', KEYS[7]) >= ask.maxInQueue then return {'queue_full'} end
local now = math.max(storeTime(), ask.acceptedAt)
local seq = countChange(ask.isChange, KEYS[8], {KEYS[9], KEYS[10]}, ask.acceptedAt, 3 * retention)
local turn = takeTurn(KEYS[11], KEYS[7], waitingOf(principal), principal, ask.priorityClass)
redis.call('HSET', KEYS[4], 'doc', ARGV[2], 'mutationSeq', seq, 'turn', turn, 'arguments', ARGV[3])
takeRoom(arguments, principal, #ARGV[3])
openRoom(arguments, #ARGV[3], retention)
chain = chain or {version = ask.version}
chain.newest, chain['at:' .. ask.editor] = logId, logId
if ask.supersedes then chain['forced:' .. ask.supersedes] = logId end
dropEndedLinks(chain, string.sub(KEYS[4], 1, -#logId - 1))
writeChain(KEYS[3], chain)
noteHash(KEYS[18], ask.hash, ask.acceptedAt, retention)
redis.call('SET', KEYS[5], principal)
redis.call('ZADD', KEYS[6], ask.acceptedAt, logId)
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', ask.acceptedAt - 3 * retention)
redis.call('ZADD', '${keys.principals}', now, principal)
redis.call('ZREMRANGEBYSCORE', '${keys.principals}', '-inf', now - 3 * retention)
keepAtLeast('${keys.principals}', 3 * retention)
redis.call('ZADD', KEYS[7], ask.acceptedAt, logId)
redis.call('SADD', waitingOf(principal), logId)
for counter, by in pairs(ask.counts) do redis.call('HINCRBY', KEYS[12], counter, by) end
for _, key in ipairs({KEYS[6], KEYS[8]}) do redis.call('PERSIST', key) end
keepAtLeast(KEYS[11], 3 * retention)
if ask.pool then redis.call('ZADD', '${keys.pools}', now, ask.pool) end
noteEvent('accepted', 'queued', logId, principal, ask.editor, ask.tool, retention)
redis.call('PUBLISH', '${channels.changed}', logId)
return {'applied', seq, turn}
`;

/** `text`: the record's document. `version`: that of the chain that the decision to create was made on; it must still be the same. */
export type Create = (
  record: OperationRecord,
  texts: { text: string; args: string },
  version: string,
) => Promise<Answer>;

export function createCreate(redis: Redis, limits: Limits): Create {
  const run = defineScript(redis, "ujbCreate", CREATE);
  const { retentionMs, room } = limits;
  return (record, { text, args }, version) => {
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
        keys.hashes(principal),
      ],
      {
        version,
        hash,
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
      text,
      args,
    );
  };
}

// Claims a waiting operation for sending, for the job that has been taken: no record, no dispatch (▲1).

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
const CLAIM = `
${ownedBy("KEYS[5]")}
local logId = ask.logId
local found = redis.call('HMGET', KEYS[4], 'doc', 'mutationSeq', 'turn', 'arguments')
if not found[1] or not found[4] or string.sub(found[1], 1, ${WAITING.length}) ~= '${WAITING}' then return {'conflict'} end
local record, turn = cjson.decode(found[1]), tonumber(found[3] or 0)
if record.hash ~= ask.hash or record.editor ~= ask.editor or record.lane ~= ask.lane then return {'conflict'} end
-- One of a pool may have been taken by another Editor, in a write that the store lost (▲13).
if record.pool and record.incarnation ~= ask.incarnation then return {'conflict'} end
if record.cancel or record.executedAs or record.sentIn then return {'conflict'} end
local limits = limitsOn(record.principal, ask.editor)
if heldBack(logId, limits, ask.queue, record.acceptedAt) then return {'held'} end
local now = math.max(storeTime(), record.acceptedAt)
local document = '{"state":"dispatched","dispatchedAt":' .. string.format('%.0f', now) .. ',"sentIn":' .. ask.session .. ','
  .. string.sub(found[1], ${WAITING.length + 1})
redis.call('HSET', KEYS[4], 'doc', document)
noteSent(logId, record.principal, ask.editor, limits)
turnCame(KEYS[6], turn, ask.retentionMs)
chainChanged(KEYS[3])
noteEvent('sent', 'dispatched', logId, record.principal, record.editor, record.tool, ask.retentionMs)
redis.call('PUBLISH', '${channels.changed}', logId)
-- The next one of its caller may be taken now.
if record.pool then redis.call('PUBLISH', '${channels.pools}', record.pool) end
return {'applied', document, found[2] or '0', found[3] or '0', found[4]}
`;

/** By the id of its job. Undefined: it must be read first, or may not be sent now. */
export type Claim = (jobId: string, claimant: Claimant) => Promise<ClaimedOperation | undefined>;

export function createClaim(redis: Redis, limits: Limits): Claim {
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

// Which operations that a limit held back ask again now, because a place is free, instead of after their pause.

/** A job, and the queue that it is in. */
export interface DueJob {
  queue: string;
  jobId: string;
}

/** The jobs that are due, as the scripts with RELEASE answer them. */
export function dueIn(answer: Answer): DueJob[] {
  const named = answer.slice(1).map(String);
  return Array.from({ length: named.length / 2 }, (_, at) => ({
    queue: named[2 * at] ?? "",
    jobId: named[2 * at + 1] ?? "",
  }));
}

// Ends an operation: its last record, its result, its counters and its message, in one step: durable acknowledgement (▲14).

const KEPT_DURATIONS = 20;
const DURATIONS_MS = 15 * 24 * 3_600_000;

/**
 * KEYS 3 chain, 4 operation, 5 a result in pieces, 6 live, 7 tombstone, 8 the principal's operations, 9 open, 10 mutations, 11 lease,
 *      12 counters, 13 the tool's durations, 14 the uploaded result, 15 the principal's request for room, 16 and 17 the account of
 *      results, 18 and 19 that of arguments
 * ARGV 2 the record JSON that was read, 3 the new one, 4 the result's only piece, if it has just one
 * Answer: applied, those that are due (limits.ts) | incarnation | conflict | not_owner | full
 */
const FINISH = `
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
if redis.call('HGET', KEYS[4], 'doc') ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[11]")}
local results = accountOf(16, ask.room.results, ask.room.share)
local arguments = accountOf(18, ask.room.arguments, ask.room.share)
if ask.resultBytes then
  if not hasRoom(results, principal, ask.resultBytes) then
    wantRoom(KEYS[15], ask.resultBytes)
    return {'full'}
  end
  if ask.isUploaded and redis.call('EXISTS', KEYS[14]) == 0 then return {'conflict'} end
end
redis.call('HSET', KEYS[4], 'doc', ARGV[3])
if ask.resultBytes then
  redis.call('DEL', KEYS[5])
  if ask.isUploaded then redis.call('RENAME', KEYS[14], KEYS[5]) else redis.call('HSET', KEYS[4], 'result', ARGV[4]) end
  takeRoom(results, principal, ask.resultBytes)
  endRoom(results, principal, ask.resultBytes, retention)
  redis.call('DEL', KEYS[15])
end
chainChanged(KEYS[3], 'PX', 3 * retention)
redis.call('ZREM', KEYS[9], logId)
redis.call('SREM', waitingOf(principal), logId)
local left = leave(logId, principal)
local argumentsSize = redis.call('HSTRLEN', KEYS[4], 'arguments')
if argumentsSize > 0 then
  closeRoom(arguments, argumentsSize)
  endRoom(arguments, principal, argumentsSize, retention)
end
for i = 4, 6 do redis.call('PEXPIRE', KEYS[i], retention) end
redis.call('SET', KEYS[7], principal, 'PX', retention + ${TOMBSTONE_MS})
for counter, by in pairs(ask.counts) do redis.call('HINCRBY', KEYS[12], counter, by) end
if ask.took then
  redis.call('LPUSH', KEYS[13], ask.took)
  redis.call('LTRIM', KEYS[13], 0, ${KEPT_DURATIONS - 1})
  keepAtLeast(KEYS[13], ${DURATIONS_MS})
end
keepFor(KEYS[8], 3 * retention, redis.call('EXISTS', waitingOf(principal), sentOf(principal)) > 0)
keepFor(KEYS[10], 3 * retention, redis.call('EXISTS', KEYS[9]) == 1)
noteEvent(ask.event, ask.event, logId, principal, ask.editor, ask.tool, retention)
redis.call('PUBLISH', ask.channel, logId)
release(left)
return {'applied', unpack(due)}
`;

export interface End {
  counts: Counts;
  /** How long it took, ms, if that is an example of how long the tool takes. */
  tookMs: number | undefined;
  result: UploadedResult | undefined;
}

/** `expected`: the record as it was read. */
export type Finish = (
  record: OperationRecord,
  texts: { expected: string; text: string },
  only: { fence?: string | undefined; incarnation?: string | undefined },
  end: End,
) => Promise<Answer>;

export function createFinish(redis: Redis, limits: Limits): Finish {
  const run = defineScript(redis, "ujbFinish", FINISH);
  const { retentionMs, resources, room } = limits;
  return (record, { expected, text }, { fence, incarnation }, { counts, tookMs, result }) => {
    const { logId, editor, principal } = record;
    return run(
      [
        keys.chain(record.hash),
        keys.operation(logId),
        keys.result(logId),
        keys.live(logId),
        keys.tombstone(logId),
        keys.principal(principal),
        keys.open(editor),
        keys.mutations(editor),
        keys.lease(editor),
        keys.counters,
        keys.durations(record.tool),
        result?.key ?? keys.uploaded(""),
        keys.roomWanted(principal),
        ...RESULT_ACCOUNT,
        ...ARGUMENT_ACCOUNT,
      ],
      {
        logId,
        editor,
        principal,
        began: beganAs(record),
        targets: targetsOf(record),
        ownerNonce: fence,
        incarnation,
        counts,
        took: tookMs === undefined ? undefined : `${Math.round(tookMs)} ${editor}`,
        resultBytes: result?.bytes,
        isUploaded: result?.piece === "",
        retentionMs,
        maxRunning: limits.maxRunning,
        resources: resourcesFor(record.lane, resources),
        room,
        event: record.state,
        tool: record.tool,
        channel: channels.ended,
      },
      expected,
      text,
      result?.piece ?? "",
    );
  };
}
