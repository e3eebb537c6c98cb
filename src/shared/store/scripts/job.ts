/**
 * BullMQ's job of an operation, written by the scripts that create and end the operation: added, taken, ended. What they write
 * is what `Queue.add` and the `Worker` of the pinned BullMQ write; a test compares all keys.
 */
import type { OperationRecord } from "../../operation/operation.js";
import { BULL_PREFIX } from "../keys.js";

/** A job only names its operation: the record decides whether it may run (▲1). */
export interface JobData {
  logId: string;
}

/** Ended jobs of a queue that are kept for the dashboard; the operations themselves are kept for the retention. */
const KEPT_JOBS = 1_000;

/** How long BullMQ keeps an ended job, s, and how many. */
export function keptJobs(retentionMs: number) {
  return { age: Math.ceil(retentionMs / 1000), count: KEPT_JOBS };
}

export function jobOptions(retentionMs: number) {
  const kept = keptJobs(retentionMs);
  return { attempts: 1, removeOnComplete: kept, removeOnFail: kept };
}

/**
 * Lua: what the keys of a queue begin with. `wakeWorker`: wakes BullMQ's worker, as BullMQ does, unless the queue is paused or
 * limited; and not while the lane has taken as many as it has `places`: it would take a job that cannot begin, and that a
 * pause or its place in the queue does not reach any more. Who ends the last one wakes it. Without a lock nobody has taken a
 * job, whatever was edited. `awaitWorker`: a job waits.
 */
export const WAITING_JOB = `
local function queueKeys(name) return '${BULL_PREFIX}:' .. name .. ':' end
local function hasPlace(queue, places)
  local taken = 0
  for _, id in ipairs(redis.call('LRANGE', queue .. 'active', 0, -1)) do
    taken = taken + redis.call('EXISTS', queue .. id .. ':lock')
  end
  return taken < places
end
local function wakeWorker(queue, places)
  local limits = redis.call('HMGET', queue .. 'meta', 'paused', 'concurrency')
  if limits[1] or (limits[2] and redis.call('LLEN', queue .. 'active') >= tonumber(limits[2])) then return end
  if not hasPlace(queue, places) then return end
  redis.call('ZADD', queue .. 'marker', 0, '0')
end
local function awaitWorker(queue, id, priority, places)
  local turn = redis.call('INCR', queue .. 'pc') % 0x100000000
  redis.call('ZADD', queue .. 'prioritized', priority * 0x100000000 + turn, id)
  wakeWorker(queue, places)
end
`;

/** Lua: a job is taken with the claim of its operation: what BullMQ's worker does with one that it has moved. */
export const TAKE_JOB = `
local function takeJob(queue, id, claim, now)
  redis.call('LPUSH', queue .. 'active', id)
  redis.call('SET', queue .. id .. ':lock', claim.token, 'PX', claim.lockMs)
  redis.call('XADD', queue .. 'events', '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
  redis.call('HSET', queue .. id, 'processedOn', now)
  redis.call('HINCRBY', queue .. id, 'ats', 1)
end
`;

/**
 * Lua: adds a job to its queue, whose keys begin with `queue`. A job that has this id already is left as it is: no other
 * operation's job has it, except after manual edits, which the janitor repairs. With a `claim` it is taken at once, in
 * which case no worker is woken.
 */
export const ADD_JOB = `
local function addJob(queue, job, turn, places, claim, now)
  local key = queue .. job.id
  redis.call('INCR', queue .. 'id')
  local mostEvents = redis.call('HGET', queue .. 'meta', 'opts.maxLenEvents')
  if not mostEvents then
    mostEvents = 10000
    redis.call('HSET', queue .. 'meta', 'opts.maxLenEvents', mostEvents)
  end
  if redis.call('EXISTS', key) == 1 then return end
  -- BullMQ takes jobs without a priority (0) before all others.
  local priority = math.max(1, turn)
  job.options.jobId, job.options.priority = job.id, priority
  redis.call('HSET', key, 'name', job.name, 'data', job.data, 'opts', cjson.encode(job.options),
    'timestamp', job.timestamp, 'delay', 0, 'priority', priority)
  redis.call('XADD', queue .. 'events', '*', 'event', 'added', 'jobId', job.id, 'name', job.name)
  if not claim then awaitWorker(queue, job.id, priority, places) end
  redis.call('XADD', queue .. 'events', 'MAXLEN', '~', mostEvents, '*', 'event', 'waiting', 'jobId', job.id)
  if claim then takeJob(queue, job.id, claim, now) end
end
`;

/**
 * Why the job of an ended operation is among BullMQ's failed ones; undefined: it is among the completed ones, as one that was
 * cancelled. Not the message: it may quote arguments, and a dashboard is not for them.
 */
export function jobFailure({ state, error }: OperationRecord): string | undefined {
  if (state !== "failed" && state !== "interrupted") return undefined;
  return error ? `${error.code} (${error.type})` : state;
}

/** What BullMQ stores as the answer of a job that was processed. */
export const JOB_VALUE = { processed: "settled" } as const;

/**
 * Lua: ends a taken job, unless another worker has it meanwhile. `job`: id, token, kept, value (JSON), or why it failed.
 * `keepProgress`: for the dashboard, how far an operation has come, percent, stays with its job.
 */
export const END_JOB = `
local function keepProgress(queue, jobId, live)
  local text = redis.call('HGET', live, 'progress')
  local last = text and cjson.decode(text)
  if not last or type(last.total) ~= 'number' or last.total <= 0 or redis.call('EXISTS', queue .. jobId) == 0 then return end
  local percent = math.floor(100 * last.progress / last.total)
  redis.call('HSET', queue .. jobId, 'progress', math.max(0, math.min(100, percent)))
end
local function dropJobs(queue, where, ids)
  for _, id in ipairs(ids) do
    redis.call('DEL', queue .. id, queue .. id .. ':logs', queue .. id .. ':lock')
    redis.call('ZREM', where, id)
  end
end
local function endJob(queue, job, now)
  local key = queue .. job.id
  if redis.call('GET', key .. ':lock') ~= job.token or redis.call('EXISTS', key) == 0 then return false end
  if redis.call('LREM', queue .. 'active', -1, job.id) == 0 then return false end
  redis.call('DEL', key .. ':lock')
  redis.call('SREM', queue .. 'stalled', job.id)
  redis.call('XTRIM', queue .. 'events', 'MAXLEN', '~', redis.call('HGET', queue .. 'meta', 'opts.maxLenEvents') or 10000)
  local attempts = redis.call('HINCRBY', key, 'atm', 1)
  local event, field = 'completed', 'returnvalue'
  if job.failed then event, field = 'failed', 'failedReason' end
  local where, value = queue .. event, job.failed or job.value
  redis.call('ZADD', where, now, job.id)
  redis.call('HSET', key, field, value, 'finishedOn', now)
  if job.failed then redis.call('HSET', key, 'stacktrace', '[]') end
  local oldest = now - job.kept.age * 1000
  dropJobs(queue, where, redis.call('ZRANGEBYSCORE', where, '-inf', oldest, 'LIMIT', 0, 1000))
  dropJobs(queue, where, redis.call('ZRANGE', where, 0, -(job.kept.count + 1)))
  redis.call('XADD', queue .. 'events', '*', 'event', event, 'jobId', job.id, field, value, 'prev', 'active')
  if job.failed then
    redis.call('XADD', queue .. 'events', '*', 'event', 'retries-exhausted', 'jobId', job.id, 'attemptsMade', attempts)
  end
  if redis.call('EXISTS', queue .. 'wait', queue .. 'active', queue .. 'prioritized') == 0 then
    redis.call('XADD', queue .. 'events', '*', 'event', 'drained')
  end
  return true
end
`;

/** Lua: removes a job from wherever it stands in its queue, also one that is taken: its record says that it is somewhere else. */
export const REMOVE_JOB = `
local function removeJob(queue, id)
  if redis.call('EXISTS', queue .. id) == 0 then return end
  for _, where in ipairs({'prioritized', 'delayed', 'completed', 'failed'}) do redis.call('ZREM', queue .. where, id) end
  for _, where in ipairs({'active', 'wait', 'paused'}) do redis.call('LREM', queue .. where, 0, id) end
  redis.call('SREM', queue .. 'stalled', id)
  redis.call('DEL', queue .. id, queue .. id .. ':lock', queue .. id .. ':logs')
  redis.call('XADD', queue .. 'events', '*', 'event', 'removed', 'jobId', id, 'prev', 'waiting')
end
`;

/** Lua: a delayed job, if it is one, is due now. */
export const PROMOTE_JOB = `
local function promoteJob(queue, id, places)
  if redis.call('ZREM', queue .. 'delayed', id) == 0 then return end
  awaitWorker(queue, id, tonumber(redis.call('HGET', queue .. id, 'priority')) or 1, places)
  redis.call('HSET', queue .. id, 'delay', 0)
  redis.call('XADD', queue .. 'events', '*', 'event', 'waiting', 'jobId', id, 'prev', 'delayed')
end
`;

/**
 * Lua: `isPlain`: no job of the queue needs BullMQ's own script to be taken: the queue is neither paused nor limited, and holds no jobs without a
 * priority, and no delayed ones that are due. `isIdle`: nor does any other wait. `nextJob`: the id of the job that is
 * next, if it may be taken here.
 */
export const NEXT_JOB = `
local function isPlain(queue, now)
  local limits = redis.call('HMGET', queue .. 'meta', 'paused', 'concurrency', 'max')
  if limits[1] or limits[2] or limits[3] or redis.call('EXISTS', queue .. 'wait') == 1 then return false end
  return #redis.call('ZRANGEBYSCORE', queue .. 'delayed', 0, (now + 1) * 0x1000 - 1, 'LIMIT', 0, 1) == 0
end
local function isIdle(queue, now)
  return isPlain(queue, now) and redis.call('EXISTS', queue .. 'prioritized') == 0
end
local function nextJob(queue, now)
  return isPlain(queue, now) and redis.call('ZRANGE', queue .. 'prioritized', 0, 0)[1] or nil
end
`;
