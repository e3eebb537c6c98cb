/** A chain alone is lost: what it said is put back from the records, since one Editor of a pool knows nothing of another's (▲13). */
import { expect, test } from "vitest";
import { keys, TOMBSTONE_MS } from "../../../src/shared/store/keys.js";
import { linksOf } from "../../../src/shared/store/operations/operation-store.js";
import { useSystem } from "../../harness/system/system.js";

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
  const { ann, broker, hand } = await farm();
  const first = await ann.submit("work", { Name: "a" }, POOL);
  await ann.outcome(first.record.logId);
  const force = { ...POOL, force_new: first.record.logId };
  const third = await ann.submit("work", { Name: "a" }, force);
  await ann.outcome(third.record.logId);
  const fourth = await ann.submit("work", { Name: "a" }, { ...POOL, force_new: third.record.logId });
  await broker.cancel("ann", fourth.record.logId, ann.caller);
  const key = keys.chain(first.record.hash);
  const { version, ...links } = await hand.hgetall(key);
  const records = await Promise.all(
    [first, third, fourth].map(async ({ record }) => {
      const found = await broker.look("ann", record.logId);
      return typeof found === "object" ? found.record : record;
    }),
  );
  const { version: again, ...put } = linksOf(records);
  expect(put).toEqual(links);
  expect(Number(again)).toBeLessThanOrEqual(Number(version));
  expect(Number(again)).toBeGreaterThanOrEqual(Math.max(...records.map(({ order }) => order)));
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
