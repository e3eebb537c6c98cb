/** An Editor's owner: the real operations over a connection that may break before, during and after every message. */
import { createRecoverySeal } from "../../../src/shared/operation/recover.js";
import { encodeResult } from "../../../src/shared/store/operations/record.js";
import type { Store } from "../../../src/shared/store/store.js";
import type { Log } from "../../../src/shared/telemetry.js";
import { EDITOR_CODES, type SubmitParams } from "../../../src/shared/wire/wire.js";
import type { EditorPort } from "../../../src/worker/execution/executor-deps.js";
import { createOutcomeListeners, started } from "../../../src/worker/execution/outcome.js";
import { createOwnedOperations, createUnderWay } from "../../../src/worker/owner/owned-operations.js";
import { otherOperation } from "../../../src/worker/recovery/other-operation.js";
import { rebuildRecords } from "../../../src/worker/recovery/rebuild.js";
import { ConnectionLost } from "../../../src/worker/transport/disconnect.js";
import { Refused } from "./editor.js";
import { endJob, giveBack, queueOf } from "./queue.js";
import type { Life } from "./schedule.js";
import { operationsOf } from "./store.js";
import { EDITOR, TOOLS, type World } from "./world.js";

interface Connection {
  alive: boolean;
  session: string;
  lost: Promise<never>;
  cut(): void;
}

export type Worker = ReturnType<typeof startWorker>;

/** Takes the Editor's lease and works until it is killed, or learns that it lost the lease. */
export function startWorker(world: World, ownerNonce: string) {
  const { store, steps, editor } = world;
  const life: Life = { dead: false };
  const step = (): Promise<void> => steps.park(life);
  const operations = operationsOf(store, step, () => world.random.chance(0.05));
  const follows = createOutcomeListeners();
  /** The parts of the store that restoring looks at. */
  const rebuildDeps = {
    store: {
      operations,
      editors: { tools: async () => Object.values(TOOLS), ids: async () => [EDITOR] },
      pools: { ids: async () => [] },
    } as never as Store,
    log: { warn: () => undefined } as never as Log,
    seal: createRecoverySeal(Buffer.alloc(32), EDITOR),
  };
  const ending = new AbortController();
  const underWay = createUnderWay();
  let fence = { epoch: world.nextEpoch(), ownerNonce };
  let connection: Connection | undefined;
  /** ▲13 Nothing is claimed in another incarnation of the store. */
  let importedIn = "";
  /** Another owner was here: the Editor hears nothing more from this one. */
  let isFenced = false;
  store.data.leases[EDITOR] = ownerNonce;

  const connect = async (): Promise<void> => {
    let rejectLost: (error: Error) => void = () => undefined;
    const lost = new Promise<never>((_resolve, reject) => {
      rejectLost = reject;
    });
    lost.catch(() => undefined);
    const mine: Connection = {
      alive: true,
      session: editor.session(),
      lost,
      cut() {
        mine.alive = false;
        if (connection === mine) connection = undefined;
        rejectLost(new ConnectionLost("reset", true));
        follows.lost(new ConnectionLost("reset", true));
      },
    };
    try {
      editor.hello(fence);
    } catch (error) {
      // ▲10 (a) Only the lease holder raises the epoch.
      const holds = store.data.leases[EDITOR] === ownerNonce;
      isFenced = !holds;
      if (holds) fence = { epoch: world.nextEpoch((error as Refused).highestEpoch), ownerNonce };
      return;
    }
    world.cutConnection();
    connection = mine;
    world.cutConnection = mine.cut;
    editor.seat((event, { operationId, outcome }) => {
      void world.network().then(async () => {
        if (!mine.alive || life.dead) return;
        if (event === "finished" && outcome) follows.finished(operationId, outcome);
        else await operations.change(operationId, started, ownerNonce).catch(() => undefined);
      });
    });
    importedIn = await rebuild();
    await owned.resume(editor.helloResult());
  };

  const rebuild = (): Promise<string> =>
    rebuildRecords(
      {
        ...rebuildDeps,
        editorId: EDITOR,
        storeIds: ["store"],
        // No other Editor could run it.
        epoch: { isFresh: () => true, renew: async () => true },
        onRunning: (logId) => void operations.change(logId, started, ownerNonce).catch(() => undefined),
      },
      editor.helloResult(),
      { list: editor.list, get: async (operationId) => editor.get(operationId) },
      ownerNonce,
    );

  /** The request may be lost on the way, or arrive after its sender is gone; so may the answer. */
  const ask = async <T>(handle: () => T): Promise<T> => {
    const used = connection;
    if (!used) throw new ConnectionLost("not_ready", false);
    await step();
    if (!used.alive) throw new ConnectionLost("reset", false);
    const answered = world.network().then(() => {
      if (editor.session() !== used.session) return new Promise<never>(() => undefined);
      return handle();
    });
    const received = answered.finally(() => world.network());
    received.catch(() => undefined);
    return Promise.race([received, used.lost]);
  };

  const port: EditorPort = {
    ready: (signal) => steps.park(life, () => connection !== undefined || signal.aborted),
    session: () => connection?.session,
    submit: (params) => {
      const whole: SubmitParams = { ...params, ...fence, ledgerId: editor.ledgerId };
      return ask(() => editor.submit(whole));
    },
    get: (operationId) => ask(() => editor.get(operationId)),
    revoke: (operationId) => ask(() => editor.revoke(operationId)),
    result: async (_operationId, { result }) => {
      await step();
      return result === undefined ? undefined : encodeResult(result);
    },
    refusal: (error) =>
      error instanceof Refused && error.code !== EDITOR_CODES.FENCED
        ? { code: error.code, message: error.message }
        : undefined,
    wasSent: (error) => !(error instanceof ConnectionLost) || error.sent,
    isLeaving: () => false,
    follow: follows.follow,
    mark: () => undefined,
  };

  const passOnCancel = async (logId: string): Promise<void> => {
    const answer = await ask(() => editor.cancel(logId));
    await operations.change(logId, (record) =>
      record.cancel && !record.cancel.answer
        ? { record: { ...record, cancel: { ...record.cancel, answer } } }
        : undefined,
    );
  };
  const owned = createOwnedOperations(
    {
      editorId: EDITOR,
      storeId: () => "store",
      seal: rebuildDeps.seal,
      operations,
      editor: port,
      fence: ownerNonce,
      otherOperation: (record, answer, session) =>
        otherOperation({ ...rebuildDeps, editorId: EDITOR, fence: ownerNonce }, record, answer, session),
      imports: {
        importedIn: () => importedIn,
        async importNow() {
          importedIn = await rebuild();
          return editor.helloResult();
        },
      },
      underWay,
      signal: ending.signal,
      isPaused: async () => false,
      acknowledge: () => undefined,
      acknowledgeNamed: async () => undefined,
      evidence: async () => ({}),
      wasCancelAnnounced: () => true,
      passOnCancel: (record) => void passOnCancel(record.logId).catch(() => undefined),
      pause: step,
      awaitResultQuota: step,
      log: { debug: () => undefined, warn: () => undefined },
    },
    {},
  );

  /** BullMQ gives a job that was not completed to the next worker. */
  const consume = async (): Promise<void> => {
    for (;;) {
      await steps.park(life, () => ending.signal.aborted || queueOf(store.data, EDITOR).waiting.length > 0);
      if (ending.signal.aborted || life.dead) return;
      const queue = queueOf(store.data, EDITOR);
      const job = queue.waiting.shift();
      if (!job) continue;
      queue.active.push({ ...job, by: ownerNonce });
      const processed = await owned.process(job.logId, { id: job.id, lane: "main" });
      if (processed === "handed_over") giveBack(store.data, EDITOR, ownerNonce, job.id);
      else endJob(store.data, EDITOR, job.id);
    }
  };
  const stayConnected = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await steps.park(life, () => ending.signal.aborted || (connection === undefined && !isFenced));
      if (!ending.signal.aborted) await connect().catch(() => undefined);
    }
    connection?.cut();
  };
  void consume();
  void stayConnected();

  return {
    isConnected: () => connection !== undefined,
    cancelAsked: (logId: string) => {
      if (underWay.isOwn(logId)) void passOnCancel(logId).catch(() => undefined);
    },
    /** It learns that another holds the lease. */
    end: () => ending.abort(),
    kill(): void {
      life.dead = true;
      connection?.cut();
      giveBack(store.data, EDITOR, ownerNonce);
    },
  };
}
