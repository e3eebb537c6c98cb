/**
 * The whole broker in one process, from real parts: a private Redis, BullMQ, TCP, gateways, workers and simulated
 * Editors. Whatever a test starts here is closed for it, and checked (aftermath.ts).
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterEach, beforeAll, beforeEach } from "vitest";
import type { Principals } from "../../../src/gateway/auth/authenticator.js";
import { createGateway, type Gateway, type GatewayOptions } from "../../../src/gateway/gateway.js";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import type { Caller, OperationRecord } from "../../../src/shared/operation/operation.js";
import type { NamedEditor } from "../../../src/shared/setting-values.js";
import type { RedisTarget } from "../../../src/shared/store/connect.js";
import { openStore, type Store } from "../../../src/shared/store/store.js";
import type { Log } from "../../../src/shared/telemetry.js";
import { createSimulatedEditor, type SimulatedEditor } from "../../../src/simulator/editor.js";
import type { SimulatedEditorOptions } from "../../../src/simulator/options.js";
import { createWorker, type Worker, type WorkerOptions } from "../../../src/worker/worker.js";
import { PATIENCE_MS } from "../eventually.js";
import { sharedTestRedis, type TestRedis } from "../redis/redis.js";
import { openResources, verify } from "./aftermath.js";
import { type Bench, createBench } from "./bench.js";
import { type Cable, forwarded, layCable } from "./cable.js";
import { type Client, clientOf } from "./client.js";

export { eventually } from "../eventually.js";

/** Short enough for tests, long enough for a machine whose cores are all busy. */
const WORKER: Partial<WorkerOptions> = {
  lease: { ttlMs: 4_000, renewMs: 100 },
  jobLockMs: 4_000,
  stalledCheckMs: 150,
  idleLookMs: 100,
  closeMs: 300,
  ackDelayMs: 30,
  retryMs: 20,
  cancelAgainMs: 100,
  lostEditorsMs: 100,
  discoveryPollMs: 100,
  heldRetryMs: 50,
  clientsRestMs: 20,
  healthCheckMs: 50,
  link: { backoff: { stepMs: 10, maxMs: 30 }, heartbeatTimeoutMs: 2_000, refusedRetryMs: 50 },
};

/** Of all workers. */
export const ORIGIN_KEY = Buffer.alloc(32, "key of tests");

/** One that dies in the test: others need not wait long for what it held. */
const MORTAL: Partial<WorkerOptions> = { lease: { ttlMs: 600, renewMs: 100 }, jobLockMs: 600 };

/** Nobody looks or sweeps by himself: what a test sees came by a message, or the test asked for it. */
const HOUR = 3_600_000;
/** Tests read what a program reads; test/system/mcp/answer-form.test.ts has the form for a model. */
const GATEWAY: Partial<GatewayOptions> = {
  answers: "full",
  safetyPollMs: HOUR,
  sweepMs: HOUR,
  // The process of a test does much beside: that it stands still is said where a test is about it.
  replay: { ...REPLAY_DEFAULTS, stallMs: HOUR },
};

export interface CabledWorker {
  worker: Worker;
  toRedis: Cable;
  toEditor: Cable;
  /** As SIGKILL would: every connection ends at this moment and none comes back. */
  crash(): void;
  /** As SIGSTOP would. */
  freeze(): void;
}

export interface System {
  redis: TestRedis;
  store: Store;
  gateway: Gateway;
  broker: Gateway["broker"];
  /** The first one. */
  editor: SimulatedEditor;
  bench: Bench;
  /** Raw access, as a dashboard or a person has it. */
  hand: Redis;
  warnings: string[];
  /** Where the workers write down what they sent to plain Editors. */
  sentFolder: string;
  /** Where the gateways note the known Editors. */
  knownEditorsFile: string;
  client(principal?: string, caller?: Caller | null): Client;
  addEditor(options?: SimulatedEditorOptions): Promise<SimulatedEditor>;
  /** `running`: the ids of the Editors that run on its machine. */
  addGateway(options?: Partial<GatewayOptions>, running?: () => Promise<string[]>): Promise<Gateway>;
  /** A gateway that reaches Redis by a cable that the test may cut. */
  addCabledGateway(options?: Partial<GatewayOptions>): Promise<{ gateway: Gateway; toRedis: Cable }>;
  /** One that starts after a plain Editor was added knows it. */
  addWorker(options?: Partial<WorkerOptions>): Promise<Worker>;
  /** On the gateway's own store, as the broker in the background and `up` have it; `on`: another gateway's. */
  addWorkerHere(options?: Partial<WorkerOptions>, on?: Store): Promise<Worker>;
  /** A worker that reaches Redis and this Editor by cables that the test may cut. */
  addCabledWorker(editor: SimulatedEditor, options?: Partial<WorkerOptions>): Promise<CabledWorker>;
  /** Resolves when the Editor is known, present and its tools are published. */
  present(editor: Pick<SimulatedEditor, "editorId">): Promise<void>;
  away(editor: Pick<SimulatedEditor, "editorId">): Promise<void>;
  record(logId: string): Promise<OperationRecord>;
  /** How often work of this name began, over all Editors. */
  executions(name: string): number;
}

export interface SystemOptions {
  retentionMs?: number;
  maxRunning?: number;
  resources?: Record<string, number>;
  maxQueued?: number;
  maxInQueue?: number;
  commandTimeoutMs?: number;
  resultsBudgetBytes?: number;
  clientLifeMs?: number;
  gateway?: Partial<GatewayOptions>;
  /** Left out: everybody may do everything. */
  principals?: Principals;
  /** Null: no worker yet. */
  worker?: Partial<WorkerOptions> | null;
  editor?: SimulatedEditorOptions;
  /** Where workers look for Editors with MCP for Unity. */
  unityMcpFolder?: string;
}

/**
 * Call it at the top of a test file: one Redis, one fresh system for each test that starts one. `given`: a
 * Redis of the test's own, that it starts before and stops after.
 */
export function useSystem(given?: () => TestRedis): {
  redis(): TestRedis;
  start(options?: SystemOptions): Promise<System>;
} {
  let ofFile: TestRedis;
  const redis = (): TestRedis => given?.() ?? ofFile;
  let resources: string[];
  const closers: (() => unknown)[] = [];
  const editors: SimulatedEditor[] = [];
  const warnings: string[] = [];

  beforeAll(async () => {
    if (!given) ofFile = await sharedTestRedis();
  });
  beforeEach(() => {
    resources = openResources();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") console.error(`${task.name}:\n${warnings.slice(-30).join("\n")}`);
    for (const close of closers.splice(0).reverse()) await close();
    try {
      await verify(redis(), editors.splice(0), resources);
    } finally {
      warnings.length = 0;
      await redis().flush();
    }
  });

  return {
    redis,
    start: (options = {}) => startSystem(redis(), options, { closers, editors, warnings }),
  };
}

async function startSystem(
  redis: TestRedis,
  options: SystemOptions,
  kept: { closers: (() => unknown)[]; editors: SimulatedEditor[]; warnings: string[] },
): Promise<System> {
  const { closers, warnings } = kept;
  const folder = mkdtempSync(join(tmpdir(), "ujb-system-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const knownEditorsFile = join(folder, "data", "known-editors.json");
  const retentionMs = options.retentionMs ?? 24 * HOUR;
  const { unityMcpFolder } = options;
  const bench = createBench();
  const named: NamedEditor[] = [];
  const log = logInto(warnings);

  const open = async (target: RedisTarget, commandTimeoutMs = 5_000): Promise<Store> => {
    const store = await openStore(target, {
      retentionMs,
      maxRunning: options.maxRunning ?? 5,
      resources: options.resources,
      maxQueued: options.maxQueued ?? 100,
      maxInQueue: options.maxInQueue ?? 1_000,
      ...(options.resultsBudgetBytes === undefined ? {} : { resultsBudgetBytes: options.resultsBudgetBytes }),
      ...(options.clientLifeMs === undefined ? {} : { clientLifeMs: options.clientLifeMs }),
      commandTimeoutMs: options.commandTimeoutMs ?? commandTimeoutMs,
      onError: (error) => warnings.push(`store: ${error.message}`),
    });
    closers.push(() => store.close());
    return store;
  };

  const hand = new Redis(redis.connection);
  hand.on("error", () => {
    // Its users learn of it.
  });
  closers.push(() => hand.disconnect());

  const startGateway = async (
    target: RedisTarget,
    given?: Partial<GatewayOptions>,
    running?: () => Promise<string[]>,
  ): Promise<Gateway> => {
    const store = await open(target);
    const gateway = createGateway(
      { store, log, knownEditorsFile, principals: options.principals, running },
      { ...GATEWAY, ...options.gateway, ...given },
    );
    closers.push(() => gateway.close());
    return gateway;
  };

  const startWorker = (store: Store, editorsFolder: string, given: Partial<WorkerOptions>): Worker => {
    const worker = createWorker(
      { store, log, editorsFolder, version: "0.0.0", named, originKey: ORIGIN_KEY, unityMcpFolder },
      { ...WORKER, ...options.worker, ...given },
    );
    closers.push(() => worker.close());
    return worker;
  };

  const addEditor: System["addEditor"] = async (given) => {
    let projectPath = `/projects/game-${kept.editors.length + 1}`;
    if (given?.plain) {
      // Only its project's own settings say where such an Editor listens.
      projectPath = realpathSync(mkdtempSync(join(folder, "game-")));
      named.push({ project: projectPath });
    }
    const editor = await createSimulatedEditor({
      projectPath,
      stateFolder: folder,
      port: 0,
      heartbeatMs: 100,
      progressIntervalMs: 10,
      reloadMs: 20,
      foreignSilenceMs: 100,
      ...given,
      tools: [...bench.tools, ...(given?.tools ?? [])],
    });
    kept.editors.push(editor);
    closers.push(() => editor.close());
    return editor;
  };

  const gateway = await startGateway(redis.connection);
  const { store, broker } = gateway;

  /** Woken by what Editors' owners publish. */
  const seen = (
    editor: Pick<SimulatedEditor, "editorId">,
    is: (isThere: boolean) => boolean,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = async (): Promise<void> => {
        const [known, tools] = await Promise.all([
          store.editors.find(editor.editorId),
          store.editors.tools(editor.editorId),
        ]);
        if (is(known?.live !== undefined && tools.length > 0)) done(resolve);
      };
      const done = (settle: () => void): void => {
        stop();
        clearTimeout(limit);
        settle();
      };
      const limit = setTimeout(() => done(() => reject(new Error("no notice of the Editor"))), PATIENCE_MS);
      const lookAgain = (): void => void look().catch(() => undefined);
      const stop = store.notifier.on("editors", lookAgain, lookAgain);
      look().catch((error: Error) => done(() => reject(error)));
    });

  const system: System = {
    redis,
    store,
    gateway,
    broker,
    bench,
    hand,
    warnings,
    sentFolder: join(folder, "editors", "sent"),
    knownEditorsFile,
    editor: await addEditor(options.editor),
    addEditor,
    addGateway: (given, running) => startGateway(redis.connection, given, running),
    client: (principal = "ann", caller = { id: `session of ${principal}`, transport: "http" }) =>
      clientOf(broker, principal, caller),

    async addCabledGateway(given) {
      const toRedis = await layCable(() => redis.connection);
      closers.push(() => toRedis.close());
      return { gateway: await startGateway({ host: "127.0.0.1", port: toRedis.port }, given), toRedis };
    },

    async addWorker(given = {}) {
      return startWorker(await open(redis.connection), join(folder, "editors"), given);
    },

    async addWorkerHere(given = {}, on = store) {
      return startWorker(on, join(folder, "editors"), given);
    },

    async addCabledWorker(editor, given = {}) {
      const toRedis = await layCable(() => redis.connection);
      const toEditor = await layCable(() => ({ host: "127.0.0.1", port: editor.port }));
      const own = join(folder, `by-cable-${toEditor.port}`);
      mkdirSync(own);
      const endpoint = forwarded(editor.endpoint(), toEditor);
      writeFileSync(join(own, "editor.json"), JSON.stringify(endpoint), { mode: 0o600 });
      closers.push(() => Promise.all([toRedis.close(), toEditor.close()]));
      const worker = startWorker(await open({ host: "127.0.0.1", port: toRedis.port }, 1_000), own, {
        ...MORTAL,
        ...given,
      });
      // A process that was crashed has nothing to close; this one must be able to: it wakes up, after the test.
      closers.push(() => {
        toRedis.fix();
        toEditor.fix();
      });
      return {
        worker,
        toRedis,
        toEditor,
        crash() {
          toRedis.cut();
          toEditor.cut();
        },
        freeze() {
          toRedis.hold();
          toEditor.hold();
        },
      };
    },

    present: (editor) => seen(editor, (isThere) => isThere),
    away: (editor) => seen(editor, (isThere) => !isThere),

    async record(logId) {
      const record = await store.operations.find(logId);
      if (!record) throw new Error(`no record of ${logId}`);
      return record;
    },

    executions: (name) =>
      kept.editors.flatMap((editor) => editor.counter()).filter(({ what }) => what === name).length,
  };
  if (options.worker !== null) {
    await system.addWorker();
    await system.present(system.editor);
  }
  return system;
}

function logInto(lines: string[]): Log {
  const line = (values: Record<string, unknown>, message: string): void => {
    lines.push(
      `${new Date().toISOString().slice(14)} ${message} ${inspect(values, { breakLength: Number.POSITIVE_INFINITY })}`,
    );
  };
  return { debug: line, info: line, warn: line, error: line };
}
