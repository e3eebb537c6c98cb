/**
 * Reports of a running operation: its last progress, and a partial result within a budget. Partial results are only
 * shown, never waited for. One that is too large is left out; over the budget of all, the oldest is dropped. Both cases
 * are recorded as `truncated`. The budget counts Console lines (console-lines.ts) as well.
 */
import type { Redis, Result } from "ioredis";
import { channels, keys } from "../keys.js";

export interface PartialOptions {
  /** Most characters of one partial result's JSON. */
  maxPartial?: number;
  /** Most bytes of all partial results and Console lines together. */
  partialsBudgetBytes?: number;
}

export const PARTIAL_DEFAULTS = { maxPartial: 1_000_000, partialsBudgetBytes: 64 * 1024 * 1024 } as const;

/** `progress` and `partial` as JSON text. */
export type WriteReport = (
  logId: string,
  report: { progress?: string | undefined; partial?: string | undefined },
  lifeMs: number,
) => Promise<void>;

/**
 * `leave`: a member and its bytes are counted no more. `makeRoom`: drops the oldest until `bytes` more are within the
 * budget. A member is a log_id (its partial result), or "log:" and a log_id (its Console lines).
 */
export const PARTIALS_BUDGET = `
local function leave(use, sizes, member)
  local size = tonumber(redis.call('HGET', sizes, member) or '0')
  if size == 0 then return end
  redis.call('HINCRBY', sizes, 'total', -size)
  redis.call('HDEL', sizes, member)
  redis.call('ZREM', use, member)
end
local function makeRoom(use, sizes, bytes, budget, live, log)
  while tonumber(redis.call('HGET', sizes, 'total') or '0') + bytes > budget do
    local oldest = redis.call('ZRANGE', use, 0, 0)[1]
    if not oldest then break end
    leave(use, sizes, oldest)
    redis.call('ZREM', use, oldest)
    local lines = string.match(oldest, '^log:(.+)$')
    if lines then
      redis.call('DEL', log .. lines)
    elseif redis.call('HDEL', live .. oldest, 'partial') == 1 then
      redis.call('HSET', live .. oldest, 'truncated', '1')
    end
  end
end
local function count(use, sizes, member, bytes)
  local time = redis.call('TIME')
  redis.call('HINCRBY', sizes, member, bytes)
  redis.call('HINCRBY', sizes, 'total', bytes)
  redis.call('ZADD', use, time[1] * 1000 + time[2] / 1000, member)
end
`;

/**
 * KEYS 1 the reports of the operation, 2 the partial results by the time of their last write, 3 their bytes
 * ARGV 1 log_id, 2 progress or "", 3 partial result or "", 4 "truncated" (it is too large) | "", 5 life ms, 6 budget,
 *      7 the prefix of the first key, 8 channel, 9 the prefix of Console lines
 */
const REPORT = `${PARTIALS_BUDGET}
local id, partial, life, budget = ARGV[1], ARGV[3], tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local function noteTime(kind)
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('HSETNX', KEYS[1], kind .. ':first', now)
  redis.call('HSET', KEYS[1], kind .. ':last', now)
  redis.call('HINCRBY', KEYS[1], kind .. ':count', 1)
end
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'progress', ARGV[2])
  noteTime('progress')
end
if partial ~= '' or ARGV[4] ~= '' then
  leave(KEYS[2], KEYS[3], id)
  redis.call('HDEL', KEYS[1], 'partial', 'truncated')
  noteTime('partial')
end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'truncated', '1') end
if partial ~= '' then
  makeRoom(KEYS[2], KEYS[3], #partial, budget, ARGV[7], ARGV[9])
  redis.call('HSET', KEYS[1], 'partial', partial)
  count(KEYS[2], KEYS[3], id, #partial)
end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], life) end
redis.call('PUBLISH', ARGV[8], id)`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbReport(...keysAndArguments: (string | number)[]): Result<null, Context>;
  }
}

export function defineReport(redis: Redis, options: PartialOptions): WriteReport {
  const { maxPartial, partialsBudgetBytes } = { ...PARTIAL_DEFAULTS, ...options };
  redis.defineCommand("ujbReport", { numberOfKeys: 3, lua: REPORT });
  return async (logId, { progress = "", partial = "" }, lifeMs) => {
    const isTooLarge = partial.length > maxPartial || Buffer.byteLength(partial) > partialsBudgetBytes;
    await redis.ujbReport(
      ...[keys.live(logId), keys.partialUse, keys.partialBytes],
      ...[logId, progress, isTooLarge ? "" : partial, isTooLarge ? "truncated" : ""],
      ...[lifeMs, partialsBudgetBytes, keys.live(""), channels.changed, keys.log("")],
    );
  };
}
