/** A chain alone is lost: what it said is put back from the records, since one Editor of a pool knows nothing of another's (▲13). */
import { describe, expect, test } from "vitest";
import { createDeliveries } from "../../../src/gateway/exchange.js";
import { keys, TOMBSTONE_MS } from "../../../src/shared/store/keys.js";
import { linksOf } from "../../../src/shared/store/operations/operation-store.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

async function farm() {
  const system = await start({ editor: { labels: ["android"] } });
  const second = await system.addEditor({ labels: ["android"] });
  await Promise.all([system.present(system.editor), system.present(second)]);
  return { ...system, second, ann: system.client() };
}

const KEYED = { ...POOL, idempotency_key: "build 7" };

test.each([
  ["a call with a key", KEYED],
  ["any call", POOL],
])("%s that waits in a pool is joined", async (_, options) => {
  const { ann, bench, editor, second, hand, executions } = await farm();
  for (const { editorId } of [editor, second]) {
    await ann.submit("work", { Name: `holds ${editorId}`, Hold: true }, { editor: editorId });
    await bench.begins(`holds ${editorId}`);
  }
  const { record } = await ann.submit("work", { Name: "a" }, options);
  await hand.del(keys.chain(record.hash));
  const again = await ann.submit("work", { Name: "a" }, options);
  expect(again).toMatchObject({ relation: "joined", record: { logId: record.logId } });
  for (const { editorId } of [editor, second]) bench.finish(`holds ${editorId}`);
  await ann.outcome(record.logId);
  expect(executions("a")).toBe(1);
});

test("a key still names its run while the other Editor is the idle one, however often the chain is lost", async () => {
  const { ann, bench, editor, second, hand, executions, record: recordOf } = await farm();
  const { record } = await ann.submit("work", { Name: "a" }, KEYED);
  await ann.outcome(record.logId);
  const ranIn = (await recordOf(record.logId)).editor;
  await ann.submit("work", { Name: "holds", Hold: true }, { editor: ranIn });
  await bench.begins("holds");
  for (let times = 0; times < 2; times += 1) {
    await hand.del(keys.chain(record.hash));
    const again = await ann.submit("work", { Name: "a" }, KEYED);
    expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
  }
  bench.finish("holds");
  expect([editor, second].map(({ editorId }) => editorId)).toContain(ranIn);
  expect(executions("a")).toBe(1);
});

test("what is put back is what the chain said: each target's newest, what began, what was forced, and a version that grows", async () => {
  const { ann, bench, broker, editor, second, hand } = await farm();
  const first = await ann.submit("work", { Name: "a" }, POOL);
  await ann.outcome(first.record.logId);
  const force = { ...POOL, force_new: first.record.logId };
  const third = await ann.submit("work", { Name: "a" }, force);
  await ann.outcome(third.record.logId);
  for (const { editorId } of [editor, second]) {
    await ann.submit("work", { Name: `holds ${editorId}`, Hold: true }, { editor: editorId });
    await bench.begins(`holds ${editorId}`);
  }
  const fourth = await ann.submit("work", { Name: "a" }, { ...POOL, force_new: third.record.logId });
  await broker.cancel("ann", fourth.record.logId, ann.caller);
  const key = keys.chain(first.record.hash);
  const chain = async () => JSON.parse((await hand.get(key)) ?? "");
  const { version, ...links } = await chain();
  const records = await Promise.all(
    [first, third, fourth].map(async ({ record }) => {
      const found = await broker.look("ann", record.logId);
      return typeof found === "object" ? found.record : record;
    }),
  );
  expect(linksOf(records)).toEqual(links);
  await hand.del(key);
  const again = await ann.submit("work", { Name: "a" }, force);
  expect(again).toMatchObject({ relation: "replayed", record: { logId: third.record.logId } });
  expect(Number((await chain()).version)).toBeGreaterThan(Number(version));
  for (const { editorId } of [editor, second]) bench.finish(`holds ${editorId}`);
});

test("a hash whose records are gone by now begins a chain of its own", async () => {
  const { ann, hand } = await farm();
  const { record } = await ann.submit("work", { Name: "a" }, KEYED);
  await ann.outcome(record.logId);
  // Its retention has ended.
  await hand.pexpire(keys.tombstone(record.logId), TOMBSTONE_MS);
  await hand.del(keys.chain(record.hash), keys.operation(record.logId));
  const again = await ann.submit("work", { Name: "a" }, KEYED);
  expect(again.relation).toBe("created");
});

test("of what was put back, the newest answers, as when an Editor's ledger is imported", async () => {
  const { ann, record: recordOf } = await farm();
  const { record } = await ann.submit("work", { Name: "a" }, POOL);
  await ann.outcome(record.logId);
  const known = await recordOf(record.logId);
  const restored = { ...known, order: 0, rebuilt: true as const };
  const older = { ...restored, logId: "older", acceptedAt: known.acceptedAt - 1 };
  const cancelled = { ...known, logId: "cancelled", order: 12, state: "cancelled" as const };
  const { startedAt: _never, dispatchedAt: _nor, sentIn: _in, ...unsent } = cancelled;
  expect(linksOf([unsent, restored, older])).toMatchObject({
    newest: "cancelled",
    [`at:${POOL.editor}`]: "cancelled",
    [`began:${POOL.editor}`]: record.logId,
  });
});

test("three calls to three pools are three runs, whichever Editor takes them", async () => {
  const system = await start({ editor: { labels: ["a", "c"] } });
  const second = await system.addEditor({ labels: ["b"] });
  await Promise.all([system.present(system.editor), system.present(second)]);
  const ann = system.client();
  const both = [system.editor, second].map(({ editorId }) => editorId);
  for (const editor of both) {
    await ann.submit("work", { Name: `holds ${editor}`, Hold: true }, { editor });
    await system.bench.begins(`holds ${editor}`);
  }
  const logIds: string[] = [];
  for (const label of ["a", "b", "c"]) {
    const { relation, record } = await ann.submit("work", { Name: "x" }, { editor: `pool:${label}` });
    expect(relation).toBe("created");
    logIds.push(record.logId);
  }
  for (const editor of both) system.bench.finish(`holds ${editor}`);
  for (const logId of logIds) await ann.outcome(logId);
  expect(system.executions("x")).toBe(3);
});

describe("with the chain a record is lost too", () => {
  test("what ran in the Editor that is busy now is not run by the other one", async () => {
    const { ann, bench, hand, executions, record: recordOf } = await farm();
    const { record } = await ann.submit("work", { Name: "a" }, POOL);
    // Nobody has been told its outcome.
    await eventually(async () => (await recordOf(record.logId)).state === "completed", "it has run");
    const { editor } = await recordOf(record.logId);
    await ann.submit("work", { Name: "holds", Hold: true }, { editor });
    await bench.begins("holds");
    await hand.del(keys.chain(record.hash), keys.operation(record.logId));
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "a" }, POOL));
    bench.finish("holds");
    await ann.outcome(again.record.logId);
    expect(executions("a")).toBe(1);
  });

  test("what an Editor puts back does not stand for the chain: the newer one answers that the other Editor ran", async () => {
    const { ann, bench, broker, hand, executions, record: recordOf, store } = await farm();
    const read = (logId: string) =>
      createDeliveries(store.operations).delivered(ann.caller, logId, { isRead: true });
    const { record: older } = await ann.submit("work", { Name: "a" }, POOL);
    await ann.outcome(older.logId);
    await read(older.logId);
    const { editor } = await recordOf(older.logId);
    await ann.submit("work", { Name: "holds", Hold: true }, { editor });
    await bench.begins("holds");
    const { record: newer } = await ann.submit("work", { Name: "a" }, POOL);
    await ann.outcome(newer.logId);
    expect((await recordOf(newer.logId)).editor).not.toBe(editor);
    await hand.del(keys.chain(older.hash), keys.operation(older.logId));
    await eventually(async () => {
      const found = await broker.look("ann", older.logId);
      return typeof found === "object" && found.record.state === "completed";
    }, "it is put back");
    await read(older.logId);
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "a" }, POOL));
    expect(again).toMatchObject({ relation: "replayed", record: { logId: newer.logId } });
    bench.finish("holds");
    expect(executions("a")).toBe(2);
  });
});

test.each([
  ["a call with a key", KEYED],
  ["any call", POOL],
])("%s whose record alone is lost waits for the Editor that ran it, which is closed", async (_, options) => {
  const system = await farm();
  const { ann, hand, executions, record: recordOf } = system;
  const { record } = await ann.submit("work", { Name: "a" }, options);
  await ann.outcome(record.logId);
  const ranIn = (await recordOf(record.logId)).editor;
  const [itself] = [system.editor, system.second].filter(({ editorId }) => editorId === ranIn);
  await itself?.close();
  await system.away({ editorId: ranIn });
  await hand.del(keys.operation(record.logId));
  await expect(ann.submit("work", { Name: "a" }, options)).rejects.toMatchObject({
    code: "EDITORS_NOT_BACK",
  });
  expect(executions("a")).toBe(1);
});
