/** A gateway: the real broker over the store in memory, and for each client the real tracker with a small skin on it. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { OPEN } from "../../../src/gateway/auth/authenticator.js";
import { type Broker, createBroker } from "../../../src/gateway/broker.js";
import { createCallReader } from "../../../src/gateway/call-reader.js";
import { NO_CATALOGS } from "../../../src/gateway/editors/last-catalogs.js";
import { createExchanges } from "../../../src/gateway/exchange.js";
import { type Channel, type Line, trackRequests } from "../../../src/gateway/mcp/request-tracker.js";
import type { Results } from "../../../src/gateway/results/results.js";
import { BrokerError } from "../../../src/shared/errors.js";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import { EXPIRY_LIMITS } from "../../../src/shared/operation/expiry.js";
import {
  type Caller,
  isFinal,
  jobIdOf,
  type OperationRecord,
} from "../../../src/shared/operation/operation.js";
import { SILENT } from "../../harness/silent.js";
import { queueOf } from "./queue.js";
import type { Life } from "./schedule.js";
import { operationsOf } from "./store.js";
import { EDITOR, TOOLS, type World } from "./world.js";

/** What a client reads of an answer. */
export interface CallAnswer {
  record: OperationRecord;
  result?: string | undefined;
}

export interface Session {
  caller: Caller;
  /** A message of the client reaches the gateway; false when that is dead. */
  arrives(message: JSONRPCMessage, channel: Channel): boolean;
}

export type Gateway = ReturnType<typeof createGateway>;

export function createGateway(world: World) {
  const { store, steps } = world;
  const life: Life = { dead: false };
  const step = (): Promise<void> => steps.park(life);
  const operations = operationsOf(store, step, () => world.random.chance(0.05));
  const known = async () => [{ id: EDITOR, mutationSeq: store.data.mutations[EDITOR] ?? 0 }];
  const candidates = async () => [
    { id: EDITOR, projectName: EDITOR, projectPath: "", connected: true, labels: [] },
  ];
  const read = async () => ({
    candidates: await candidates(),
    present: [],
    missing: [],
    incarnation: store.data.incarnation,
    now: store.now(),
    heardAt: performance.now(),
  });
  const queue = () => queueOf(store.data, EDITOR);

  const broker: Broker = createBroker(
    {
      operations,
      retentionMs: 24 * 3_600_000,
      assertFit: async () => undefined,
      clientStateKey: async () => Buffer.alloc(32),
      principals: OPEN,
      presence: { present: () => () => undefined, clients: async () => [] },
      queues: {
        restore: async () => undefined,
        drop: async () => undefined,
        add: async () => undefined,
        promote: async () => undefined,
        async remove(record) {
          queue().waiting = queue().waiting.filter(({ id }) => id !== jobIdOf(record));
        },
        takeBack: async () => undefined,
        ahead: async () => undefined,
        setPaused: async () => undefined,
        isPaused: async () => false,
        isTaken: async () => false,
        waiting: async () => [],
        obliterate: async () => undefined,
        lanesOf: () => [],
        release: async () => undefined,
        close: async () => undefined,
      },
      // All of them are small.
      results: {
        delivered: async ({ logId }) => ({ result: await operations.resultOf(logId) }),
      } satisfies Pick<Results, "delivered"> as Results,
      // Known, and not here: what was sent waits for it.
      editors: {
        ids: async () => [EDITOR],
        mutations: known,
        find: async () => ({ profile: { editorId: EDITOR }, lastSeenAt: 0 }),
      } as never,
      heldBack: async () => undefined,
      lastSweep: { watchedSince: async () => 0 },
      estimates: { of: async () => ({}) },
      catalog: { tool: async (name: string) => TOOLS[name] } as never,
      calls: createCallReader({
        principals: OPEN,
        catalog: { tool: async (name: string) => TOOLS[name] } as never,
        knownEditors: { read, remembered: read },
      }),
      knownEditors: {
        read,
        shown: async () => [],
        makeKnown: async () => undefined,
        awaitMissing: async () => false,
        drop: async () => undefined,
      },
      lastCatalogs: NO_CATALOGS,
      // Nobody asks as an operator.
      ...({ allOperations: {}, owners: {}, pools: {} } as Pick<
        Parameters<typeof createBroker>[0],
        "allOperations" | "owners" | "pools"
      >),
      log: SILENT,
      contact: { awaited: async () => false },
      candidates,
      counters: { add: () => undefined },
      waiters: {
        async until(_logId, look, { ms, signal }) {
          for (const deadline = world.now() + ms; ; ) {
            const seen = world.changes();
            const found = await look();
            if (found !== undefined) return found;
            const isOver = (): boolean => signal?.aborted === true || world.now() >= deadline;
            if (isOver()) return undefined;
            await steps.park(life, () => isOver() || world.changes() !== seen);
          }
        },
        close: () => undefined,
      },
      askForCancel: async (logId) => world.cancelAsked(logId),
      newLogId: () => world.newLogId(),
    },
    { replay: REPLAY_DEFAULTS, limits: EXPIRY_LIMITS },
  );

  /** What src/gateway/mcp/requests/call-tool.ts does with a request, without words. */
  const answer = async (
    principal: string,
    request: ReturnType<ReturnType<typeof trackRequests>["request"]>,
    { method, params = {} }: { method: string; params?: Record<string, unknown> | undefined },
  ): Promise<CallAnswer | undefined> => {
    if (method !== "tools/call") return undefined;
    const args = params.arguments as Record<string, unknown>;
    const named = args.log_id as string | undefined;
    let seen: Awaited<ReturnType<Broker["wait"]>>;
    if (named === undefined) {
      const { record, relation, timeout } = await broker.submit({
        caller: request.caller,
        requestId: request.id,
        principal,
        tool: String(params.name),
        arguments: args,
        isAwaited: request.isAwaited,
      });
      request.accepted();
      request.waitsFor(record.logId, relation === "created");
      seen = await broker.wait(principal, record.logId, {
        ms: Number(timeout) * 1000,
        signal: request.signal,
      });
    } else {
      await request.names(named);
      if (params.name === "cancel_operation") seen = await broker.cancel(principal, named, request.caller);
      else {
        request.accepted();
        request.waitsFor(named, false);
        const wait = { ms: 5_000, signal: request.signal, askedBy: request.caller };
        seen = await broker.wait(principal, named, wait);
      }
    }
    if (typeof seen !== "object") return undefined;
    if (isFinal(seen.record.state)) request.delivers(seen.record);
    return { record: seen.record, result: seen.result };
  };

  const openSession = (caller: Caller, principal: string): Session => {
    const channels = new Map<object, Channel>();
    const inner: Line["transport"] = {
      start: async () => undefined,
      send: async () => undefined,
      close: async () => undefined,
    };
    const line: Line = {
      transport: inner,
      notify: async () => undefined,
      channelOf: (extra) => channels.get(extra ?? {}) as Channel,
    };
    const log = { debug: () => undefined, warn: () => undefined } as never;
    // The world's time stands still between two steps.
    const stalls = { hasStalledSince: () => false, close: () => undefined };
    const tracker = trackRequests(line, {
      exchanges: createExchanges({ deliveries: broker, log, stalls }),
      principal,
      caller: () => caller,
      log,
    });
    tracker.transport.onmessage = (message) => {
      if (!("method" in message && "id" in message)) return;
      const { id } = message;
      const request = tracker.request(id);
      void answer(principal, request, message)
        .catch((error: unknown) => {
          if (!(error instanceof BrokerError)) world.oracle.fail(String((error as Error).stack));
          return undefined;
        })
        .then((reported) => {
          request.accepted();
          return tracker.transport.send({ jsonrpc: "2.0", id, result: { reported } });
        });
    };
    void tracker.transport.start();
    const session: Session = {
      caller,
      arrives(message, channel) {
        if (life.dead) return false;
        const extra = {};
        channels.set(extra, channel);
        inner.onmessage?.(message, extra);
        return true;
      },
    };
    return session;
  };

  return {
    broker,
    openSession,
    isAlive: () => !life.dead,
    kill(): void {
      life.dead = true;
    },
  };
}
