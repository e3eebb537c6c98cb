/** Which operations that a limit held back ask again now, because a place is free, instead of after their pause. */
import type { Redis } from "ioredis";
import { channels, keys } from "../keys.js";
import { HELD_STANDS_MS, PRINCIPAL_LIMIT } from "../operations/principal-limits.js";
import { RESOURCE_LIMIT, type Resources } from "../operations/resource-limits.js";
import { type Answer, defineScript } from "./script.js";

/**
 * Lua, after PRINCIPAL_LIMIT and RESOURCE_LIMIT: adds to `due`, if a place is free, the queue and the job id of the oldest of those that
 * wait for one. It asks as ever: which one may be sent is decided then. One that waits in a pool is nobody's yet: idle Editors look again.
 */
export const RELEASE_HELD = `
local due = {}
local function releaseOldest(held, sent, now, max)
  held = redis.call('HGETALL', held)
  if #held == 0 or placesTaken(sent, max) >= max then return end
  local oldest, since, queue
  for i = 1, #held, 2 do
    local where, accepted, asked = string.match(held[i + 1], '^(.*)|%d+|(%d+)|(%d+)$')
    accepted = tonumber(accepted)
    local isEarlier = not oldest or accepted < since or (accepted == since and held[i] < oldest)
    if now - tonumber(asked) <= ${HELD_STANDS_MS} and isEarlier then oldest, since, queue = held[i], accepted, where end
  end
  local document = oldest and redis.call('HGET', '${keys.operation("")}' .. oldest, 'doc')
  if not document then return end
  local record = cjson.decode(document)
  if record.pool and record.editor == record.pool then redis.call('PUBLISH', '${channels.pools}', record.pool) return end
  due[#due + 1] = queue
  due[#due + 1] = record.hash .. '.' .. oldest
end
local function releaseHeld(principal, now, max)
  releaseOldest(heldOf(principal), sentOf(principal), now, max)
end
local function releaseWanted(freed, now, resources)
  for _, name in ipairs(freed) do releaseOldest(wantedOf(name), usedOf(name), now, resources[name]) end
  if #freed == 0 then return end
  for _, pool in ipairs(redis.call('ZRANGE', '${keys.pools}', 0, -1)) do redis.call('PUBLISH', '${channels.pools}', pool) end
end
`;

/** KEYS 3 operation. Answer: applied, those that are due */
const RELEASE = `${PRINCIPAL_LIMIT}${RESOURCE_LIMIT}${RELEASE_HELD}
local document = redis.call('HGET', KEYS[3], 'doc')
if document then releaseHeld(cjson.decode(document).principal, storeTime(), ask.maxRunning) end
for name, places in pairs(ask.resources) do releaseOldest(wantedOf(name), usedOf(name), storeTime(), places) end
return {'applied', unpack(due)}
`;

/** A job, and the queue that it is in. */
export interface DueJob {
  queue: string;
  jobId: string;
}

/** The jobs that are due, as the scripts with RELEASE_HELD answer them. */
export function dueIn(answer: Answer): DueJob[] {
  const named = answer.slice(1).map(String);
  return Array.from({ length: named.length / 2 }, (_, at) => ({
    queue: named[2 * at] ?? "",
    jobId: named[2 * at + 1] ?? "",
  }));
}

/** A place may have come free after the operation was held back, and before its job was put aside. */
export function createRelease(
  redis: Redis,
  limits: { maxRunning: number; resources: Resources },
): (logId: string) => Promise<Answer> {
  const run = defineScript(redis, "ujbRelease", RELEASE);
  return (logId) => {
    const { maxRunning, resources } = limits;
    return run([keys.operation(logId)], { maxRunning, resources });
  };
}
