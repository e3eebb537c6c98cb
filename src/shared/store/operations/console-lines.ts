/**
 * What the Console said while an operation ran: its newest lines, numbered from 1, for those who follow it. They are only
 * shown, never waited for; over the budget of partial results (partials.ts) the oldest are dropped.
 */
import type { Redis, Result } from "ioredis";
import type { ConsoleLine } from "../../wire/console-lines.js";
import { keys } from "../keys.js";
import { PARTIAL_DEFAULTS, PARTIALS_BUDGET, type PartialOptions } from "./partials.js";

/** Lines kept of an operation. */
const MOST_KEPT = 500;
/** Lines read at once. */
const MOST_READ = 200;

/** Lines that are added together. `id`: the same batch written again adds nothing. */
export interface LineBatch {
  id: string;
  lines: readonly ConsoleLine[];
}

export interface LinesRead {
  lines: ConsoleLine[];
  /** The number of the last one that this answer covers, for the next question. */
  next: number;
  /** How many before `lines` are not kept any more. */
  missed?: number;
  /** There are further ones. */
  more?: true;
}

export interface ConsoleLines {
  addLines(logId: string, batch: LineBatch): Promise<void>;
  /** The lines whose numbers are above `after`, oldest first. */
  linesAfter(logId: string, after: number): Promise<LinesRead>;
}

/**
 * KEYS 1 the reports of the operation, 2 its lines, 3 partial results by the time of their last write, 4 their bytes
 * ARGV 1 log_id, 2 batch, 3 life of the lines, ms, 4 life of the rest, ms, 5 budget, 6 the prefix of the first key, 7 of the
 *      second, 8 most lines, then the lines
 */
const ADD = `${PARTIALS_BUDGET}
if redis.call('HGET', KEYS[1], 'batch') == ARGV[2] then return end
local member, bytes = 'log:' .. ARGV[1], 0
if redis.call('EXISTS', KEYS[2]) == 0 then leave(KEYS[3], KEYS[4], member) end
for i = 9, #ARGV do bytes = bytes + #ARGV[i] end
makeRoom(KEYS[3], KEYS[4], bytes, tonumber(ARGV[5]), ARGV[6], ARGV[7])
for i = 9, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[8]) do bytes = bytes - #redis.call('LPOP', KEYS[2]) end
count(KEYS[3], KEYS[4], member, bytes)
redis.call('HSET', KEYS[1], 'batch', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'lines', #ARGV - 8)
redis.call('PEXPIRE', KEYS[2], ARGV[3])
for _, i in ipairs({1, 3, 4}) do redis.call('PEXPIRE', KEYS[i], ARGV[4]) end`;

/**
 * KEYS 1 the reports of the operation, 2 its lines
 * ARGV 1 the number after which to read, 2 most lines
 * Answers how many there ever were, how many of them are gone, and those that were read.
 */
const READ = `
local total = tonumber(redis.call('HGET', KEYS[1], 'lines') or '0')
local gone = total - redis.call('LLEN', KEYS[2])
local from = math.max(tonumber(ARGV[1]) - gone, 0)
return {total, gone, redis.call('LRANGE', KEYS[2], from, from + tonumber(ARGV[2]) - 1)}`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbAddLines(...keysAndArguments: (string | number)[]): Result<null, Context>;
    ujbReadLines(...keysAndArguments: (string | number)[]): Result<[number, number, string[]], Context>;
  }
}

export function createConsoleLines(
  redis: Redis,
  options: { retentionMs: number } & PartialOptions,
): ConsoleLines {
  const { retentionMs, partialsBudgetBytes } = { ...PARTIAL_DEFAULTS, ...options };
  redis.defineCommand("ujbAddLines", { numberOfKeys: 4, lua: ADD });
  redis.defineCommand("ujbReadLines", { numberOfKeys: 2, lua: READ });
  return {
    async addLines(logId, { id, lines }) {
      if (lines.length === 0) return;
      await redis.ujbAddLines(
        ...[keys.live(logId), keys.log(logId), keys.partialUse, keys.partialBytes],
        ...[logId, id, retentionMs, 3 * retentionMs, partialsBudgetBytes],
        ...[keys.live(""), keys.log(""), MOST_KEPT],
        ...lines.map(({ type, message }) => JSON.stringify({ type, message })),
      );
    },

    async linesAfter(logId, after) {
      const [total, gone, texts] = await redis.ujbReadLines(
        ...[keys.live(logId), keys.log(logId), after, MOST_READ],
      );
      // A store that began anew counts from 1 again.
      if (after > total) return { lines: [], next: total };
      const next = Math.max(after, gone) + texts.length;
      return {
        lines: texts.map((text) => JSON.parse(text) as ConsoleLine),
        next,
        ...(gone > after ? { missed: gone - after } : {}),
        ...(next < total ? { more: true } : {}),
      };
    },
  };
}
