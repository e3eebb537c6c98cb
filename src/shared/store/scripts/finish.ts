/** Ends an operation: its last record, its result, its counters and its message, in one step: durable acknowledgement (▲14). */
import type { Redis } from "ioredis";
import type { Counts } from "../../counters.js";
import type { OperationRecord } from "../../operation/operation.js";
import { INCARNATION } from "../incarnation.js";
import { channels, keys, TOMBSTONE_MS } from "../keys.js";
import { NOTE_EVENT } from "../operations/events.js";
import { LIFETIME } from "../operations/lifetime.js";
import { PRINCIPAL_LIMIT } from "../operations/principal-limits.js";
import { RESOURCE_LIMIT, type Resources, resourcesFor } from "../operations/resource-limits.js";
import {
  ARGUMENT_ACCOUNT,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
} from "../operations/result-quota.js";
import { beganAs, targetsOf } from "../operations/write-facts.js";
import type { UploadedResult } from "../results/result-upload.js";
import { RELEASE_HELD } from "./release.js";
import { type Answer, defineScript, IN_INCARNATION, ownedBy } from "./script.js";

const KEPT_DURATIONS = 20;
const DURATIONS_MS = 30 * 24 * 3_600_000;

/**
 * KEYS 3 chain, 4 operation, 5 a result in pieces, 6 live, 7 tombstone, 8 the principal's operations, 9 open, 10 mutations, 11 lease,
 *      12 counters, 13 the tool's durations, 14 the uploaded result, 15 the principal's request for room, 16–19 the account of
 *      results, 20–23 that of arguments
 * ARGV 2 the record JSON that was read, 3 the new one, 4 the result's only piece, if it has just one
 * Answer: applied, those that are due (release.ts) | incarnation | conflict | not_owner | full
 */
const FINISH = `${INCARNATION}${NOTE_EVENT}${PRINCIPAL_LIMIT}${RESOURCE_LIMIT}${RELEASE_HELD}${RESULT_QUOTA}${LIFETIME}${IN_INCARNATION}
local logId, principal, retention = ask.logId, ask.principal, ask.retentionMs
if redis.call('HGET', KEYS[4], 'doc') ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[11]")}
local results = accountOf(16, ask.room.results, ask.room.share)
local arguments = accountOf(20, ask.room.arguments, ask.room.share)
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
if ask.began ~= '' then
  for _, target in ipairs(ask.targets) do
    redis.call(ask.began == 'began' and 'HSET' or 'HSETNX', KEYS[3], 'began:' .. target, logId)
  end
end
redis.call('ZREM', KEYS[9], logId)
noteEnded(logId, principal)
local freed = noteUnused(logId, ask.resources)
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
  redis.call('PEXPIRE', KEYS[13], ${DURATIONS_MS})
end
redis.call('HSETNX', KEYS[3], 'newest', logId)
redis.call('HINCRBY', KEYS[3], 'version', 1)
keepFor(KEYS[3], 3 * retention, false)
keepFor(KEYS[8], 3 * retention, redis.call('EXISTS', waitingOf(principal), sentOf(principal)) > 0)
keepFor(KEYS[10], 3 * retention, redis.call('EXISTS', KEYS[9]) == 1)
noteEvent(ask.event, ask.event, logId, principal, ask.editor, ask.tool, retention)
redis.call('PUBLISH', ask.channel, logId)
local now = storeTime()
releaseHeld(principal, now, ask.maxRunning)
releaseWanted(freed, now, ask.resources)
return {'applied', unpack(due)}
`;

export interface FinishOptions {
  retentionMs: number;
  maxRunning: number;
  resources: Resources;
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

export function createFinish(redis: Redis, limits: FinishOptions): Finish {
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
