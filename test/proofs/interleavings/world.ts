/** Everything together: one store, one Editor, its owners, gateways and callers, and chance that moves them. */

import { EXPIRY_LIMITS, expiryOf } from "../../../src/shared/operation/expiry.js";
import { isFinal, isWaiting, next } from "../../../src/shared/operation/operation.js";
import { completeTool, type Tool } from "../../../src/shared/tools/tool.js";
import { type Client, createClient } from "./callers.js";
import { createEditor, type Editor } from "./editor.js";
import { createGateway, type Gateway } from "./gateway.js";
import { createOracle, type Oracle } from "./oracle.js";
import { addJob, queueOf } from "./queue.js";
import { createRandom, createSteps, type Life, type Random, type Steps } from "./schedule.js";
import {
  allRecords,
  createMemoryStore,
  type MemoryStore,
  operationsOf,
  readRecord,
  type StoreData,
} from "./store.js";
import { startWorker, type Worker } from "./worker.js";

export const EDITOR = "shop@1";

const tool = (name: string, effect: "readOnlyHint" | "idempotentHint" | undefined): Tool =>
  completeTool({ name, description: "", annotations: effect ? { [effect]: true } : { readOnlyHint: false } });
export const TOOLS: Record<string, Tool> = {
  build: tool("build", undefined),
  set: tool("set", "idempotentHint"),
  look: tool("look", "readOnlyHint"),
};

export interface Options {
  /** Turns of chance before everything may come to rest. */
  turns: number;
}

/** What the parts know of each other. */
export interface World {
  store: MemoryStore;
  steps: Steps;
  editor: Editor;
  oracle: Oracle;
  random: Random;
  options: Options;
  now(): number;
  /** Counts the writes of the store, by which waits are woken. */
  changes(): number;
  /** The store was replaced by an older copy. */
  wentBack(): boolean;
  /** Mutating operations that were accepted. */
  mutations(): number;
  newLogId(): string;
  nextEpoch(highest?: number): number;
  /** A message is on its way. */
  network(): Promise<void>;
  cutConnection(): void;
  cancelAsked(logId: string): void;
  newGateway(): Gateway;
  sharedGateway(): Gateway;
}

export function createWorld(seed: number, options: Options) {
  const random = createRandom(seed);
  const steps = createSteps(random);
  const wire: Life = { dead: false };
  let clock = 1_000_000_000;
  let changes = 0;
  let logIds = 0;
  let epoch = 0;
  let nonces = 0;
  let incarnations = 1;
  let seenAt = clock;
  let older: StoreData | undefined;
  let wentBack = false;
  const now = (): number => clock;
  const oracle = createOracle(now);
  const store = createMemoryStore(now);
  store.onChange = () => {
    changes += 1;
  };
  store.onCreate = (record) => {
    const others = allRecords(store).filter(({ logId }) => logId !== record.logId);
    oracle.creates(record, others);
  };
  const editor = createEditor({ oracle, random, now }, (name) => TOOLS[name]?.effect === "read_only");
  store.markOf = () => editor.mark();
  oracle.readsRecords((logId) => (wentBack ? undefined : readRecord(store, logId)));
  let workers: Worker[] = [];
  let shared: Gateway;

  const world: World = {
    store,
    steps,
    editor,
    oracle,
    random,
    options,
    now,
    changes: () => changes,
    wentBack: () => wentBack,
    mutations: () => store.data.mutations[EDITOR] ?? 0,
    newLogId: () => `op${++logIds}`,
    nextEpoch: (highest = 0) => {
      epoch = Math.max(epoch, highest) + 1;
      return epoch;
    },
    network: () => steps.park(wire),
    cutConnection: () => undefined,
    cancelAsked: (logId) => {
      for (const worker of workers) worker.cancelAsked(logId);
    },
    newGateway: () => createGateway(world),
    sharedGateway: () => shared,
  };
  shared = createGateway(world);
  const clients: Client[] = [
    createClient(world, "stdio", "local", "stdio"),
    createClient(world, "http", "local", "http"),
    createClient(world, "http", "another", "other"),
  ];

  /** Another owner; the one before dies, or finds out later. */
  const takeOver = (kill: boolean): void => {
    if (kill) for (const worker of workers.splice(0)) worker.kill();
    workers = [...workers, startWorker(world, `nonce-${++nonces}`)];
  };
  takeOver(true);

  const pass = (ms: number): void => {
    clock += ms;
    if (workers.some((worker) => worker.isConnected())) seenAt = clock;
  };

  /** What src/gateway/janitor.ts does. */
  const sweep = async (): Promise<void> => {
    const operations = operationsOf(store, world.network);
    for (const { logId } of await operations.openOf(EDITOR)) {
      await operations.change(logId, (record, at) => {
        const event = expiryOf(record, seenAt, at, EXPIRY_LIMITS);
        const state = event && next(record.state, event);
        if (state) return { record: { ...record, state, endedAt: at } };
        if (!isWaiting(record.state)) return undefined;
        addJob(store.data, record);
        return undefined;
      });
    }
  };

  /** The store as an older copy would bring it back: jobs under way are waiting in it. */
  const copyStore = (): void => {
    const copy = structuredClone(store.data);
    const { waiting, active } = queueOf(copy, EDITOR);
    copy.queues[EDITOR] = { waiting: [...active, ...waiting], active: [] };
    older = copy;
  };
  const goBack = (): void => {
    if (!older || wentBack) return;
    store.data = { ...older, incarnation: `store ${++incarnations}` };
    wentBack = true;
    takeOver(true);
  };

  const restart = (): void => {
    editor.restart();
    world.cutConnection();
  };
  const faults: readonly (() => void)[] = [
    () => takeOver(true),
    () => takeOver(false),
    () => {
      for (const worker of workers.slice(0, -1)) worker.end();
    },
    () => world.cutConnection(),
    restart,
    restart,
    () => {
      editor.reload();
      world.cutConnection();
    },
    () => {
      shared.kill();
      shared = createGateway(world);
      for (const client of clients) client.move();
    },
    () => random.pick(clients)?.connect(),
    copyStore,
    goBack,
    () => void sweep(),
  ];

  // Every history has its own habits: what never happens in one leaves room for what happens often.
  const stride = random.pick([1, 2, 5, 15]) ?? 1;
  const faultRate = random.pick([0, 2, 6]) ?? 0;
  const clockRate = random.pick([1, 5, 12]) ?? 1;
  const isPrompt = random.chance(0.6);
  const habits = faults.filter(() => random.chance(0.5));
  const players = random.chance(0.6) ? clients.filter((_one, index) => index === seed % 2) : clients;

  /** In a prompt history most of what is asked is answered and read before the next thing happens. */
  const hurry = async (client: Client | undefined): Promise<void> => {
    client?.deliver();
    for (let step = 0; step < 60; step += 1) {
      if (random.chance(0.1)) editor.work();
      if (random.int(200) < faultRate) random.pick(habits)?.();
      if (!(await steps.advance()) && !editor.work()) break;
    }
    client?.read();
  };
  const turn = async (): Promise<void> => {
    const client = random.pick(players);
    const chance = random.int(100);
    if (chance < 40 && !isPrompt) {
      for (let step = 0; step < stride && (await steps.advance()); step += 1);
      return;
    }
    if (chance < 54) {
      client?.act();
      if (isPrompt && random.chance(0.7)) await hurry(client);
    } else if (chance < 62) client?.deliver();
    else if (chance < 68) client?.deliverLate();
    else if (chance < 76) client?.read();
    else if (chance < 82) editor.work();
    else if (chance < 82 + clockRate) pass(random.pick([1_000, 15_000, 6 * 60_000, 6 * 60_000]) ?? 0);
    else if (chance < 82 + clockRate + faultRate) random.pick(habits)?.();
    else await steps.advance();
    await steps.settle();
  };

  const quiesce = async (): Promise<boolean> => {
    for (let turns = 0; turns < 3_000; turns += 1) if (!(await steps.advance())) return turns > 0;
    oracle.fail("it does not come to rest");
    return false;
  };

  /** Nothing fails any more: everything that was accepted comes to its end. */
  const rest = async (): Promise<void> => {
    takeOver(true);
    for (const client of clients) client.move();
    for (let round = 0, idle = 0; round < 60 && idle < 3; round += 1) {
      let moved = editor.work();
      for (const client of clients) {
        moved = !client.isQuiet() || moved;
        client.deliver();
        client.read();
      }
      moved = (await quiesce()) || moved;
      if (moved) idle = 0;
      else idle += 1;
      pass(61_000);
      const swept = sweep();
      await steps.settle();
      await quiesce();
      await swept;
    }
  };

  /** Judged when everything is at rest. */
  const judge = async (): Promise<void> => {
    for (const { logId, state } of allRecords(store))
      if (!isFinal(state)) oracle.fail(`${logId} stays ${state}`);
    for (const { operationId, outcome, readOnly } of editor.entries()) {
      const record = readRecord(store, operationId);
      if (!record || !outcome || readOnly) continue;
      // It ran, the store forgot that it was sent, and there it was cancelled or expired.
      if (wentBack && (record.state === "cancelled" || record.state === "expired")) continue;
      if (record.state !== outcome.status)
        oracle.fail(`${operationId} is ${record.state}, the Editor says ${outcome.status}`);
      const result = store.data.results[operationId];
      if (outcome.result !== undefined && result !== JSON.stringify(outcome.result))
        oracle.fail(`${operationId} has another result`);
    }
  };

  return {
    now,
    async run(): Promise<readonly string[]> {
      for (let at = 0; at < options.turns && oracle.faults().length === 0; at += 1) await turn();
      if (oracle.faults().length === 0) await rest();
      if (oracle.faults().length === 0) await judge();
      return oracle.faults();
    },
  };
}
