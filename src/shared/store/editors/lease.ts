/**
 * The lease that makes one worker the owner of an Editor, and the epoch that its fence carries (▲11).
 *
 * This process decides by its monotonic clock when the lease is lost, counted from *sending* the last successful renewal:
 * a slow answer must not extend the lease, and a laptop that slept must not wake up as owner.
 *
 * The lease of a process that has died on this machine is taken over before it expires, and so is the one that this process itself
 * has lost: in a Redis whose clock was set back it may live for hours more. The lease only decides how soon that happens: what a
 * process that was wrongly thought dead still sends is refused by its fence.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Redis, Result } from "ioredis";
import { isProvenDead, ownIdentity, type ProcessIdentity } from "../../machine/living-process.js";
import { machineName } from "../../machine/machine-name.js";
import { keys } from "../keys.js";
import { guard, guarded } from "../schema.js";

// Who holds a lease: the taker records its process beside the lease, so that another worker of the same machine can know
// that it has died, and need not wait until the lease expires.

export interface LeaseHolder extends ProcessIdentity {
  /** In which its process id counts (machine-name.ts). */
  readonly machine: string;
}

/** What a lease asks about itself and about the process that is in its way. */
export interface LeaseHolders {
  /** This process; undefined: it is not recorded, and its lease is never taken before it expires. */
  own: LeaseHolder | undefined;
  /** Whether this process no longer exists, for certain: a stopped or hanging one may still run. */
  isDead(holder: LeaseHolder): boolean;
}

let here: LeaseHolders | undefined;

/** As the system tells it; the machine is asked for its name once. */
export function holdersHere(): LeaseHolders {
  if (here) return here;
  const own = ownHolder();
  here = { own, isDead: (holder) => holder.machine === own?.machine && isProvenDead(holder) };
  return here;
}

function ownHolder(): LeaseHolder | undefined {
  const identity = ownIdentity();
  const machine = machineName();
  return identity && machine !== undefined ? { machine, ...identity } : undefined;
}

/** As fields of the hash beside the lease. */
export function fieldsOf({ machine, pid, mark }: LeaseHolder): string[] {
  return ["machine", machine, "pid", String(pid), ...(mark === undefined ? [] : ["mark", mark])];
}

/** Undefined unless machine and process are recorded. */
function holderOf(
  machine: string | null | undefined,
  pid: string | null | undefined,
  mark: string | null | undefined,
): LeaseHolder | undefined {
  return machine && pid ? { machine, pid: Number(pid), mark: mark ?? undefined } : undefined;
}

/** The same for what people know a worker by: nothing is decided by that. */
function namesOf({ version }: { version?: string | undefined }): string[] {
  return [
    "host",
    hostname(),
    "process",
    String(process.pid),
    ...(version === undefined ? [] : ["version", version]),
  ];
}

/** The fence pair: the Editor refuses a lower epoch, and an equal epoch with another nonce. */
export interface EditorFence {
  epoch: number;
  ownerNonce: string;
}

export interface Lease {
  /** undefined while another worker owns the Editor. */
  fence(): EditorFence | undefined;
  /**
   * Epoch raise (▲10 a): the Editor has seen a higher epoch than the store: raises the store above it. Undefined: no
   * longer the owner.
   */
  raise(highestEpoch: number): Promise<EditorFence | undefined>;
  /** Gives up the lease, so that another worker takes over at once. */
  close(): Promise<void>;
}

export interface LeaseOptions {
  ttlMs: number;
  /** How often to renew; one that another worker holds, or that could not be renewed, is tried for at least once a second. */
  renewMs: number;
  /** Left out: as the system tells it. */
  holders?: LeaseHolders;
  /** Shown to a person who asks who owns the Editor. */
  version?: string;
}

export interface LeaseEvents {
  /** `died`: the process that held the lease until now, where it was taken before it expired. */
  onHeld(fence: EditorFence, died?: LeaseHolder): void;
  onLost(): void;
  /** At every attempt while another holds it. */
  onRefused?(): void;
  onError(error: Error): void;
}

/**
 * Takes the lease if it is free, or still that of a holder that has died or has lost it.
 *
 * KEYS 1 lease, 2 epoch, 3 served Editors, 4 schema, 5 holder
 * ARGV 1 nonce, 2 ttl ms, 3 how long the epoch is kept, ms, 4 editor, 5 nonce of such a holder, or empty, 6… fields and values
 *      that say who takes it
 * Answer: {the new epoch}, or {0, nonce, machine, pid, mark} of another that holds it, as far as recorded.
 */
const TAKE = `${guard("KEYS[4]")}
local owner = redis.call('GET', KEYS[1])
if owner then
  -- A nonce that is not the owner's was left by one before it, which had recorded itself.
  local holder = redis.call('HMGET', KEYS[5], 'nonce', 'machine', 'pid', 'mark')
  if owner ~= ARGV[5] then return {0, unpack(holder)} end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[5])
if #ARGV > 5 then
  redis.call('HSET', KEYS[5], 'nonce', ARGV[1], unpack(ARGV, 6))
  redis.call('PEXPIRE', KEYS[5], ARGV[3])
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[4])
local epoch = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {epoch}
`;

/**
 * KEYS 1 lease, 2 epoch, 3 schema, 4 holder; ARGV 1 nonce, 2 ttl ms (0: give it up), 3 how long the epoch is kept, ms
 * Answer: 1 if it was ours. What need not be written is not: each idle Editor pays for it all day.
 */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1], KEYS[4])
  return 1
end
${guard("KEYS[3]")}
if redis.call('PTTL', KEYS[2]) < ARGV[3] / 2 then
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  redis.call('PEXPIRE', KEYS[4], ARGV[3])
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * KEYS 1 lease, 2 epoch; ARGV 1 nonce, 2 highest epoch seen, 3 how long the epoch is kept, ms
 * Answer: the new epoch, or 0 when the lease is not ours.
 */
const RAISE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local epoch = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[2])) + 1
redis.call('SET', KEYS[2], epoch, 'PX', ARGV[3])
return epoch
`;

/** Longest pause before it is tried again, ms. */
const TRY_MS = 1_000;

type TakeAnswer = [epoch: number, ...holder: (string | null)[]];

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbLeaseTake(...keysAndArguments: (string | number)[]): Result<TakeAnswer, Context>;
    ujbLeaseRenew(...keysAndArguments: (string | number)[]): Result<number, Context>;
    ujbLeaseRaise(...keysAndArguments: (string | number)[]): Result<number, Context>;
  }
}

/** Tries for the lease of an Editor until closed. Each time it is taken with a new nonce and a higher epoch. */
export function createLease(
  redis: Redis,
  editor: string,
  options: LeaseOptions & {
    /** How long the epoch is kept after the last lease. */
    keptMs: number;
  },
  events: LeaseEvents,
  monotonicMs: () => number = () => performance.now(),
): Lease {
  redis.defineCommand("ujbLeaseTake", { numberOfKeys: 5, lua: TAKE });
  redis.defineCommand("ujbLeaseRenew", { numberOfKeys: 4, lua: RENEW });
  redis.defineCommand("ujbLeaseRaise", { numberOfKeys: 2, lua: RAISE });
  const leaseKey = keys.lease(editor);
  const epochKey = keys.epoch(editor);
  const holderKey = keys.leaseHolder(editor);
  const { ttlMs, holders = holdersHere() } = options;
  const epochMs = ttlMs + options.keptMs;
  const own = [...(holders.own ? fieldsOf(holders.own) : []), ...namesOf(options)];
  const take = (nonce: string, deadNonce: string): Promise<TakeAnswer> =>
    guarded(
      redis.ujbLeaseTake(
        ...[leaseKey, epochKey, keys.served, keys.schema, holderKey],
        ...[nonce, ttlMs, epochMs, editor, deadNonce, ...own],
      ),
    );
  const renew = (nonce: string): Promise<number> =>
    guarded(redis.ujbLeaseRenew(leaseKey, epochKey, keys.schema, holderKey, nonce, ttlMs, epochMs));
  const release = (nonce: string): Promise<number> =>
    redis.ujbLeaseRenew(leaseKey, epochKey, keys.schema, holderKey, nonce, 0, epochMs);
  let held: EditorFence | undefined;
  /** The nonce of the last one that was lost. */
  let lostNonce = "";
  let validUntil = 0;
  let closed = false;
  let renewal: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();

  const lose = (): void => {
    if (!held) return;
    lostNonce = held.ownerNonce;
    held = undefined;
    clearTimeout(expiry);
    events.onLost();
  };

  const keep = (sentAt: number): void => {
    validUntil = sentAt + ttlMs;
    clearTimeout(expiry);
    expiry = setTimeout(lose, Math.max(0, validUntil - monotonicMs()));
  };

  const takeFreeOrDead = async (nonce: string): Promise<{ epoch: number; died?: LeaseHolder }> => {
    const [epoch, deadNonce, ...recorded] = await take(nonce, lostNonce);
    if (epoch !== 0 || !deadNonce) return { epoch };
    const [machine, pid, mark] = recorded;
    const holder = holderOf(machine, pid, mark);
    if (!holder || !holders.isDead(holder)) return { epoch };
    const [taken] = await take(nonce, deadNonce);
    return { epoch: taken, died: holder };
  };

  const attempt = async (): Promise<void> => {
    const sentAt = monotonicMs();
    if (held) {
      if ((await renew(held.ownerNonce)) === 1) keep(sentAt);
      else lose();
      return;
    }
    const ownerNonce = randomUUID();
    const { epoch, died } = await takeFreeOrDead(ownerNonce);
    if (epoch === 0) {
      events.onRefused?.();
      return;
    }
    if (closed) {
      await release(ownerNonce);
      return;
    }
    held = { epoch, ownerNonce };
    keep(sentAt);
    events.onHeld(held, died);
  };

  const loop = (): void => {
    if (closed) return;
    let isRenewed = false;
    turn = attempt().then(
      () => {
        isRenewed = held !== undefined;
      },
      (error: unknown) => events.onError(error as Error),
    );
    void turn.then(() => {
      const restMs = isRenewed ? options.renewMs : Math.min(options.renewMs, TRY_MS);
      if (!closed) renewal = setTimeout(loop, restMs);
    });
  };
  loop();

  return {
    // The timer may be late after a blocked event loop or a sleep, so the clock decides.
    fence() {
      if (held && monotonicMs() >= validUntil) lose();
      return held;
    },

    async raise(highestEpoch) {
      if (!held) return undefined;
      const epoch = await redis.ujbLeaseRaise(leaseKey, epochKey, held.ownerNonce, highestEpoch, epochMs);
      if (epoch === 0) {
        lose();
        return undefined;
      }
      held = { ...held, epoch };
      return held;
    },

    async close() {
      closed = true;
      clearTimeout(renewal);
      await turn;
      clearTimeout(expiry);
      const last = held;
      held = undefined;
      if (last) await release(last.ownerNonce).catch(() => undefined);
    },
  };
}

// Which worker owns an Editor, as its lease says (lease.ts).

export interface Owner {
  editor: string;
  /** The machine's host name, and the process id there; undefined where that was lost. */
  host: string | undefined;
  pid: number | undefined;
  version: string | undefined;
}

export interface Owners {
  /** Of these Editors, those that are owned now. */
  of(editors: readonly string[]): Promise<Owner[]>;
}

export function createOwners(redis: Redis): Owners {
  const ownerOf = async (editor: string): Promise<Owner[]> => {
    const [nonce, holder] = await Promise.all([
      redis.get(keys.lease(editor)),
      redis.hgetall(keys.leaseHolder(editor)),
    ]);
    if (nonce === null) return [];
    // What an owner before it has left says nothing of this one.
    const { host, process, version } = holder.nonce === nonce ? holder : {};
    return [{ editor, host, pid: process === undefined ? undefined : Number(process), version }];
  };
  return { of: async (editors) => (await Promise.all(editors.map(ownerOf))).flat() };
}
