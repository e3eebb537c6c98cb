/** An Editor that another broker holds: said, and handed over by a person only. */
import { hostname } from "node:os";
import { dirname } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createGateway } from "../../../src/gateway/gateway.js";
import { showProgress } from "../../../src/gateway/mcp/progress-notifier.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { openStore } from "../../../src/shared/store/store.js";
import { HandOverAnswer, PROTOCOL_VERSION } from "../../../src/shared/wire/wire.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { type Connection, createConnection } from "../../../src/worker/transport/connection.js";
import { createWorker } from "../../../src/worker/worker.js";
import { askProven } from "../../harness/editor/proof.js";
import { startTestRedis } from "../../harness/redis/redis.js";
import { clientOf } from "../../harness/system/client.js";
import { eventually, ORIGIN_KEY, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const log = { debug() {}, info() {}, warn() {}, error() {} };
const HOUR = 3_600_000;

async function dial(editor: SimulatedEditor): Promise<Connection> {
  const line = createConnection({ host: "127.0.0.1", port: editor.port, log, onNotification() {} });
  closers.push(() => line.close());
  await line.opened;
  return line;
}

/** Another broker, which holds the Editor; with `open`, something that waits there for ever. */
async function held(system: System, { open = false } = {}): Promise<Connection> {
  const { editor } = system;
  const line = await dial(editor);
  const names = { storeId: "another", brokerId: "b", workerId: "w", version: "1" };
  const fence = { epoch: 7, ownerNonce: "n" };
  const said = { protocol: PROTOCOL_VERSION, ...names, ...fence };
  const hello = (await askProven(line, editor, "bridge/hello", said)) as { ledgerId: string };
  if (open) {
    const work = { tool: "work", arguments: { Name: "theirs", Hold: true }, argumentsHash: "x", hash: "h" };
    const origin = { principal: "p", tool: "work", fingerprint: "f" };
    await line.request("operation/submit", {
      operationId: "theirs",
      after: null,
      origin,
      acceptedAt: Date.now(),
      ledgerId: hello.ledgerId,
      ...work,
      ...fence,
    });
    await system.bench.begins("theirs");
  }
  return line;
}

const claim = async (editor: SimulatedEditor, storeId: string, more: object = {}) => {
  const line = await dial(editor);
  return HandOverAnswer.parse(await askProven(line, editor, "bridge/hand_over", { storeId, ...more }));
};

const diagnose = async ({ broker, editor }: System) => {
  const { editors, unreached } = await broker.editors();
  const known = editors.find(({ profile }) => profile.editorId === editor.editorId);
  return known?.diagnosis ?? unreached.find((each) => each.editor === editor.editorId);
};

/** Another broker, with a store of its own, which finds the same Editors. */
async function secondBroker({ sentFolder }: System) {
  const redis = await startTestRedis();
  closers.push(() => redis.stop());
  const open = {
    retentionMs: HOUR,
    maxRunning: 5,
    maxQueued: 100,
    maxInQueue: 1_000,
    commandTimeoutMs: 5_000,
  };
  const store = await openStore(redis.connection, { ...open, onError() {} });
  closers.push(() => store.close());
  const gateway = createGateway({ store, log }, { answers: "full", safetyPollMs: 20 });
  closers.push(() => gateway.close());
  return {
    ...gateway,
    ann: clientOf(gateway.broker, "ann", { id: "ann's", transport: "http" }),
    addWorker() {
      const worker = createWorker(
        { store, log, editorsFolder: dirname(sentFolder), version: "2.0.0", originKey: ORIGIN_KEY },
        { healthCheckMs: 20, link: { backoff: { stepMs: 10, maxMs: 30 }, refusedRetryMs: 20 } },
      );
      closers.push(() => worker.close());
      return worker;
    },
  };
}

const held1h = () => start({ worker: null, editor: { foreignSilenceMs: HOUR } });

describe("an Editor of another broker", () => {
  test("says who holds it and what to do; handed over, it works for this one, and no more for the other", async () => {
    const system = await held1h();
    const { editor, present, client, store, executions } = system;
    const other = await held(system);
    await system.addWorker();
    await eventually(
      async () => (await diagnose(system))?.code === "FOREIGN_BROKER",
      "the diagnosis is told",
    );
    const diagnosis = await diagnose(system);
    expect(diagnosis?.message).toMatch(/store another, since 20\d\d-/);
    expect(diagnosis?.next).toMatch(/unity-broker editors claim/);

    const taken = await claim(editor, store.storeId());
    expect(taken).toEqual({ boundTo: store.storeId(), before: "another", open: [] });
    expect(await other.closed).toBe("peer_closed");
    await present(editor);
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
    // The other broker comes back, and is now the one that is told.
    await expect(held(system)).rejects.toMatchObject({ code: -32019, data: { boundTo: store.storeId() } });
  });

  test("stays with the broker that is connected to it, however idle; the other is told who that is, and its calls with it", async () => {
    // Free in the moment in which its owner is gone.
    const system = await start({ worker: null, editor: { foreignSilenceMs: 0 } });
    const { editor, client, executions } = system;
    const one = await system.addWorker();
    await system.present(editor);
    const two = await secondBroker(system);
    const worker = two.addWorker();
    const unreached = async () => (await two.broker.editors()).unreached[0];
    await eventually(async () => (await unreached()) !== undefined, "the second broker is told");
    const owner = `process ${process.pid} on ${hostname()}, version 0.0.0, store ${system.store.storeId()}, since `;
    expect((await unreached())?.message).toContain(owner);
    expect((await unreached())?.message).toContain("which is connected to it now, and accepts calls only");
    expect((await unreached())?.next).toContain('`unity-broker editors claim "game-1"`');
    await expect(two.ann.submit("work", { Name: "theirs" })).rejects.toMatchObject({
      code: "NO_EDITOR",
      message: expect.stringContaining(owner),
    });
    const ann = client();
    for (const name of ["a", "b", "c"]) {
      const { record } = await ann.submit("work", { Name: name });
      expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    }

    // It stops: the other has the Editor, and the first one, when it is back, is told.
    await one.close();
    await eventually(
      async () => (await two.broker.editors()).editors[0]?.connected === true,
      "the other has it",
    );
    const theirs = await two.ann.submit("work", { Name: "theirs" });
    expect((await two.ann.outcome(theirs.record.logId)).record.state).toBe("completed");
    await system.addWorker();
    await eventually(async () => (await diagnose(system))?.code === "FOREIGN_BROKER", "the first is told");
    const { record } = await ann.submit("work", { Name: "ours" });
    const waiting = await ann.until(record.logId, ({ diagnosis }) => diagnosis?.code === "FOREIGN_BROKER");
    const said: string[] = [];
    const progress = showProgress(({ message }) => said.push(message), { everyMs: HOUR, minMs: 0 });
    progress.update(waiting);
    await eventually(() => said.length > 0, "its client is told");
    progress.close();
    for (const text of [answerOf(waiting).message, said[0]]) {
      expect(text).toContain(`process ${process.pid} on ${hostname()}, version 2.0.0, store `);
      expect(text).toContain("unity-broker editors claim");
    }

    // What waited runs as soon as its broker has the Editor.
    await worker.close();
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(["ours", "theirs"].map(executions)).toEqual([1, 1]);
  });

  test("is waited for by a first list until it is known whose it is, and no longer", async () => {
    const system = await start({ worker: null });
    const { editor } = system;
    await held(system);
    const { broker } = await system.addGateway({ firstContactMs: HOUR }, async () => [editor.editorId]);
    const listed = broker.tools();
    await system.addWorker();
    expect(await listed).toEqual([]);
    await expect(broker.submit(system.client().callOf("work", { Name: "a" }))).rejects.toMatchObject({
      code: "NO_EDITOR",
      message: expect.stringContaining("belongs to another broker (b, version 1, store another, "),
    });
  });

  test("says to a call that has waited in vain whose it is", async () => {
    const limits = { absentMs: 0, unsentMs: HOUR, sentMs: HOUR };
    const system = await start({ gateway: { limits }, editor: { foreignSilenceMs: 0 }, worker: null });
    const { editor, client, gateway } = system;
    const worker = await system.addWorker();
    await system.present(editor);
    await worker.close();
    await held(system);
    await system.addWorker();
    await eventually(async () => (await diagnose(system))?.code === "FOREIGN_BROKER", "the diagnosis");
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await gateway.sweep();
    const { state, error } = (await ann.outcome(record.logId)).record;
    expect(state).toBe("expired");
    expect(error?.message).toMatch(
      /belongs to another broker \(b, version 1, store another, .*editors claim/,
    );
  });

  test("is not handed over without its token, and the connection ends", async () => {
    const system = await held1h();
    const other = await held(system);
    const line = await dial(system.editor);
    await expect(
      askProven(line, { port: system.editor.port, token: "wrong" }, "bridge/hand_over", {
        storeId: "mine",
        force: true,
      }),
    ).rejects.toMatchObject({ code: -32010 });
    await line.closed;
    await other.request("operation/list", {});
  });

  test("is not handed over while something of the other is open there, unless forced; that goes on", async () => {
    const system = await held1h();
    const { editor, bench, store } = system;
    await held(system, { open: true });
    await expect(claim(editor, store.storeId())).rejects.toMatchObject({
      code: -32019,
      data: { boundTo: "another", open: [{ operationId: "theirs", state: "running" }] },
    });
    const taken = await claim(editor, store.storeId(), { force: true });
    expect(taken.open).toMatchObject([{ operationId: "theirs" }]);
    await system.addWorker();
    await system.present(editor);
    bench.finish("theirs");
    await eventually(() => editor.status().open.length === 0, "it went on");
    expect(system.executions("theirs")).toBe(1);
  });

  test("that is this broker's already stays so, and its connection with it", async () => {
    const system = await start();
    const { editor, store, bench, client } = system;
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await bench.begins("a");
    const taken = await claim(editor, store.storeId());
    expect(taken).toEqual({ boundTo: store.storeId(), before: store.storeId(), open: [] });
    bench.finish("a");
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  });
});
