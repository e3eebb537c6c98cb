/**
 * The MCP clients that are connected to the gateways of this store. Each gateway notes its own and repeats that, so that
 * the clients of a gateway that was killed leave by themselves.
 */
import type { Redis, Result } from "ioredis";
import type { Caller } from "../operation/operation.js";
import { type ClientIdentity, clientIdentity } from "../principal.js";
import { channels, keys } from "./keys.js";

export interface ConnectedClient extends ClientIdentity {
  /** Of its session (Caller). Not for other principals: it identifies the caller. */
  id: string;
  principal: string;
  transport: Caller["transport"];
  /** ms since the epoch, store clock. */
  since: number;
}

export interface ConnectedClients {
  /** How long a note holds, ms. */
  readonly lifeMs: number;
  /**
   * Notes clients, or renews their notes. Above the limit of their principal, or of the store, new ones are left out: they
   * work as all others, but are not shown.
   */
  note(clients: readonly ConnectedClient[]): Promise<void>;
  remove(clients: readonly ConnectedClient[]): Promise<void>;
  /** Each once, in the order of their coming. */
  all(): Promise<ConnectedClient[]>;
}

export interface ConnectedClientsOptions {
  clientLifeMs?: number | undefined;
  /** Most noted clients of one principal, and in all. */
  mostClients?: { ofOne: number; inAll: number } | undefined;
}

const LIFE_MS = 30_000;
/** A note takes about 300 bytes, and any client with a token may open sessions without limit. */
const MOST = { ofOne: 50, inAll: 500 };

/**
 * KEYS 1 clients
 * ARGV 1 life ms, 2 most of one principal, 3 most in all, 4 channel, then for each client the beginning that all of its
 * principal have, and its member
 */
const NOTE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local hasChanged = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1])) > 0
local noted = redis.call('ZRANGE', KEYS[1], 0, -1)
local total, ofOne = #noted, {}
local function countOf(beginning)
  local count = 0
  for _, member in ipairs(noted) do
    if string.sub(member, 1, #beginning) == beginning then count = count + 1 end
  end
  return count
end
for i = 5, #ARGV, 2 do
  local beginning, member = ARGV[i], ARGV[i + 1]
  if redis.call('ZSCORE', KEYS[1], member) then
    redis.call('ZADD', KEYS[1], now, member)
  else
    local count = ofOne[beginning] or countOf(beginning)
    if count < tonumber(ARGV[2]) and total < tonumber(ARGV[3]) then
      redis.call('ZADD', KEYS[1], now, member)
      count, total, hasChanged = count + 1, total + 1, true
    end
    ofOne[beginning] = count
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
if hasChanged then redis.call('PUBLISH', ARGV[4], total) end`;

/** KEYS 1 clients; ARGV 1 channel, 2… members. */
const REMOVE = `
local count = 0
for i = 2, #ARGV do count = count + redis.call('ZREM', KEYS[1], ARGV[i]) end
if count > 0 then redis.call('PUBLISH', ARGV[1], redis.call('ZCARD', KEYS[1])) end`;

/** KEYS 1 clients; ARGV 1 life ms. Answer: the members whose notes hold. */
const ALL = `
local time = redis.call('TIME')
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[1]), '+inf')`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbNoteClients(...keysAndArguments: (string | number)[]): Result<null, Context>;
    ujbRemoveClients(...keysAndArguments: (string | number)[]): Result<null, Context>;
    ujbAllClients(...keysAndArguments: (string | number)[]): Result<string[], Context>;
  }
}

export function createConnectedClients(
  redis: Redis,
  options: ConnectedClientsOptions = {},
): ConnectedClients {
  const { clientLifeMs: lifeMs = LIFE_MS, mostClients: most = MOST } = options;
  redis.defineCommand("ujbNoteClients", { numberOfKeys: 1, lua: NOTE });
  redis.defineCommand("ujbRemoveClients", { numberOfKeys: 1, lua: REMOVE });
  redis.defineCommand("ujbAllClients", { numberOfKeys: 1, lua: ALL });

  return {
    lifeMs,

    async note(clients) {
      const members = clients.flatMap((client) => [beginningOf(client.principal), memberOf(client)]);
      const limits = [lifeMs, most.ofOne, most.inAll];
      await redis.ujbNoteClients(keys.clients, ...limits, channels.clients, ...members);
    },

    async remove(clients) {
      await redis.ujbRemoveClients(keys.clients, channels.clients, ...clients.map(memberOf));
    },

    async all() {
      const read = (await redis.ujbAllClients(keys.clients, lifeMs)).map(clientOf);
      // A session that another gateway adopted is noted twice until the first note ends.
      const byId = new Map<string, ConnectedClient>();
      for (const client of read.toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1)))
        if (!byId.has(client.id)) byId.set(client.id, client);
      return [...byId.values()];
    },
  };
}

/** JSON: no principal's beginning is the beginning of another's. */
function beginningOf(principal: string): string {
  return `[${JSON.stringify(principal)},`;
}

/** The same text for as long as it is connected: a renewal changes its score only. */
function memberOf({ principal, id, transport, since, ...named }: ConnectedClient): string {
  const { name, version } = clientIdentity(named);
  return beginningOf(principal) + JSON.stringify([id, transport, since, name, version]).slice(1);
}

function clientOf(member: string): ConnectedClient {
  const [principal, id, transport, since, name, version] = JSON.parse(member) as [
    string,
    string,
    Caller["transport"],
    number,
    string,
    string,
  ];
  return { principal, id, transport, since, ...clientIdentity({ name, version }) };
}
