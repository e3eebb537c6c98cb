/** An Editor that another broker holds: said, and handed over by a person only. */
import { afterEach, describe, expect, test } from "vitest";
import { HandOverAnswer, PROTOCOL_VERSION } from "../../../src/shared/wire/wire.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { type Connection, createConnection } from "../../../src/worker/transport/connection.js";
import { askProven } from "../../harness/editor/proof.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

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

    const taken = await claim(editor, store.storeId);
    expect(taken).toEqual({ boundTo: store.storeId, before: "another", open: [] });
    expect(await other.closed).toBe("peer_closed");
    await present(editor);
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
    // The other broker comes back, and is now the one that is told.
    await expect(held(system)).rejects.toMatchObject({ code: -32019, data: { boundTo: store.storeId } });
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
    await expect(claim(editor, store.storeId)).rejects.toMatchObject({
      code: -32019,
      data: { boundTo: "another", open: [{ operationId: "theirs", state: "running" }] },
    });
    const taken = await claim(editor, store.storeId, { force: true });
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
    const taken = await claim(editor, store.storeId);
    expect(taken).toEqual({ boundTo: store.storeId, before: store.storeId, open: [] });
    bench.finish("a");
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  });
});
