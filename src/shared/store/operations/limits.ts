/**
 * What the scripts of operations have in common: room for results and arguments, places of resources and principals, turns, lifetimes,
 * and what each of them checks first.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { isPool, labelsIn } from "../../editors/target.js";
import type { OperationRecord } from "../../operation/operation.js";
import type { Lane } from "../../tools/tool.js";
import { isConnected } from "../editors/editors.js";
import { channels, keys } from "../keys.js";
import { guard, guarded, INCARNATION } from "../schema.js";
import { NOTE_EVENT } from "./events.js";

// Budgets for stored results and stored arguments. Within its retention nothing is ever removed to make room: over a
// budget new calls are refused, and outcomes stay with their Editors until there is room (invariant 3).
//
// Of each budget a principal may hold at most a share of what the others leave free. So there is always room for the
// next principal, however much the others hold.

export interface ResultQuotaOptions {
  /** Most bytes of all results together. */
  resultsBudgetBytes?: number;
  /** Most bytes of all arguments together, including operations in flight. */
  argumentsBudgetBytes?: number;
  /** The share of what the others leave of a budget that one principal may hold: above 0, at most 1. */
  principalShare?: number;
}

const MB = 1024 * 1024;
const ROOM_DEFAULTS: Required<ResultQuotaOptions> = {
  resultsBudgetBytes: 1024 * MB,
  argumentsBudgetBytes: 256 * MB,
  principalShare: 0.75,
};

/** The budgets as the scripts read them, bytes. */
export interface RoomLimits {
  results: number;
  arguments: number;
  share: number;
}

export function roomLimits(options: ResultQuotaOptions): RoomLimits {
  const { resultsBudgetBytes, argumentsBudgetBytes, principalShare } = { ...ROOM_DEFAULTS, ...options };
  return { results: resultsBudgetBytes, arguments: argumentsBudgetBytes, share: principalShare };
}

/** KEYS of the accounts: room, ends. */
export const RESULT_ACCOUNT = [keys.resultRoom, keys.resultEnds] as const;
export const ARGUMENT_ACCOUNT = [keys.argumentRoom, keys.argumentEnds] as const;

/** Redis itself has reached its maxmemory. */
export function isStoreFull(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}

/** A result that found no room is offered again well within this time, ms; until then new calls are refused. */
const WANTED_MS = 30_000;

/** What ends within the same one of so many parts of a retention is counted together: a minute of a day. */
const PARTS = 1_440;

/**
 * Lua, for the scripts that create and finish operations, and for uploads. An account has `room`: HASH of bytes, of which `all`
 * is all that is stored, `of:<principal>` a principal's, `until:<end>:<principal>` those of a principal whose retention ends together,
 * and `open` those of operations in flight; `ends`: ZSET, the names of what ends together by their end; and the limits `budget` and
 * `share`. An entry larger than the whole budget has room when nothing else is stored.
 */
export const RESULT_QUOTA = `
local function accountOf(first, limit, share)
  return {room = KEYS[first], ends = KEYS[first + 1], budget = limit, share = share}
end
local function add(account, entry, size)
  if redis.call('HINCRBY', account.room, entry, size) <= 0 then redis.call('HDEL', account.room, entry) end
end
local function releaseEnded(account)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', account.ends, '-inf', storeTime(), 'LIMIT', 0, 1000)) do
    local size, principal = redis.call('HGET', account.room, entry), string.match(entry, '^until:%d+:(.*)$')
    size = tonumber(size or 0)
    redis.call('ZREM', account.ends, entry)
    redis.call('HDEL', account.room, entry)
    add(account, 'all', 0 - size)
    if principal then add(account, 'of:' .. principal, 0 - size) end
  end
end
local function hasRoom(account, principal, size)
  releaseEnded(account)
  local found = redis.call('HMGET', account.room, 'all', 'of:' .. principal)
  local stored, own = tonumber(found[1] or 0), tonumber(found[2] or 0)
  return stored <= 0 or own + size <= account.share * (account.budget - (stored - own))
end
local function wantRoom(wanted, size)
  redis.call('SET', wanted, size, 'PX', ${WANTED_MS})
end
-- One that lasts longer was made while the clock was ahead.
local function wantsRoom(wanted)
  local left = redis.call('PTTL', wanted)
  return left > 0 and left <= ${WANTED_MS}
end
-- Without its ends, what is in the room would never leave it.
local function keepAccount(account, ms)
  keepAtLeast(account.room, ms)
  local left = redis.call('PTTL', account.room)
  if redis.call('PTTL', account.ends) < left then redis.call('PEXPIRE', account.ends, left) end
end
local function takeRoom(account, principal, size)
  add(account, 'all', size)
  add(account, 'of:' .. principal, size)
end
-- In flight it has no end. An account that runs out meanwhile leaves more room, no less.
local function openRoom(account, size, retention)
  add(account, 'open', size)
  keepAccount(account, 3 * retention)
end
local function closeRoom(account, size)
  add(account, 'open', 0 - size)
end
-- It has an end: that of its retention.
local function endRoom(account, principal, size, retention)
  local part = math.max(1, math.floor(retention / ${PARTS}))
  local ends = math.ceil((storeTime() + retention) / part) * part
  local entry = string.format('until:%.0f:%s', ends, principal)
  redis.call('ZADD', account.ends, ends, entry)
  add(account, entry, size)
  keepAccount(account, retention + 2 * part)
end
`;

// Limits on a principal's waiting and running operations, over all connected Editors. Counted from what the writing
// script keeps with the records, so a crash leaves no wrong count.

export interface PrincipalLimits {
  /** Most sent and not ended; the next one waits without blocking other principals. */
  maxRunning: number;
  /** Most accepted and not sent; the next one is refused. */
  maxQueued: number;
  /** Most open in one Editor, or one pool, of all principals; the next one is refused. */
  maxInQueue: number;
}

export const PRINCIPAL_LIMITS: PrincipalLimits = { maxRunning: 5, maxQueued: 100, maxInQueue: 1_000 };

/** A held-back operation asks again after this long, ms, also if its place came free while its job was being put aside … */
export const HELD_RETRY_MS = 1_000;
/** … and counts as waiting for a place for this long after its last request, ms: its Editor or its owner may be away. */
const HELD_STANDS_MS = 5_000;

/**
 * Lua, for the scripts that write operations. The limits of a principal and of each resource are of one kind: so many `places`, who has
 * one (`used`: HASH log_id → editor), and who waits for one (`wanted`: HASH log_id → queue|acceptedAt|when it last asked).
 * Operations of Editors that are away take no place; of a resource, neither does one that has ended without a note of it, by a process
 * without this setting.
 *
 * May an operation be sent now? Only if more places are free than operations that wait for one were accepted before it: the oldest goes
 * first, whichever lane asks most often. Within its own queue it never passes an older one. One order for all: with another within a
 * queue, each of three operations could wait for the next.
 */
const LIMITS = `
local function waitingOf(principal) return '${keys.waiting("")}' .. principal end
local function sentOf(principal) return '${keys.sent("")}' .. principal end
local function limitOf(principal)
  return {used = sentOf(principal), wanted = '${keys.held("")}' .. principal, places = ask.maxRunning}
end
local function resourceOf(name)
  return {name = name, used = '${keys.resource("")}' .. name, wanted = '${keys.resourceWanted("")}' .. name, places = ask.resources[name]}
end
-- The principal's, and those of its Editor's resources, the scarcest first. \`labels\`: where its profile may not be stored yet.
local function limitsOn(principal, editor, labels)
  local limits = {}
  local profile = ask.resources and not labels and redis.call('HGET', '${keys.editor("")}' .. editor, 'profile')
  if profile then labels = cjson.decode(profile).labels end
  for _, label in ipairs(ask.resources and type(labels) == 'table' and labels or {}) do
    local name = string.lower(label)
    if ask.resources[name] then table.insert(limits, resourceOf(name)) end
  end
  table.sort(limits, function(a, b) return a.places < b.places or (a.places == b.places and a.name < b.name) end)
  table.insert(limits, 1, limitOf(principal))
  return limits
end
local function placesTaken(limit)
  local all, taken = redis.call('HGETALL', limit.used), 0
  if #all / 2 < limit.places then return #all / 2 end
  for i = 1, #all, 2 do
    local logId, editor = all[i], all[i + 1]
    local owner = redis.call('HGET', '${keys.editor("")}' .. editor, 'owner')
    if limit.name and not redis.call('ZSCORE', '${keys.open("")}' .. editor, logId) then
      redis.call('HDEL', limit.used, logId)
    elseif owner and owner == redis.call('GET', '${keys.lease("")}' .. editor) then
      taken = taken + 1
    end
  end
  return taken
end
local function waitFor(limit, logId, queue, acceptedAt)
  redis.call('HSET', limit.wanted, logId, string.format('%s|%.0f|%.0f', queue, acceptedAt, storeTime()))
end
-- The oldest first.
local function lineFor(limit)
  local line, wanted = {}, redis.call('HGETALL', limit.wanted)
  for i = 1, #wanted, 2 do
    local queue, accepted, asked = string.match(wanted[i + 1], '^(.*)|(%d+)|(%d+)$')
    if storeTime() - tonumber(asked) > ${HELD_STANDS_MS} then
      redis.call('HDEL', limit.wanted, wanted[i])
    else
      table.insert(line, {logId = wanted[i], queue = queue, acceptedAt = tonumber(accepted)})
    end
  end
  table.sort(line, function(a, b) return a.acceptedAt < b.acceptedAt or (a.acceptedAt == b.acceptedAt and a.logId < b.logId) end)
  return line
end
local function hasPlace(limit, logId, queue, acceptedAt)
  if redis.call('HEXISTS', limit.used, logId) == 1 then return true end
  local free = limit.places - placesTaken(limit)
  for _, other in ipairs(lineFor(limit)) do
    local isEarlier = other.acceptedAt < acceptedAt or (other.acceptedAt == acceptedAt and other.logId < logId)
    if isEarlier then free = other.queue == queue and 0 or free - 1 end
  end
  return free > 0
end
-- Answers nil, or why it may not be sent now. It waits for one resource after the other, and keeps its turn for those before: else operations
-- that need only one of them would pass it again and again. Without a queue it is only asked: it waits for no place from then on.
local function heldBack(logId, limits, queue, acceptedAt)
  for at, limit in ipairs(limits) do
    if not hasPlace(limit, logId, queue, acceptedAt) then
      if queue then waitFor(limit, logId, queue, acceptedAt) end
      for before = 2, queue and at - 1 or 0 do waitFor(limits[before], logId, queue, acceptedAt) end
      return limit.name and 'short' or 'held'
    end
  end
end
local function noteSent(logId, principal, editor, limits)
  redis.call('SREM', waitingOf(principal), logId)
  for _, limit in ipairs(limits) do
    redis.call('HDEL', limit.wanted, logId)
    redis.call('HSET', limit.used, logId, editor)
  end
end
-- It gives up its places and its turns for them. Answers the limits that it had any of.
local function leave(logId, principal)
  local left, limits = {}, {limitOf(principal)}
  for name in pairs(ask.resources or {}) do table.insert(limits, resourceOf(name)) end
  for _, limit in ipairs(limits) do
    if redis.call('HDEL', limit.used, logId) + redis.call('HDEL', limit.wanted, logId) > 0 then table.insert(left, limit) end
  end
  return left
end
`;

/** Why a waiting operation is held back. */
export interface HeldBack {
  /** How many operations of its principal, or that use the resource, may run at once. */
  limit: number;
  /** The running ones. */
  by: Pick<OperationRecord, "logId" | "tool" | "editor">[];
  /** The label of the resource; undefined: the limit is that of its principal. */
  resource?: string;
}

type Find = (logId: string) => Promise<OperationRecord | undefined>;

/** For the answer to a caller; no decision depends on it. */
export async function heldBack(
  redis: Redis,
  record: OperationRecord,
  { maxRunning, resources }: { maxRunning: number; resources: Resources },
  find: Find,
): Promise<HeldBack | undefined> {
  const { logId, principal, editor, lane } = record;
  const isInPool = isPool(editor);
  const scarce = Object.entries(resourcesFor(lane, resources) ?? {})
    // In a pool it waits for a resource that all of its Editors have, and in no line.
    .filter(([resource]) => !isInPool || labelsIn(editor).includes(resource))
    .map(([resource, limit]) => {
      const held = isInPool ? undefined : { key: keys.resourceWanted(resource), logId };
      return { which: { limit, resource }, held, sent: keys.resource(resource) };
    });
  const own = {
    which: { limit: maxRunning },
    held: { key: keys.held(principal), logId },
    sent: keys.sent(principal),
  };
  for (const { which, held, sent } of [own, ...scarce]) {
    const places = await placesOf(redis, { held, sent, find });
    if (places && (held || places.length >= which.limit))
      return { ...which, by: places.filter((each) => each.principal === principal) };
  }
  return undefined;
}

/** What takes the places of a limit; undefined: nothing does, or this operation is not held back by it. */
async function placesOf(
  redis: Redis,
  { held, sent, find }: { held: { key: string; logId: string } | undefined; sent: string; find: Find },
): Promise<OperationRecord[] | undefined> {
  const [seconds] = await redis.time();
  const now = Number(seconds) * 1000;
  const asked = held && (await redis.hget(held.key, held.logId))?.split("|").at(-1);
  if (held && (asked === undefined || now - Number(asked) > HELD_STANDS_MS)) return undefined;
  const taking = await Promise.all(
    Object.entries(await redis.hgetall(sent)).map(async ([other, editor]) => {
      return (await isConnected(redis, editor)) ? find(other) : undefined;
    }),
  );
  const by = taking.filter((record) => record !== undefined);
  return by.length === 0 ? undefined : by;
}

// Limits on what runs at once by resources of which there are few: licences, GPUs. A resource is a label: an operation in the main lane of an
// Editor that has it takes one of its places from being sent to its end, as it takes one of its principal's.

/** How many places each resource has, by its label. */
export type Resources = Readonly<Record<string, number>>;

/** What the scripts of operations are limited by. */
export interface Limits extends PrincipalLimits {
  retentionMs: number;
  resources: Resources;
  room: RoomLimits;
}

/** As the scripts are asked; undefined: none are limited, or it takes none. */
export function resourcesFor(lane: Lane, resources: Resources): Resources | undefined {
  return lane === "main" && Object.keys(resources).length > 0 ? resources : undefined;
}

// Fairness between principals: an operation's place in its queue is a virtual start time.
//
// A principal's next operation starts one turn after its last waiting one, but never before the operation that was sent
// last: a newcomer begins where the queue stands, behind at most one operation of every other principal. A `batch`
// operation begins behind every interactive one that waits at this moment; later ones pass it only until its turn comes.

/** BullMQ's highest priority. From there on only the order of acceptance counts, until nothing is open on the Editor. */
const LAST_TURN = 2_097_151;

/**
 * Lua, for the scripts that write operations: `takeTurn` answers the turn of a new operation, `turnCame` records that it
 * was sent, `turnAgain` answers that of one that comes back. The numbers start again at 2 when nothing is open on the Editor:
 * what comes back then has turn 1. `turns`: HASH sent, highest, last:<principal>.
 */
const FAIR_PRIORITY = `
local function takeTurn(turns, open, waiting, principal, class)
  if redis.call('ZCARD', open) == 0 then redis.call('DEL', turns) end
  local found = redis.call('HMGET', turns, 'sent', 'last:' .. principal, 'highest')
  local sent, last, highest = tonumber(found[1] or 1), tonumber(found[2] or 0), tonumber(found[3] or 0)
  local from = sent
  if redis.call('SCARD', waiting) > 0 then from = math.max(from, last) end
  if class == 'batch' then from = math.max(from, highest) end
  local turn = math.min(from + 1, ${LAST_TURN})
  redis.call('HSET', turns, 'last:' .. principal, turn)
  if class ~= 'batch' then redis.call('HSET', turns, 'highest', math.max(highest, turn)) end
  return turn
end
local function turnAgain(turns, turn)
  return math.max(1, math.min(turn, tonumber(redis.call('HGET', turns, 'sent') or 1)))
end
local function turnCame(turns, turn, retention)
  local sent = tonumber(redis.call('HGET', turns, 'sent') or 0)
  redis.call('HSET', turns, 'sent', math.max(sent, turn))
  keepAtLeast(turns, 3 * retention)
end
`;

// Which operations that a limit held back ask again now, because a place is free, instead of after their pause.

/**
 * Lua: adds to `due`, of each limit with a free place, the queue and the job id of the oldest of those that
 * wait for one. It asks as ever: which one may be sent is decided then. One that waits in a pool is nobody's yet: idle Editors look again.
 */
const RELEASE = `
local due = {}
local function releaseOldest(limit)
  local oldest = lineFor(limit)[1]
  if not oldest or placesTaken(limit) >= limit.places then return end
  local document = redis.call('HGET', '${keys.operation("")}' .. oldest.logId, 'doc')
  if not document then return end
  local record = cjson.decode(document)
  if record.pool and record.editor == record.pool then redis.call('PUBLISH', '${channels.pools}', record.pool) return end
  due[#due + 1] = oldest.queue
  due[#due + 1] = record.hash .. '.' .. oldest.logId
end
local function release(limits)
  local pools = {}
  for _, limit in ipairs(limits) do
    if limit.places then releaseOldest(limit) end
    if limit.name then pools = redis.call('ZRANGE', '${keys.pools}', 0, -1) end
  end
  for _, pool in ipairs(pools) do redis.call('PUBLISH', '${channels.pools}', pool) end
end
`;

// Lua, for the scripts that write operations: sets the lifetime of the keys beside a record, and writes what a chain says of it.
// With these nothing that the script writes stays for ever (docs/reference/store.md).

/** Links checked per new operation. Each operation adds at most two, so dead links stay a small part. */
const LINKS_LOOKED_AT = 8;

/**
 * `keepFor`: without expiry while `inFlight`, else for `ms`. `noteHash`: the hash has a chain from now on. `isChainLost`: it had one
 * that has not expired, and is gone. A chain is one text, so that it is there as a whole or not at all. `writeChain`: its version grows;
 * `life` is the end of a SET: without it the chain stays. `chainChanged`: an operation of it has changed, and may have begun.
 * `dropEndedLinks`: checks some of its links and removes those whose record is gone, since they lead nowhere. `records`: the prefix of the
 * records' keys.
 */
const LIFETIME = `
local function keepFor(key, ms, inFlight)
  if inFlight then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ms) end
end
local function noteHash(hashes, hash, at, retention)
  redis.call('ZADD', hashes, 'GT', at, hash)
  redis.call('ZREMRANGEBYSCORE', hashes, '-inf', at - 3 * retention)
  keepAtLeast(hashes, 3 * retention)
end
local function isChainLost(chain, hashes, hash, at, retention)
  return not chain and tonumber(redis.call('ZSCORE', hashes, hash) or '-inf') > at - 3 * retention
end
local function readChain(key)
  local text = redis.call('GET', key)
  return text and cjson.decode(text)
end
local function writeChain(key, chain, ...)
  chain.version = string.format('%.0f', chain.version + 1)
  redis.call('SET', key, cjson.encode(chain), ...)
end
local function link(chain, name, logId, isNewer)
  if isNewer or not chain[name] then chain[name] = logId end
end
local function noteBegun(chain)
  for _, target in ipairs(ask.began and ask.began ~= '' and ask.targets or {}) do
    link(chain, 'began:' .. target, ask.logId, ask.began == 'began')
  end
end
-- Of a chain that was lost nothing is written: the next call puts it back, whole.
local function chainChanged(key, ...)
  local chain = readChain(key)
  if not chain then return end
  noteBegun(chain)
  writeChain(key, chain, ...)
end
local function dropEndedLinks(chain, records)
  local names = {}
  for name in pairs(chain) do if string.find(name, ':', 1, true) then table.insert(names, name) end end
  for i = 1, math.min(#names, ${LINKS_LOOKED_AT}) do
    local name = names[(chain.version * ${LINKS_LOOKED_AT} + i) % #names + 1]
    if redis.call('EXISTS', records .. chain[name]) == 0 then chain[name] = nil end
  end
end
`;

// Lua: a strictly increasing time in ms, the score of a last use in a sorted set, even if two uses fall within one tick of
// the clock or the clock went back. A double of this size still resolves a thousandth.

export const USED_NOW = `
local function usedNow(uses)
  local time = redis.call('TIME')
  local newest = redis.call('ZREVRANGE', uses, 0, 0, 'WITHSCORES')[2]
  return math.max(time[1] * 1000 + time[2] / 1000, tonumber(newest or '0') + 0.001)
end`;

// Join (▲5): the last change that an asker (a caller, or its whole principal) made to an Editor.

/** A change, in the form that later ones are compared with. */
export interface OwnChange {
  /** The Editor's count of changes, this one included. */
  seq: number;
  /** When it was accepted, ms, store clock. */
  acceptedAt: number;
}

/**
 * Lua: `noteOwnChange` records a change under keys.askerMutations, unless a later one is recorded there. `countChange`
 * counts a new operation if it is a change, notes it for its askers, and answers the Editor's count.
 */
export const OWN_CHANGE = `
local function noteOwnChange(key, seq, acceptedAt, keptMs)
  local seqBefore, acceptedBefore = string.match(redis.call('GET', key) or '', '^(%d+) (%d+)$')
  seq = math.max(tonumber(seq), tonumber(seqBefore) or 0)
  acceptedAt = math.max(tonumber(acceptedAt), tonumber(acceptedBefore) or 0)
  redis.call('SET', key, string.format('%.0f %.0f', seq, acceptedAt), 'PX', keptMs)
end
local function countChange(isChange, counter, askers, acceptedAt, keptMs)
  if not isChange then return tonumber(redis.call('GET', counter) or '0') end
  local seq = redis.call('INCR', counter)
  for _, key in ipairs(askers) do noteOwnChange(key, seq, acceptedAt, keptMs) end
  return seq
end
`;

export function parseOwnChange(text: string | null | undefined): OwnChange | undefined {
  const [, seq, acceptedAt] = /^(\d+) (\d+)$/.exec(text ?? "") ?? [];
  return seq === undefined ? undefined : { seq: Number(seq), acceptedAt: Number(acceptedAt) };
}

// Lua scripts that write operations: what they have in common.

/**
 * Why a script wrote nothing:
 * - `conflict`     the record, or its chain, is not the one that was read: read again
 * - `chain_lost`   the store has lost the chain of the hash: put it back, and read again
 * - `not_owner`    another owner holds the Editor's lease: fence (▲11)
 * - `incarnation`  the store may have lost something since the decision: store incarnation (▲13)
 * - `too_many`     the principal's limit on waiting operations is reached
 * - `queue_full`   the Editor's, or the pool's, limit on open operations is reached
 * - `held`         the principal's limit on running operations is reached
 * - `short`        there is no place of a resource that the Editor needs
 * - `busy`         its Editor has something to do: ask again when that has ended
 * - `full`         there is no room for the arguments or the result
 */
export type NotWritten =
  | "conflict"
  | "chain_lost"
  | "not_owner"
  | "incarnation"
  | "too_many"
  | "queue_full"
  | "held"
  | "short"
  | "busy"
  | "full";

export type Answer = readonly ["applied", ...(number | string)[]] | readonly [NotWritten];

/** Values by name, which the script reads as `ask`; undefined ones are left out, so that they are nil. */
export type Ask = Record<string, unknown>;

export type Script = (
  keyList: readonly string[],
  ask: Ask,
  ...texts: readonly (string | Buffer)[]
) => Promise<Answer>;

/** Lua: the store's clock, ms since the epoch; it stands still while a script runs. */
export const STORE_TIME = `
local clock
local function storeTime()
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end
`;

/** Lua: a key lives for so long at the least, and for twice that at the most: what is only read is not appended to the store's file. */
const KEEP_AT_LEAST = `
local function keepAtLeast(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, 2 * ms) end
end
`;

/**
 * The first lines of every script, and all that a script may call. A process of an older version is refused (schema.ts), and so is what
 * was decided in another incarnation than the present one (▲13). KEYS 1 schema, 2 incarnation, which the caller of a script does not
 * name. ARGV 1 `ask` as JSON; `ask.fresh` is an id for a new incarnation.
 */
const HEAD = `${guard("KEYS[1]")}
local ask = cjson.decode(ARGV[1])
${INCARNATION}
if ask.incarnation and incarnationOf(KEYS[2], ask.fresh) ~= ask.incarnation then return {'incarnation'} end
${STORE_TIME}${KEEP_AT_LEAST}${FAIR_PRIORITY}${LIMITS}${RELEASE}${RESULT_QUOTA}${LIFETIME}${OWN_CHANGE}${NOTE_EVENT}`;

/** Lua: ends with `not_owner` if an owner writes that does not hold the lease (any more). */
export const ownedBy = (lease: string): string => `
if ask.ownerNonce and redis.call('GET', ${lease}) ~= ask.ownerNonce then return {'not_owner'} end
`;

/** Defines a script on a connection, under a name that no command has. */
export function defineScript(redis: Redis, name: string, lua: string): Script {
  redis.defineCommand(name, { lua: HEAD + lua });
  const commands = redis as unknown as Record<
    string,
    (...given: readonly (string | number | Buffer)[]) => Promise<Answer>
  >;
  return async (keyList, ask, ...texts) => {
    const all = [keys.schema, keys.incarnation, ...keyList];
    const packed = JSON.stringify({ ...ask, fresh: randomUUID() });
    const run = commands[name]?.call(redis, all.length, ...all, packed, ...texts);
    return guarded(run as Promise<Answer>).catch((error: unknown) => {
      // Nothing was written: Redis refuses the script at its first write.
      if (isStoreFull(error)) return ["full"] as const;
      throw error;
    });
  };
}
