import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { DIAGNOSIS_LIMITS, type DiagnosisCode } from "../../../src/shared/editors/diagnosis.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { DIAGNOSIS_STANDS_MS } from "../../../src/shared/store/editors/editors.js";
import { PROTOCOL_VERSION } from "../../../src/shared/wire/wire.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { createConnection } from "../../../src/worker/transport/connection.js";
import { askProven } from "../../harness/editor/proof.js";
import { eventually } from "../../harness/eventually.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const diagnosis = { ...DIAGNOSIS_LIMITS, reloadMs: 100, stallMs: 300 };

/** Resolves when the owner of the Editor says so. */
async function says(
  { broker }: System,
  editor: Pick<SimulatedEditor, "editorId">,
  code: DiagnosisCode | undefined,
): Promise<void> {
  await eventually(async () => {
    const { editors, unreached } = await broker.editors();
    const known = editors.find(({ profile }) => profile.editorId === editor.editorId);
    const met = unreached.find((each) => each.editor === editor.editorId);
    return (known?.diagnosis ?? met)?.code === code;
  }, `the diagnosis ${code}`);
}

/** An Editor of which nothing is there but its endpoint file. */
function describeEditor({ editor }: System, changes: object) {
  const editorId = "shop@1";
  const endpoint = { ...editor.endpoint(), editorId, projectName: "Shop", ...changes };
  writeFileSync(join(dirname(editor.endpointFile), `${editorId}.json`), JSON.stringify(endpoint));
  return { editorId };
}

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

describe("an Editor that cannot be reached says why, in what its callers are told", () => {
  test("its process lives, but its bridge does not listen: said with what to do, and gone when it does", async () => {
    const system = await start({ worker: { diagnosis } });
    const { client, editor, away, bench } = system;
    const ann = client();
    await editor.faults.crash();
    await away(editor);
    const { record } = await ann.submit("work", { Name: "a" });
    await says(system, editor, "BRIDGE_NOT_LOADED");
    const reported = answerOf(await ann.until(record.logId, () => true));
    expect(reported.diagnosis?.code).toBe("BRIDGE_NOT_LOADED");
    expect(reported.message).toMatch(/its bridge has not listened.*fix compile errors/);
    expect(reported.message).toContain("Do not send the call again");
    expect(reported.message).not.toContain("it is reloading, restarting, or closed");

    await editor.faults.restart();
    const view = await ann.outcome(record.logId);
    expect(view.record.state).toBe("completed");
    expect(bench.begun).toEqual(["a"]);
    await says(system, editor, undefined);
  });

  test("another project took its port", async () => {
    const system = await start({ worker: { diagnosis } });
    const { editor, away, addEditor } = system;
    await editor.faults.crash();
    await away(editor);
    const rival = await addEditor({ port: editor.port });
    await says(system, editor, "WRONG_PROJECT");
    const { editors } = await system.broker.editors();
    const known = editors.find(({ profile }) => profile.editorId === editor.editorId);
    expect(known?.diagnosis?.message).toContain(rival.editorId);
    await says(system, rival, undefined);
  });

  test("one that answers with the right token and another name is another project, too", async () => {
    const system = await start({ worker: { diagnosis } });
    const shop = describeEditor(system, {});
    await says(system, shop, "WRONG_PROJECT");
  });

  test("its token is refused", async () => {
    const system = await start({ worker: { diagnosis } });
    const { editor } = system;
    writeFileSync(editor.endpointFile, JSON.stringify({ ...editor.endpoint(), token: "old" }));
    await says(system, editor, "PORT_NOT_PROVEN");
    writeFileSync(editor.endpointFile, JSON.stringify(editor.endpoint()));
    await says(system, editor, undefined);
  });

  test("it belongs to another broker", async () => {
    const system = await start({ worker: null, editor: { foreignSilenceMs: 3_600_000 } });
    const { editor, addWorker } = system;
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const foreign = createConnection({ host: "127.0.0.1", port: editor.port, log, onNotification() {} });
    closers.push(() => foreign.close());
    const names = { storeId: "another", brokerId: "b", workerId: "w", version: "1" };
    const fence = { epoch: 1, ownerNonce: "n" };
    await askProven(foreign, editor, "bridge/hello", { protocol: PROTOCOL_VERSION, ...names, ...fence });
    await addWorker({ diagnosis });
    await says(system, editor, "FOREIGN_BROKER");
    editor.handOver();
    await says(system, editor, undefined);
  });

  test("something else listens on its port", async () => {
    const system = await start({ worker: { diagnosis } });
    const server = createServer((_request, response) => response.end());
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const shop = describeEditor(system, { port: await listen(server) });
    await says(system, shop, "PORT_TAKEN");
  });

  test("it does not answer any more", async () => {
    const system = await start({
      worker: { diagnosis, link: { backoff: { stepMs: 10, maxMs: 30 }, heartbeatTimeoutMs: 400 } },
    });
    system.editor.faults.silence();
    await says(system, system.editor, "EDITOR_SILENT");
    system.editor.faults.speak();
    await says(system, system.editor, undefined);
  });

  test("its file says Safe Mode: a call finds no Editor, and is told why", async () => {
    const system = await start({ worker: null });
    const { client, addWorker, editor } = system;
    const shop = describeEditor(system, { port: await closedPort(), phase: "safe_mode" });
    await editor.close();
    await addWorker({ diagnosis });
    await says(system, shop, "SAFE_MODE");
    const refused = client().submit("work", { Name: "a" });
    await expect(refused).rejects.toMatchObject({
      code: "NO_EDITOR",
      message: expect.stringMatching(/Shop is in Safe Mode.*leave Safe Mode.*Nothing was executed/s),
    });
  });

  test("what nobody tells any more is not believed: its worker may have died", async () => {
    const { store, broker, editor } = await start();
    const now = await store.operations.now();
    const reported = { code: "SAFE_MODE", message: "It is.", next: "Leave it.", project: "Shop" } as const;
    await store.editors.reportDiagnosis(editor.editorId, { ...reported, at: now - DIAGNOSIS_STANDS_MS });
    await store.editors.reportDiagnosis("shop@1", { ...reported, at: now - DIAGNOSIS_STANDS_MS });
    const { editors, unreached } = await broker.editors();
    expect([editors[0]?.diagnosis, unreached]).toEqual([undefined, []]);
  });

  test("a worker that ends takes back what it said", async () => {
    const system = await start({ worker: null });
    const shop = describeEditor(system, { port: await closedPort(), phase: "compile_errors" });
    const worker = await system.addWorker({ diagnosis });
    await says(system, shop, "COMPILE_ERRORS");
    await worker.close();
    expect(await system.store.editors.diagnoses()).toEqual(new Map());
  });
});

describe("an Editor that is connected and does not get on", () => {
  test("its main thread is held although nothing runs: a dialog may be open; afterwards the call runs once", async () => {
    const system = await start({ worker: { diagnosis } });
    const { client, editor, bench } = system;
    const ann = client();
    editor.faults.stallMainThread(2_000);
    const { record } = await ann.submit("work", { Name: "a" });
    await says(system, editor, "MODAL_DIALOG");
    const reported = answerOf(await ann.until(record.logId, () => true));
    expect(reported.message).toMatch(/modal dialog may be open.*answer the dialog/);
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(bench.begun).toEqual(["a"]);
    await says(system, editor, undefined);
  });

  test("an operation that holds the main thread within its time gets no diagnosis", async () => {
    const system = await start({ worker: { diagnosis } });
    const { client, editor, bench, store, broker } = system;
    const ann = client();
    const { record } = await ann.submit("work", { Name: "long", Hold: true });
    await bench.begins("long");
    await eventually(
      async () => ((await store.editors.find(editor.editorId))?.live?.mainThreadStallMs ?? 0) > 800,
      "a stall beyond the limit was told",
    );
    expect((await broker.editors()).editors.map(({ diagnosis }) => diagnosis)).toEqual([undefined]);
    expect(answerOf(await ann.until(record.logId, () => true)).message).toContain("It is running");
    bench.finish("long");
    await ann.outcome(record.logId);
  });
});
