/**
 * Documents that callers made from stored results with a filter or a projection: kept for 30 minutes since their last
 * use, within a budget of bytes. They can be made again, so over the budget the least recently used document of the
 * principal that holds most is dropped. Results themselves never are.
 */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import type { ProjectionRequest } from "../results/projection.js";
import { keys } from "./keys.js";
import { USED_NOW } from "./operations/limits.js";
import { guard, guarded } from "./schema.js";

/** The description of a filtered document. */
export interface About {
  /** The log_id or cache_id it was made from. */
  source: string;
  /** The jq program that made it; absent for a projection. */
  filter?: string;
  projection?: ProjectionRequest;
  /** Size of its JSON. */
  bytes: number;
  /** ms since the epoch, store clock. */
  madeAt: number;
}

export interface ListedFilteredResults {
  entries: ({ id: string } & About)[];
  /** How many more exist. */
  more: number;
}

export interface FilteredResults {
  /** `data`: compressed (record.ts). Answers its id; undefined if it is larger than the whole budget. */
  keep(principal: string, about: Omit<About, "madeAt">, data: Buffer): Promise<string | undefined>;
  /** Restarts its 30 minutes; undefined if it does not exist or belongs to another principal. */
  find(principal: string, id: string): Promise<About | undefined>;
  /** As stored (record.ts); call `find` first. */
  dataOf(id: string): Promise<Buffer[] | undefined>;
  /** How long it is kept if nobody uses it, ms; undefined: it is gone. */
  keptFor(id: string): Promise<number | undefined>;
  /** The most recently used first, at most `most`. */
  listOf(principal: string, most: number): Promise<ListedFilteredResults>;
}

export interface FilteredResultsOptions {
  /** Lifetime since the last use, ms. */
  filteredMs?: number;
  filteredBudgetBytes?: number;
}

const MINUTE = 60_000;
const FILTERED = { filteredMs: 30 * MINUTE, filteredBudgetBytes: 256 * 1024 * 1024 } as const;

/**
 * KEYS 1 the document, 2 the principal's uses, 3 what each principal holds, 4 schema
 * ARGV 1 id, 2 principal, 3 about JSON, 4 data, 5 life ms, 6 budget bytes, 7 the prefix of documents, 8 of uses
 * Answer: 1, or 0 if it is larger than the budget. Its description counts too: it is stored beside the data.
 */
const KEEP = `${guard("KEYS[4]")}${USED_NOW}
local time = redis.call('TIME')
local now, life, size = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[5]), #ARGV[3] + #ARGV[4]
local held, total = {}, 0
local function add(principal, bytes)
  held[principal], total = (held[principal] or 0) + bytes, total + bytes
  if held[principal] > 0 then redis.call('HSET', KEYS[3], principal, held[principal])
  else redis.call('HDEL', KEYS[3], principal) end
end
local function drop(principal, entry)
  local id, bytes = string.match(entry, '^(%S+) (%d+)$')
  redis.call('DEL', ARGV[7] .. id)
  redis.call('ZREM', ARGV[8] .. principal, entry)
  add(principal, -tonumber(bytes))
end
local shares = redis.call('HGETALL', KEYS[3])
for at = 1, #shares, 2 do
  local principal, uses = shares[at], ARGV[8] .. shares[at]
  held[principal], total = tonumber(shares[at + 1]), total + tonumber(shares[at + 1])
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', uses, '-inf', now - life)) do drop(principal, entry) end
    -- It has expired with all of its documents.
  if redis.call('EXISTS', uses) == 0 then add(principal, -held[principal]) end
end
if size > tonumber(ARGV[6]) then return 0 end
while total + size > tonumber(ARGV[6]) do
    -- The principal that would hold most, this document included, among those that have something to drop.
  local most, largest = nil, -1
  for principal, bytes in pairs(held) do
    local would = bytes + (principal == ARGV[2] and size or 0)
    if bytes > 0 and would > largest then most, largest = principal, would end
  end
  drop(most, redis.call('ZRANGE', ARGV[8] .. most, 0, 0)[1])
end
redis.call('HSET', KEYS[1], 'principal', ARGV[2], 'about', ARGV[3], 'madeAt', now, 'data', ARGV[4],
  'size', size)
redis.call('PEXPIRE', KEYS[1], life)
redis.call('ZADD', KEYS[2], usedNow(KEYS[2]), ARGV[1] .. ' ' .. size)
add(ARGV[2], size)
for i = 2, 3 do redis.call('PEXPIRE', KEYS[i], life) end
return 1`;

/**
 * KEYS 1 the document, 2 the principal's uses, 3 what each principal holds; ARGV 1 id, 2 principal, 3 life ms
 * Answer: [about JSON, madeAt], or false
 */
const USE = `${USED_NOW}
local found = redis.call('HMGET', KEYS[1], 'principal', 'about', 'madeAt', 'size')
if found[1] ~= ARGV[2] then return false end
local size = found[4] or redis.call('HSTRLEN', KEYS[1], 'data')
redis.call('ZADD', KEYS[2], usedNow(KEYS[2]), ARGV[1] .. ' ' .. size)
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[3]) end
return {found[2], found[3]}`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbKeepDerived(...keysAndArguments: (string | number | Buffer)[]): Result<0 | 1, Context>;
    ujbUseDerived(...keysAndArguments: (string | number)[]): Result<[string, string] | null, Context>;
  }
}

export function createFilteredResults(redis: Redis, options: FilteredResultsOptions = {}): FilteredResults {
  const { filteredMs, filteredBudgetBytes } = { ...FILTERED, ...options };
  redis.defineCommand("ujbKeepDerived", { numberOfKeys: 4, lua: KEEP });
  redis.defineCommand("ujbUseDerived", { numberOfKeys: 3, lua: USE });

  const aboutOf = (about: string, madeAt: string): About => ({
    ...(JSON.parse(about) as Omit<About, "madeAt">),
    madeAt: Number(madeAt),
  });

  return {
    async keep(principal, about, data) {
      const id = randomUUID();
      const kept = await guarded(
        redis.ujbKeepDerived(
          ...[keys.filtered(id), keys.filteredUse(principal), keys.filteredShares, keys.schema],
          ...[id, principal, JSON.stringify(about), data, filteredMs, filteredBudgetBytes],
          ...[keys.filtered(""), keys.filteredUse("")],
        ),
      );
      return kept === 1 ? id : undefined;
    },

    async find(principal, id) {
      const found = await redis.ujbUseDerived(
        ...[keys.filtered(id), keys.filteredUse(principal), keys.filteredShares],
        ...[id, principal, filteredMs],
      );
      return found === null ? undefined : aboutOf(...found);
    },

    async dataOf(id) {
      const data = await redis.hgetBuffer(keys.filtered(id), "data");
      return data === null ? undefined : [data];
    },

    async keptFor(id) {
      const ms = await redis.pttl(keys.filtered(id));
      return ms < 0 ? undefined : ms;
    },

    async listOf(principal, most) {
      const uses = keys.filteredUse(principal);
      // Older entries belong to expired documents; the next `keep` removes them.
      const [seconds] = await redis.time();
      const since = Number(seconds) * 1000 - filteredMs;
      const [all, listed] = await Promise.all([
        redis.zcount(uses, since, "+inf"),
        redis.zrevrangebyscore(uses, "+inf", since, "LIMIT", 0, most),
      ]);
      const entries = await Promise.all(
        listed.map(async (entry) => {
          const [id = ""] = entry.split(" ");
          const [about, madeAt] = await redis.hmget(keys.filtered(id), "about", "madeAt");
          return about && madeAt ? { id, ...aboutOf(about, madeAt) } : undefined;
        }),
      );
      return {
        entries: entries.filter((one) => one !== undefined),
        more: Math.max(0, all - listed.length),
      };
    },
  };
}
