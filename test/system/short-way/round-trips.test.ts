/** What a call costs in scripts: counted, because a time says nothing beside other tests. */
import { expect, test } from "vitest";
import { scriptsOf } from "../../harness/redis/scripts-of.js";
import { mainLaneIdle, UNDISTURBED } from "../../harness/system/idle-lane.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

async function begun(): Promise<System> {
  const system = await start({ worker: null });
  await system.addWorkerHere(UNDISTURBED);
  await system.present(system.editor);
  await call(system, "first");
  await mainLaneIdle(system.hand, system.editor.editorId);
  return system;
}

async function call(system: System, name: string): Promise<void> {
  const { record } = await system.client().submit("work", { Name: name });
  const seen = await system.broker.wait("ann", record.logId, { ms: 30_000 });
  expect(seen).toMatchObject({ record: { state: "completed" } });
}

test("a call to an idle lane is two scripts: one creates and claims, one ends it with its job", async () => {
  const system = await begun();
  const { writes, claims, bullmq } = await scriptsOf(system.hand, async () => {
    for (let at = 0; at < 5; at += 1) await call(system, `alone ${at}`);
  });
  expect(writes).toHaveLength(2 * 5);
  expect(claims).toEqual([]);
  expect(bullmq).toEqual([]);
});

test("calls that wait for each other are two scripts each as well: the end of one claims the next", async () => {
  const system = await begun();
  const { writes, claims, bullmq } = await scriptsOf(system.hand, () =>
    Promise.all(Array.from({ length: 20 }, (_, at) => call(system, `together ${at}`))),
  );
  expect(writes).toHaveLength(2 * 20);
  expect(bullmq).toEqual([]);
  // Those after the first may be taken by BullMQ's worker, which is woken by them, and are then claimed by the owner.
  expect(claims.length).toBeLessThanOrEqual(3);
});
