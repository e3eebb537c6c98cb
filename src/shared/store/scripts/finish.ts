/** Ends an operation: its last record, its result, its counters and its message, in one step: durable acknowledgement (▲14). */
import type { Redis } from "ioredis";
import type { Counts } from "../../counters.js";
import type { OperationRecord } from "../../operation/operation.js";
import { INCARNATION } from "../incarnation.js";
import { channels, keys } from "../keys.js";
import { LIFETIME } from "../operations/lifetime.js";
import { SENT_OF_SCHEMA_2 } from "../operations/principal-limits.js";
import {
  ARGUMENT_ACCOUNT,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
} from "../operations/result-quota.js";
import { beganAs } from "../operations/write-facts.js";
import type { UploadedResult } from "../results/result-upload.js";
import { type Answer, defineScript, IN_INCARNATION, ownedBy } from "./script.js";

const KEPT_DURATIONS = 20;
const DURATIONS_MS = 30 * 24 * 3_600_000;
/** How long after its retention an operation is still known to have existed, ms. */
const TOMBSTONE_MS = 7 * 24 * 3_600_000;

/**
 * KEYS 3 chain, 4 operation, 5 arguments, 6 result, 7 live, 8 tombstone, 9 the principal's operations, 10 open, 11 mutations,
 *      12 lease, 13 waiting, 14 sent, 15 held back, 16 counters, 17 the tool's durations, 18 the uploaded result, 19 the
 *      principal's request for room, 20–22 the account of results, 23–25 that of arguments
 * ARGV 2 the record JSON that was read, 3 the new one, 4 the result's only piece, if it has just one
 * Answer: applied | incarnation | conflict | not_owner | full
 */
const FINISH = `${INCARNATION}${SENT_OF_SCHEMA_2}${RESULT_QUOTA}${LIFETIME}${IN_INCARNATION}
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
if redis.call('HGET', KEYS[4], 'doc') ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[12]")}
local results = accountOf(KEYS[20], KEYS[21], KEYS[22], ask.room.results, ask.room.share)
local arguments = accountOf(KEYS[23], KEYS[24], KEYS[25], ask.room.arguments, ask.room.share)
if ask.resultBytes then
  if not hasRoom(results, principal, ask.resultBytes) then
    wantRoom(KEYS[19], ask.resultBytes)
    return {'full'}
  end
  if ask.isUploaded and redis.call('EXISTS', KEYS[18]) == 0 then return {'conflict'} end
end
upgradeSent(KEYS[14])
redis.call('HSET', KEYS[4], 'doc', ARGV[3])
if ask.resultBytes then
  redis.call('DEL', KEYS[6])
  if ask.isUploaded then redis.call('RENAME', KEYS[18], KEYS[6]) else redis.call('RPUSH', KEYS[6], ARGV[4]) end
  takeRoom(results, logId, principal, ask.resultBytes, retention)
  redis.call('DEL', KEYS[19])
end
if ask.began ~= '' then
  redis.call(ask.began == 'began' and 'HSET' or 'HSETNX', KEYS[3], 'began:' .. ask.editor, logId)
end
redis.call('ZREM', KEYS[10], logId)
redis.call('SREM', KEYS[13], logId)
redis.call('HDEL', KEYS[14], logId)
redis.call('HDEL', KEYS[15], logId)
endRoom(arguments, logId, principal, redis.call('STRLEN', KEYS[5]), retention)
for i = 4, 7 do redis.call('PEXPIRE', KEYS[i], retention) end
redis.call('SET', KEYS[8], principal, 'PX', retention + ${TOMBSTONE_MS})
for counter, by in pairs(ask.counts) do redis.call('HINCRBY', KEYS[16], counter, by) end
if ask.tookMs then
  redis.call('LPUSH', KEYS[17], ask.tookMs)
  redis.call('LTRIM', KEYS[17], 0, ${KEPT_DURATIONS - 1})
  redis.call('PEXPIRE', KEYS[17], ${DURATIONS_MS})
end
redis.call('HINCRBY', KEYS[3], 'version', 1)
keepFor(KEYS[3], 3 * retention, false)
keepFor(KEYS[9], 3 * retention, redis.call('EXISTS', KEYS[13], KEYS[14]) > 0)
keepFor(KEYS[11], 3 * retention, redis.call('EXISTS', KEYS[10]) == 1)
redis.call('PUBLISH', ask.channel, logId)
return {'applied'}
`;

export interface FinishOptions {
  retentionMs: number;
  room: RoomLimits;
}

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

export function createFinish(redis: Redis, { retentionMs, room }: FinishOptions): Finish {
  const run = defineScript(redis, "ujbFinish", FINISH);
  return (record, { expected, text }, { fence, incarnation }, { counts, tookMs, result }) => {
    const { logId, editor, principal } = record;
    return run(
      [
        keys.chain(record.hash),
        keys.operation(logId),
        keys.arguments(logId),
        keys.result(logId),
        keys.live(logId),
        keys.tombstone(logId),
        keys.principal(principal),
        keys.open(editor),
        keys.mutations(editor),
        keys.lease(editor),
        keys.waiting(principal),
        keys.sent(principal),
        keys.held(principal),
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
        ownerNonce: fence,
        incarnation,
        counts,
        tookMs: tookMs === undefined ? undefined : Math.round(tookMs),
        resultBytes: result?.bytes,
        isUploaded: result?.piece === "",
        retentionMs,
        room,
        channel: channels.ended,
      },
      expected,
      text,
      result?.piece ?? "",
    );
  };
}
