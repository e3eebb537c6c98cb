/**
 * BullMQ's job of an operation, written by the script that creates the operation. What it writes is what `Queue.add` of the
 * pinned BullMQ writes for a job with an id and a priority; a test compares all keys.
 */
import { BULL_PREFIX, keys } from "../keys.js";

/** A job only names its operation: the record decides whether it may run (▲1). */
export interface JobData {
  logId: string;
}

/** Ended jobs of a queue that are kept for the dashboard; the operations themselves are kept for the retention. */
const KEPT_JOBS = 1_000;

/** How long BullMQ keeps an ended job, and how many. */
export function jobOptions(retentionMs: number) {
  const kept = { age: Math.ceil(retentionMs / 1000), count: KEPT_JOBS };
  return { attempts: 1, removeOnComplete: kept, removeOnFail: kept };
}

/** KEYS of a queue, in the order in which `addJob` takes them. */
export const jobKeys = (queue: string, jobId: string): string[] => [
  `${BULL_PREFIX}:${queue}:${jobId}`,
  ...(["id", "meta", "prioritized", "pc", "marker", "events", "active"] as const).map((name) =>
    keys.queue(queue, name),
  ),
];

/**
 * Lua: adds a job to its queue; `from` is the index of the first of `jobKeys` in KEYS. A job that has this id already is left
 * as it is: no other operation's job has it, except after manual edits, which the janitor repairs.
 */
export const ADD_JOB = `
local function addJob(from, job, turn)
  local key, id, meta, prioritized = KEYS[from], KEYS[from + 1], KEYS[from + 2], KEYS[from + 3]
  local counter, marker, events, active = KEYS[from + 4], KEYS[from + 5], KEYS[from + 6], KEYS[from + 7]
  redis.call('INCR', id)
  local found = redis.call('HMGET', meta, 'opts.maxLenEvents', 'paused', 'concurrency')
  local mostEvents = found[1]
  if not mostEvents then
    mostEvents = 10000
    redis.call('HSET', meta, 'opts.maxLenEvents', mostEvents)
  end
  if redis.call('EXISTS', key) == 1 then return end
  -- BullMQ takes jobs without a priority (0) before all others.
  local priority = math.max(1, turn)
  job.options.jobId, job.options.priority = job.id, priority
  redis.call('HSET', key, 'name', job.name, 'data', job.data, 'opts', cjson.encode(job.options),
    'timestamp', job.timestamp, 'delay', 0, 'priority', priority)
  redis.call('XADD', events, '*', 'event', 'added', 'jobId', job.id, 'name', job.name)
  redis.call('ZADD', prioritized, priority * 0x100000000 + redis.call('INCR', counter) % 0x100000000, job.id)
  if not found[2] and not (found[3] and redis.call('LLEN', active) >= tonumber(found[3])) then
    redis.call('ZADD', marker, 0, '0')
  end
  redis.call('XADD', events, 'MAXLEN', '~', mostEvents, '*', 'event', 'waiting', 'jobId', job.id)
end
`;
