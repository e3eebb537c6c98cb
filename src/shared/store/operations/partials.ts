/**
 * Reports of a running operation: its last progress, and a partial result within a budget. Partial results are only
 * shown, never waited for. One that is too large is left out; over the budget of all, the oldest is dropped. Both cases
 * are recorded as `truncated`.
 */
import type { Redis, Result } from "ioredis";
import { channels, keys } from "../keys.js";

export interface PartialOptions {
  /** Most characters of one partial result's JSON. */
  maxPartial?: number;
  /** Most bytes of all partial results together. */
  partialsBudgetBytes?: number;
}

const PARTIAL_DEFAULTS = { maxPartial: 1_000_000, partialsBudgetBytes: 64 * 1024 * 1024 } as const;

/** `progress` and `partial` as JSON text. */
export type WriteReport = (
  logId: string,
  report: { progress?: string | undefined; partial?: string | undefined },
  lifeMs: number,
) => Promise<void>;

/**
 * KEYS 1 the reports of the operation, 2 the partial results by the time of their last write, 3 their bytes
 * ARGV 1 log_id, 2 progress or "", 3 partial result or "", 4 "truncated" (it is too large) | "", 5 life ms, 6 budget,
 *      7 the prefix of the first key, 8 channel
 */
const REPORT = `
local id, partial, life, budget = ARGV[1], ARGV[3], tonumber(ARGV[5]), tonumber(ARGV[6])
local function leave(other)
  local size = tonumber(redis.call('HGET', KEYS[3], other) or '0')
  if size == 0 then return end
  redis.call('HINCRBY', KEYS[3], 'total', -size)
  redis.call('HDEL', KEYS[3], other)
  redis.call('ZREM', KEYS[2], other)
end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'progress', ARGV[2]) end
if partial ~= '' or ARGV[4] ~= '' then
  leave(id)
  redis.call('HDEL', KEYS[1], 'partial', 'truncated')
end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'truncated', '1') end
if partial ~= '' then
  while tonumber(redis.call('HGET', KEYS[3], 'total') or '0') + #partial > budget do
    local oldest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    if not oldest then break end
    leave(oldest)
    redis.call('ZREM', KEYS[2], oldest)
    if redis.call('HDEL', ARGV[7] .. oldest, 'partial') == 1 then
      redis.call('HSET', ARGV[7] .. oldest, 'truncated', '1')
    end
  end
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'partial', partial)
  redis.call('HSET', KEYS[3], id, #partial)
  redis.call('HINCRBY', KEYS[3], 'total', #partial)
  redis.call('ZADD', KEYS[2], time[1] * 1000 + time[2] / 1000, id)
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
      ...[lifeMs, partialsBudgetBytes, keys.live(""), channels.changed],
    );
  };
}
