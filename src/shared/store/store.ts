/** Everything that the gateway and the worker share, over one pair of connections. */
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { OperationRecord } from "../operation/operation.js";
import type { Counts } from "../telemetry.js";
import {
  type ConnectOptions,
  connectStore,
  createNotifier,
  type Notifier,
  type RedisAddress,
  type RedisTarget,
} from "./connect.js";
import {
  type ConnectedClients,
  type ConnectedClientsOptions,
  createConnectedClients,
} from "./connected-clients.js";
import { createEditors, type Editors } from "./editors/editors.js";
import { createForgottenEditors, type ForgottenEditors } from "./editors/forgotten.js";
import {
  createLease,
  createOwners,
  type Lease,
  type LeaseEvents,
  type LeaseOptions,
  type Owners,
} from "./editors/lease.js";
import { createPools, type Pools } from "./editors/pools.js";
import {
  createFilteredResults,
  type FilteredResults,
  type FilteredResultsOptions,
} from "./filtered-results.js";
import { channels, keys } from "./keys.js";
import { createLastSweep, type LastSweep } from "./last-sweep.js";
import { createLogins, type Logins } from "./logins.js";
import { type AllOperations, createAllOperations } from "./operations/all-operations.js";
import { createEvents, type Events } from "./operations/events.js";
import { type HeldBack, heldBack, PRINCIPAL_LIMITS, roomLimits } from "./operations/limits.js";
import { createOperations, type Operations, type OperationsOptions } from "./operations/operation-store.js";
import { createQueues, type Queues } from "./queue.js";
import type { RedisCheck } from "./redis-check.js";
import { claimStore } from "./schema.js";
import { createSessions, type Sessions, type SessionsOptions } from "./sessions.js";

// The secret with which the gateways of one store sign what they give to clients and get back (revision-2026/confirmation.ts).

const BYTES = 32;

/** Made by the first gateway that needs it. Read each time: a store that was emptied has another one. */
async function clientStateKey(commands: Redis): Promise<Uint8Array> {
  const fresh = randomBytes(BYTES).toString("base64");
  await commands.set(keys.clientStateKey, fresh, "NX");
  return Buffer.from((await commands.get(keys.clientStateKey)) ?? fresh, "base64");
}

export interface Store {
  /** As it was last heard: a store that was emptied gets its id back once a process that knows it is there. */
  storeId(): string;
  /** Each id that this process has heard. */
  storeIds: readonly string[];
  /** How long an ended operation and its result are kept, ms. */
  retentionMs: number;
  /** Gives its id back to a store that was emptied; resolves to the id that it has. */
  claim(): Promise<string>;
  operations: Operations;
  /** For operators. */
  allOperations: AllOperations;
  events: Events;
  filteredResults: FilteredResults;
  editors: Editors;
  pools: Pools;
  owners: Owners;
  forgotten: ForgottenEditors;
  queues: Queues;
  notifier: Notifier;
  sessions: Sessions;
  logins: Logins;
  clients: ConnectedClients;
  counters: StoredCounters;
  /** Tries for the ownership of an Editor until closed. */
  lease(editor: string, options: LeaseOptions, events: LeaseEvents): Lease;
  /** The limit, of its principal or of a resource, that keeps a waiting operation from being sent; undefined if none does. */
  heldBack(record: OperationRecord): Promise<HeldBack | undefined>;
  /** Asks the owner of the operation's Editor to deliver a cancellation. */
  askForCancel(logId: string): Promise<void>;
  lastSweep: LastSweep;
  clientStateKey(): Promise<Uint8Array>;
  /** For BullMQ's own connections. */
  address: RedisAddress;
  /** As found at the start. */
  redisCheck: RedisCheck;
  /** Rejects with STORE_UNFIT while this Redis must not be trusted with new operations. */
  assertFit(): Promise<void>;
  close(): Promise<void>;
}

/** Connects, checks and assembles; rejects with STORE_UNREACHABLE or STORE_UNFIT. */
export async function openStore(
  redis: RedisTarget,
  options: ConnectOptions &
    OperationsOptions &
    FilteredResultsOptions &
    SessionsOptions &
    ConnectedClientsOptions,
): Promise<Store> {
  const connections = await connectStore(redis, options);
  const { commands, subscriber, address, redisCheck } = connections;
  const onError = (error: Error): void => options.onError?.(error);
  const queues = createQueues(commands, { retentionMs: options.retentionMs, onError });
  const notifier = await createNotifier(subscriber);
  const limits = {
    ...PRINCIPAL_LIMITS,
    ...options,
    resources: options.resources ?? {},
    room: roomLimits(options),
  };
  const counters = createStoredCounters(commands);
  let { storeId } = connections;
  const storeIds = [storeId];
  const claim = async (): Promise<string> => {
    storeId = await claimStore(commands, storeId);
    if (!storeIds.includes(storeId)) storeIds.push(storeId);
    return storeId;
  };
  // It may have been emptied, and begun by a process that does not know its id.
  const claimAgain = (): void => void claim().catch(onError);
  notifier.on("incarnation", claimAgain, claimAgain);
  const operations = createOperations(commands, options, { jobs: queues, limits, onError });
  return {
    storeId: () => storeId,
    storeIds,
    retentionMs: options.retentionMs,
    claim,
    address,
    redisCheck,
    assertFit: connections.assertFit,
    notifier,
    queues,
    operations,
    allOperations: createAllOperations(commands, operations.find),
    events: createEvents(commands),
    heldBack: (record) => heldBack(commands, record, limits, operations.find),
    filteredResults: createFilteredResults(commands, options),
    editors: createEditors(commands),
    pools: createPools(commands, queues, options),
    owners: createOwners(commands),
    forgotten: createForgottenEditors(commands, queues),
    sessions: createSessions(commands, options),
    logins: createLogins(commands),
    clients: createConnectedClients(commands, options),
    counters,
    lease: (editor, given, events) =>
      createLease(commands, editor, { ...given, keptMs: 3 * options.retentionMs }, events),
    async askForCancel(logId) {
      await commands.publish(channels.cancel, logId);
    },
    lastSweep: createLastSweep(commands),
    clientStateKey: () => clientStateKey(commands),
    async close() {
      counters.close();
      notifier.close();
      await queues.close();
      await connections.close();
    },
  };
}

// The store's counters, except those that the scripts which create and finish operations increment.

export interface StoredCounters {
  /** Counts events that write no operation. Written a moment later, many at once; lost while Redis is away, and with this process. */
  add(counts: Counts): void;
  /** Every counter of the store, with all that this process has counted. */
  read(): Promise<Counts>;
  /** Writes what is not written yet; not awaited. */
  close(): void;
}

/** A call counts several times, and many calls come in this time, ms. */
const TOGETHER_MS = 200;

function createStoredCounters(redis: Redis): StoredCounters {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [counter, by] of waiting) redis.hincrby(keys.counters, counter, by).catch(() => undefined);
    waiting.clear();
  };

  return {
    add(counts) {
      for (const [counter, by] of Object.entries(counts))
        waiting.set(counter, (waiting.get(counter) ?? 0) + by);
      timer ??= setTimeout(write, TOGETHER_MS).unref();
    },

    async read() {
      write();
      const fields = await redis.hgetall(keys.counters);
      return Object.fromEntries(Object.entries(fields).map(([counter, count]) => [counter, Number(count)]));
    },

    close: write,
  };
}
