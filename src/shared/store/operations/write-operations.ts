/** The one script that writes operations. */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import type { Counts } from "../../counters.js";
import { isFinal, type OperationRecord, phaseOf } from "../../operation/operation.js";
import { countsAsChange } from "../../tools/tool.js";
import { INCARNATION } from "../incarnation.js";
import { channels, keys } from "../keys.js";
import { queueName } from "../queue.js";
import type { UploadedResult } from "../results/result-upload.js";
import { guard, guarded } from "../schema.js";
import { FAIR_PRIORITY } from "./fair-priority.js";
import { LIFETIME } from "./lifetime.js";
import { OWN_CHANGE } from "./own-change.js";
import { beganAs } from "./phase.js";
import { PRINCIPAL_LIMIT, PRINCIPAL_LIMITS, type PrincipalLimits } from "./principal-limits.js";
import {
  isStoreFull,
  quotaLimits,
  RESULT_QUOTA,
  type ResultQuotaOptions,
  ROOM_KEYS,
} from "./result-quota.js";

const KEPT_DURATIONS = 20;
const DURATIONS_MS = 30 * 24 * 3_600_000;

/**
 * Writes one operation: a new one if nothing of its hash has changed since the caller read it, or a change if the record
 * has not. A `restore` is a creation that counts nothing and does not displace newer operations.
 *
 * KEYS 1 chain, 2 operation, 3 arguments, 4 result, 5 live, 6 tombstone, 7 principal index, 8 open index,
 *      9 mutations counter, 10 lease, 11 turns, 12 the principal's waiting, 13 the principal's sent operations,
 *      14 those of them that came too early, 15 counters, 16 the tool's durations, 17 uploaded result, 18 the ends of results,
 *      19 their bytes, 20 the principal's request for space, 21 incarnation, 22 the caller's mutations, 23 the principal's,
 *      24 schema, 25 the results' shares, 26 the ends of arguments, 27 their bytes, 28 their shares, 29 known Editors
 * ARGV 1 change: the expected record JSON, else the expected chain version ("0": no chain yet), 2 record JSON, 3 log_id,
 *      4 "create" | "restore" | "change",
 *      5 acceptedAt, 6 "waiting" | "sent" | "final", 7 retention ms, 8 the owner's nonce or "" (not fenced),
 *      9 the channel that announces the change, except for a creation or a change after the end, which nobody waits for,
 *      10 arguments JSON or "", 11 bytes of the result or "",
 *      12 editor, 13 "began" (the Editor began it) | "began_earlier" (a restored one, before others) | "", 14 superseded log_id or "",
 *      15 "counts" (as a change: countsAsChange) | "", 16 principal, 17 "interactive" | "batch",
 *      18 most that may wait, 19 most that may be sent or "" (it was sent: any number), 20 queue, 21 how long it took, ms, or "",
 *      22 the result's only piece, or "" (uploaded), 23 the budgets of results and arguments, JSON (result-quota.ts),
 *      24 the incarnation in which it was decided on or "" (any), 25 an id for a new one;
 *      26… pairs of a counter and its increment
 * Answer: ["applied", mutationSeq, turn] | ["conflict"] (look again) | ["not_owner"] (another owner holds the lease)
 *      | ["too_many"] (not created: the principal's limit on waiting operations is reached)
 *      | ["held"] (not sent: the principal's limit on running operations is reached)
 *      | ["full"] (no room: not created, or the result not stored)
 *      | ["incarnation"] (store incarnation, ▲13: the store has lost something since the decision). A newer schema refuses.
 */
const WRITE = `${guard("KEYS[24]")}${FAIR_PRIORITY}${PRINCIPAL_LIMIT}${RESULT_QUOTA}${LIFETIME}${INCARNATION}${OWN_CHANGE}
if ARGV[24] ~= '' and incarnationOf(KEYS[21], ARGV[25]) ~= ARGV[24] then return {'incarnation'} end
local isAnnounced, before = ARGV[4] == 'change'
if isAnnounced then before = redis.call('HGET', KEYS[2], 'doc') else before = redis.call('HGET', KEYS[1], 'version') or '0' end
if before ~= ARGV[1] then return {'conflict'} end
if ARGV[8] ~= '' and redis.call('GET', KEYS[10]) ~= ARGV[8] then return {'not_owner'} end
local logId, retention = ARGV[3], tonumber(ARGV[7])
local size, principal, limits = tonumber(ARGV[11]), ARGV[16], cjson.decode(ARGV[23])
local results = accountOf(KEYS[18], KEYS[19], KEYS[25], limits.results, limits.share)
local arguments = accountOf(KEYS[26], KEYS[27], KEYS[28], limits.arguments, limits.share)
upgradeSent(KEYS[13])
if ARGV[4] == 'create' and ARGV[8] == '' then
  if redis.call('EXISTS', KEYS[20]) == 1 or not hasRoom(results, principal, 1) then return {'full'} end
  if not hasRoom(arguments, principal, #ARGV[10]) then return {'full'} end
end
if size and not hasRoom(results, principal, size) then
  wantRoom(KEYS[20], size)
  return {'full'}
end
if size then
  if ARGV[22] == '' and redis.call('EXISTS', KEYS[17]) == 0 then return {'conflict'} end
end
if not isAnnounced then
  local name = ARGV[4] == 'create' and 'HSET' or 'HSETNX'
  if ARGV[6] == 'sent' then redis.call('HSET', KEYS[13], logId, ARGV[12])
  elseif redis.call('SCARD', KEYS[12]) >= tonumber(ARGV[18]) then return {'too_many'} end
  local seq
  if ARGV[15] == 'counts' then
    seq = redis.call('INCR', KEYS[9])
    for i = 22, 23 do noteOwnChange(KEYS[i], seq, ARGV[5], 3 * retention) end
  else
    seq = tonumber(redis.call('GET', KEYS[9]) or '0')
  end
  local turn = takeTurn(KEYS[11], KEYS[8], KEYS[12], ARGV[16], ARGV[17])
  redis.call('HSET', KEYS[2], 'mutationSeq', seq, 'turn', turn)
  if ARGV[10] ~= '' then
    redis.call('SET', KEYS[3], ARGV[10])
    takeRoom(arguments, logId, principal, #ARGV[10], retention, true)
  end
  redis.call('ZADD', KEYS[7], ARGV[5], logId)
  redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', tonumber(ARGV[5]) - 3 * retention)
  redis.call(name, KEYS[1], 'newest', logId)
  redis.call(name, KEYS[1], 'at:' .. ARGV[12], logId)
  if ARGV[14] ~= '' then redis.call(name, KEYS[1], 'forced:' .. ARGV[14], logId) end
  dropEndedLinks(KEYS[1], string.sub(KEYS[2], 1, -#logId - 1))
end
local turn = tonumber(redis.call('HGET', KEYS[2], 'turn') or 0)
if ARGV[6] == 'sent' and ARGV[19] ~= '' and not mayBeSent(KEYS[13], KEYS[14], KEYS[29], logId, ARGV[20], turn, tonumber(ARGV[5]), tonumber(ARGV[19])) then
  return {'held'}
end
if ARGV[6] ~= 'waiting' then redis.call('HDEL', KEYS[14], logId) end
redis.call('HSET', KEYS[2], 'doc', ARGV[2])
if ARGV[13] ~= '' then
  redis.call(ARGV[13] == 'began' and 'HSET' or 'HSETNX', KEYS[1], 'began:' .. ARGV[12], logId)
end
if size then
  redis.call('DEL', KEYS[4])
  if ARGV[22] == '' then redis.call('RENAME', KEYS[17], KEYS[4]) else redis.call('RPUSH', KEYS[4], ARGV[22]) end
  redis.call('PEXPIRE', KEYS[4], retention)
  takeRoom(results, logId, principal, size, retention)
  redis.call('DEL', KEYS[20])
end
if ARGV[6] ~= 'final' then
  redis.call('ZADD', KEYS[8], ARGV[5], logId)
  redis.call('SET', KEYS[6], ARGV[16])
else
  redis.call('ZREM', KEYS[8], logId)
  if redis.call('PTTL', KEYS[2]) < 0 then
    endRoom(arguments, logId, principal, redis.call('STRLEN', KEYS[3]), retention)
    for i = 2, 5 do redis.call('PEXPIRE', KEYS[i], retention) end
    redis.call('SET', KEYS[6], ARGV[16], 'PX', retention + 604800000)
  else
    isAnnounced = false
  end
end
redis.call(ARGV[6] == 'waiting' and 'SADD' or 'SREM', KEYS[12], logId)
if ARGV[6] == 'sent' then redis.call('HSET', KEYS[13], logId, ARGV[12]) else redis.call('HDEL', KEYS[13], logId) end
if ARGV[6] == 'sent' then turnCame(KEYS[11], turn) end
if ARGV[21] ~= '' then
  redis.call('LPUSH', KEYS[16], ARGV[21])
  redis.call('LTRIM', KEYS[16], 0, ${KEPT_DURATIONS - 1})
  redis.call('PEXPIRE', KEYS[16], ${DURATIONS_MS})
end
for i = 26, #ARGV, 2 do redis.call('HINCRBY', KEYS[15], ARGV[i], ARGV[i + 1]) end
redis.call('HINCRBY', KEYS[1], 'version', 1)
keepFor(KEYS[1], 3 * retention, ARGV[6] ~= 'final')
keepFor(KEYS[7], 3 * retention, redis.call('EXISTS', KEYS[12], KEYS[13]) > 0)
keepFor(KEYS[9], 3 * retention, redis.call('EXISTS', KEYS[8]) == 1)
redis.call('PEXPIRE', KEYS[11], 3 * retention)
if isAnnounced then redis.call('PUBLISH', ARGV[9], logId) end
return {'applied', tonumber(redis.call('HGET', KEYS[2], 'mutationSeq') or 0), turn}
`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbWrite(...keysAndArguments: (string | Buffer)[]): Result<[Applied["kind"], number?, number?], Context>;
  }
}

export type Applied =
  | { kind: "applied"; mutationSeq: number; turn: number }
  | { kind: "conflict" | "not_owner" | "too_many" | "held" | "full" | "incarnation" };

/** Defines the script on a connection. */
function defineScript(
  redis: Redis,
): (keyList: string[], argumentList: (string | Buffer)[]) => Promise<Applied> {
  redis.defineCommand("ujbWrite", { numberOfKeys: 29, lua: WRITE });
  return async (keyList, argumentList) => {
    const answer = await guarded(
      redis.ujbWrite(...keyList, keys.schema, ...ROOM_KEYS, keys.editors, ...argumentList),
    ).catch((error) => {
      // Nothing was written: Redis refuses the script at its first write.
      if (isStoreFull(error)) return ["full"] as const;
      throw error;
    });
    const [kind, mutationSeq = 0, turn = 0] = answer;
    return kind === "applied" ? { kind, mutationSeq, turn } : { kind };
  };
}

/** What a write says besides its record. */
export interface Extra {
  args?: string;
  /** The owner's nonce; undefined: not compared (▲11). */
  fence?: string | undefined;
  /** Store incarnation (▲13): write only in this incarnation; undefined: in any. */
  incarnation?: string | undefined;
  /** The Editor has it already: it needs no place among its principal's running operations. */
  wasSent?: boolean;
  counts: Counts;
  tookMs?: number | undefined;
  uploaded?: UploadedResult;
}

/** `text`: the record as JSON. `expected`: the record's JSON before a change, else the version of its chain. */
export type Write = (
  kind: "create" | "restore" | "change",
  written: { text: string; record: OperationRecord },
  expected: string,
  extra: Extra,
) => Promise<Applied>;

export interface WriteOptions extends Partial<PrincipalLimits>, ResultQuotaOptions {
  retentionMs: number;
}

/** Passes a write to the script: its keys and arguments, in the order that the script states. */
export function createWrite(redis: Redis, options: WriteOptions): Write {
  const run = defineScript(redis);
  const limits = quotaLimits(options);
  return (kind, { text, record }, expected, extra) => {
    const { logId, editor } = record;
    const { uploaded } = extra;
    return run(
      [
        keys.chain(record.hash),
        keys.operation(logId),
        keys.arguments(logId),
        keys.result(logId),
        keys.live(logId),
        keys.tombstone(logId),
        keys.principal(record.principal),
        keys.open(editor),
        keys.mutations(editor),
        keys.lease(editor),
        keys.turns(queueName(editor, record.lane)),
        keys.waiting(record.principal),
        keys.sent(record.principal),
        keys.held(record.principal),
        keys.counters,
        keys.durations(record.tool),
        uploaded?.key ?? keys.uploaded(""),
        keys.resultEnds,
        keys.resultBytes,
        keys.roomWanted(record.principal),
        keys.incarnation,
        keys.askerMutations(editor, record.createdBy.caller ?? record.principal),
        keys.askerMutations(editor, record.principal),
      ],
      [
        expected,
        text,
        logId,
        kind,
        String(record.acceptedAt),
        phaseOf(record.state),
        String(options.retentionMs),
        extra.fence ?? "",
        isFinal(record.state) ? channels.ended : channels.changed,
        extra.args ?? "",
        uploaded === undefined ? "" : String(uploaded.bytes),
        editor,
        beganAs(record),
        record.supersedes ?? "",
        countsAsChange(record) ? "counts" : "",
        record.principal,
        record.priorityClass ?? "interactive",
        String(options.maxQueued ?? PRINCIPAL_LIMITS.maxQueued),
        extra.wasSent ? "" : String(options.maxRunning ?? PRINCIPAL_LIMITS.maxRunning),
        queueName(editor, record.lane),
        extra.tookMs === undefined ? "" : String(Math.round(extra.tookMs)),
        uploaded?.piece ?? "",
        limits,
        extra.incarnation ?? "",
        randomUUID(),
        ...Object.entries(extra.counts).flatMap(([counter, by]) => [counter, String(by)]),
      ],
    );
  };
}
