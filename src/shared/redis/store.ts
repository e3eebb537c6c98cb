/** Everything that the gateway and the worker share, over one pair of connections. */
import type { OperationRecord } from "../operation.js";
import { CAPS, type HeldBack, heldBack } from "./cap.js";
import { type ConnectOptions, connectStore, type RedisAddress, type RedisTarget } from "./connect.js";
import { createDerived, type Derived, type DerivedOptions } from "./derived.js";
import { createEditors, type Editors } from "./editors.js";
import type { Fitness } from "./fitness.js";
import { createForgotten, type Forgotten } from "./forgotten.js";
import { channels } from "./keys.js";
import { createLease, type Lease, type LeaseEvents, type LeaseOptions } from "./lease.js";
import { createNews, type News } from "./news.js";
import { createOperations, type Operations, type OperationsOptions } from "./operations.js";
import { createQueues, type Queues } from "./queue.js";
import { claimStore } from "./schema.js";
import { createSessions, type Sessions, type SessionsOptions } from "./sessions.js";
import { createSweeping, type Sweeping } from "./sweeping.js";
import { createTally, type Tally } from "./tally.js";

export interface Store {
  storeId: string;
  /** Gives a store that was emptied its id back; resolves the id that it has. */
  claim(): Promise<string>;
  operations: Operations;
  derived: Derived;
  editors: Editors;
  forgotten: Forgotten;
  queues: Queues;
  news: News;
  sessions: Sessions;
  tally: Tally;
  /** Tries for the ownership of an Editor until closed. */
  lease(editor: string, options: LeaseOptions, events: LeaseEvents): Lease;
  /** What keeps an operation that waits from being sent, if it is its principal's limit. */
  heldBack(record: OperationRecord): Promise<HeldBack | undefined>;
  /** Asks the owner of the operation's Editor to pass a cancellation on. */
  askForCancel(logId: string): Promise<void>;
  sweeping: Sweeping;
  /** What BullMQ opens its own connections with. */
  address: RedisAddress;
  /** As it was found at the start. */
  fitness: Fitness;
  close(): Promise<void>;
}

/** Connects, checks and assembles; rejects with STORE_UNREACHABLE or STORE_UNFIT. */
export async function openStore(
  redis: RedisTarget,
  options: ConnectOptions & OperationsOptions & DerivedOptions & SessionsOptions,
): Promise<Store> {
  const connections = await connectStore(redis, options);
  const { commands, subscriber, address, storeId, fitness } = connections;
  const queues = createQueues(commands, {
    retentionMs: options.retentionMs,
    onError: (error) => options.onError?.(error),
  });
  const news = await createNews(subscriber);
  const operations = createOperations(commands, options);
  return {
    storeId,
    claim: () => claimStore(commands, storeId),
    address,
    fitness,
    news,
    queues,
    operations,
    heldBack: (record) => heldBack(commands, record, options.maxRunning ?? CAPS.maxRunning, operations.find),
    derived: createDerived(commands, options),
    editors: createEditors(commands),
    forgotten: createForgotten(commands),
    sessions: createSessions(commands, options),
    tally: createTally(commands),
    lease: (editor, given, events) =>
      createLease(commands, editor, { ...given, keptMs: 3 * options.retentionMs }, events),
    async askForCancel(logId) {
      await commands.publish(channels.cancel, logId);
    },
    sweeping: createSweeping(commands),
    async close() {
      news.close();
      await queues.close();
      await connections.close();
    },
  };
}
