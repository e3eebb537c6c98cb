/** When the janitor last ran, kept in the store: a new process must know how long nobody was watching. */
import type { Redis } from "ioredis";
import { keys } from "./keys.js";

export interface Round {
  /** When the round began, ms since the epoch, store clock. */
  at: number;
  /** Since when rounds have followed each other without a pause. */
  watchedSince: number;
}

export interface LastSweep {
  /** True for one process at a time, which then holds the turn for the given time. */
  maySweep(ms: number): Promise<boolean>;
  /**
   * Begins a round. `watchedSince` starts again if the last round, by any process, was more than `pauseMs` ago, if no
   * round is recorded, or if the caller reports that it stood still itself.
   */
  begin(pauseMs: number, stoodStill: boolean): Promise<Round>;
  /** 0 before the first round. */
  watchedSince(): Promise<number>;
}

/**
 * KEYS 1 swept: HASH at, since; ARGV 1 the longest pause between two rounds, ms, 2 "1": the caller stood still.
 * Answer: when this round began, and since when there was no pause.
 */
const BEGIN = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local found = redis.call('HMGET', KEYS[1], 'at', 'since')
local at, since = tonumber(found[1]), tonumber(found[2])
local isNext = at and since and ARGV[2] ~= '1' and now >= at and now - at <= tonumber(ARGV[1])
if not isNext then since = now end
redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now), 'since', string.format('%.0f', since))
return {string.format('%.0f', now), string.format('%.0f', since)}
`;

export function createLastSweep(redis: Redis): LastSweep {
  return {
    async maySweep(ms) {
      if ((await redis.set(keys.janitor, "1", "PX", ms, "NX")) === "OK") return true;
      // Of a turn that was taken while Redis' clock was ahead, which has been set back since, nobody would see the end.
      return (await redis.pttl(keys.janitor)) > ms && (await redis.set(keys.janitor, "1", "PX", ms)) === "OK";
    },

    async begin(pauseMs, stoodStill) {
      const answer = await redis.eval(BEGIN, 1, keys.swept, pauseMs, stoodStill ? "1" : "");
      const [at, watchedSince] = answer as [string, string];
      return { at: Number(at), watchedSince: Number(watchedSince) };
    },

    async watchedSince() {
      return Number((await redis.hget(keys.swept, "since")) ?? 0);
    },
  };
}
