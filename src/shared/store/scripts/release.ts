/** Has an operation that its principal's limit held back ask again as soon as a place is free, instead of after its pause. */
import type { Redis } from "ioredis";
import { LANE_PLACES } from "../../tools/tool.js";
import { channels, keys } from "../keys.js";
import { HELD_STANDS_MS, PRINCIPAL_LIMIT } from "../operations/principal-limits.js";
import { RESOURCE_LIMIT, type Resources } from "../operations/resource-limits.js";
import { PROMOTE_JOB, WAITING_JOB } from "./job.js";
import { defineScript } from "./script.js";

/**
 * Lua, after PRINCIPAL_LIMIT, RESOURCE_LIMIT, WAITING_JOB and PROMOTE_JOB: if a place is free, the oldest of those that wait for one is due now. It asks
 * as ever: which one may be sent is decided then.
 */
export const RELEASE_HELD = `
local function releaseOldest(held, sent, now, max)
  held = redis.call('HGETALL', held)
  if #held == 0 or placesTaken(sent, now, max) >= max then return end
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
  if record.pool and record.editor == record.pool then redis.call('PUBLISH', '${channels.pools}', record.pool) end
  promoteJob(queueKeys(queue), record.hash .. '.' .. oldest, record.lane == 'main' and ${LANE_PLACES.main} or ${LANE_PLACES.background})
end
local function releaseHeld(principal, now, max)
  releaseOldest(heldOf(principal), sentOf(principal), now, max)
end
-- Those in pools are nobody's yet: idle Editors look again.
local function releaseWanted(freed, now, resources)
  for _, name in ipairs(freed) do releaseOldest(wantedOf(name), usedOf(name), now, resources[name]) end
  if #freed == 0 then return end
  for _, pool in ipairs(redis.call('ZRANGE', '${keys.pools}', 0, -1)) do redis.call('PUBLISH', '${channels.pools}', pool) end
end
`;

/** KEYS 3 operation. Answer: applied */
const RELEASE = `${PRINCIPAL_LIMIT}${RESOURCE_LIMIT}${WAITING_JOB}${PROMOTE_JOB}${RELEASE_HELD}
local document = redis.call('HGET', KEYS[3], 'doc')
if document then releaseHeld(cjson.decode(document).principal, storeTime(), ask.maxRunning) end
for name, places in pairs(ask.resources) do releaseOldest(wantedOf(name), usedOf(name), storeTime(), places) end
return {'applied'}
`;

/** A place may have come free after the operation was held back, and before its job was put aside. */
export function createRelease(
  redis: Redis,
  limits: { maxRunning: number; resources: Resources },
): (logId: string) => Promise<unknown> {
  const run = defineScript(redis, "ujbRelease", RELEASE);
  return (logId) => {
    const { maxRunning, resources } = limits;
    return run([keys.operation(logId)], { maxRunning, resources });
  };
}
