/**
 * Limits on what runs at once by resources of which there are few: licences, GPUs. A resource is a label: an operation in the main lane of an
 * Editor that has it takes one of its places from being sent to its end, as it takes one of its principal's.
 */
import type { Redis } from "ioredis";
import { isPool, labelsIn } from "../../editors/pool.js";
import type { OperationRecord } from "../../operation/operation.js";
import type { Lane } from "../../tools/tool.js";
import { keys } from "../keys.js";
import { type HeldBack, placesOf } from "./principal-limits.js";

/** How many places each resource has, by its label. */
export type Resources = Readonly<Record<string, number>>;

/** As the scripts are asked; undefined: none are limited, or it takes none. */
export function resourcesFor(lane: Lane, resources: Resources): Resources | undefined {
  return lane === "main" && Object.keys(resources).length > 0 ? resources : undefined;
}

/**
 * Lua, after PRINCIPAL_LIMIT. `used`: HASH log_id → editor. `wanted`: as `held` of a principal. An operation that has ended without
 * a note of it, by a process without this setting, takes no place.
 */
export const RESOURCE_LIMIT = `
local function usedOf(name) return '${keys.resource("")}' .. name end
local function wantedOf(name) return '${keys.resourceWanted("")}' .. name end
-- \`labels\`: the Editor's own, where its profile may not be stored yet.
local function resourcesIn(editor, resources, labels)
  local found = {}
  local profile = resources and not labels and redis.call('HGET', '${keys.editor("")}' .. editor, 'profile')
  if profile then labels = cjson.decode(profile).labels end
  if not resources or type(labels) ~= 'table' then return found end
  for _, label in ipairs(labels) do
    local name = string.lower(label)
    found[name] = resources[name]
  end
  return found
end
local function dropEnded(used)
  local all = redis.call('HGETALL', used)
  for i = 1, #all, 2 do
    if not redis.call('ZSCORE', '${keys.open("")}' .. all[i + 1], all[i]) then redis.call('HDEL', used, all[i]) end
  end
end
-- It waits for one resource after the other, all operations in the same order, the scarcest first, and keeps its turn for those before: else
-- operations that need only one of them would pass it again and again.
local function mayUse(logId, editor, resources, queue, turn, acceptedAt)
  local places, names = resourcesIn(editor, resources), {}
  for name in pairs(places) do names[#names + 1] = name end
  table.sort(names, function(a, b) return places[a] < places[b] or (places[a] == places[b] and a < b) end)
  for at, name in ipairs(names) do
    if redis.call('HLEN', usedOf(name)) >= places[name] then dropEnded(usedOf(name)) end
    if not mayTakePlace(logId, usedOf(name), wantedOf(name), queue, turn, acceptedAt, places[name]) then
      for before = 1, queue and at - 1 or 0 do noteHeld(logId, wantedOf(names[before]), queue, turn, acceptedAt) end
      return false
    end
  end
  return true
end
local function noteUsed(logId, editor, resources, labels)
  for name in pairs(resourcesIn(editor, resources, labels)) do
    redis.call('HDEL', wantedOf(name), logId)
    redis.call('HSET', usedOf(name), logId, editor)
  end
end
local function noteUnused(logId, resources)
  local freed = {}
  for name in pairs(resources or {}) do
    redis.call('HDEL', wantedOf(name), logId)
    if redis.call('HDEL', usedOf(name), logId) == 1 then freed[#freed + 1] = name end
  end
  return freed
end
`;

/** As `heldBack`. Of an operation in a pool: a resource that all of its Editors have. `by`: those of the same principal. */
export async function shortOf(
  redis: Redis,
  record: OperationRecord,
  resources: Resources,
  find: (logId: string) => Promise<OperationRecord | undefined>,
): Promise<HeldBack | undefined> {
  for (const [resource, limit] of Object.entries(resourcesFor(record.lane, resources) ?? {})) {
    const isInPool = isPool(record.editor);
    if (isInPool && !labelsIn(record.editor).includes(resource)) continue;
    const places = await placesOf(redis, {
      held: isInPool ? undefined : { key: keys.resourceWanted(resource), logId: record.logId },
      sent: keys.resource(resource),
      find,
    });
    if (!places || (isInPool && places.length < limit)) continue;
    return { limit, by: places.filter(({ principal }) => principal === record.principal), resource };
  }
  return undefined;
}
