/** A frame in the buffer of a connection that has ended, while the store loses that it was sent (▲13). */
import { expect, test } from "vitest";
import { pausing } from "../../harness/system/said-of-editors.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

test("▲13 what an earlier connection left in a buffer is not run behind the import, by when another Editor of the pool has run it", async () => {
  const system = await start({
    worker: null,
    editor: { labels: ["android"] },
    commandTimeoutMs: 2_000,
    gateway: { backMs: 0 },
  });
  const { client, editor, bench, redis, gateway, executions, store, record } = system;
  // With another lease it would have another epoch anyhow.
  const { toEditor } = await system.addCabledWorker(editor, { lease: { ttlMs: 4_000, renewMs: 100 } });
  await system.present(editor);
  const second = await system.addEditor({ labels: ["android"] });
  await system.addWorker();
  await system.present(second);
  const ann = client();
  const named = { editor: editor.editorId };
  for (const { editorId } of [editor, second]) {
    await ann.submit("work", { Name: editorId, Hold: true }, { editor: editorId });
    await bench.begins(editorId);
  }
  const { logId } = (await ann.submit("work", { Name: "a" }, POOL)).record;
  const copy = await redis.copy();
  const stranded = new Promise<ReturnType<typeof toEditor.strand>>((resolve) =>
    toEditor.before("operation/submit", () => resolve(toEditor.strand())),
  );
  // The first Editor takes it, and its owner sends it.
  bench.finish(editor.editorId);
  const { cut, release } = await stranded;
  expect((await record(logId)).editor).toBe(editor.editorId);

  await redis.restore(copy);
  const { pause, resume } = pausing(system, editor.editorId);
  await whenStoreIsBack(pause);
  cut();
  const ids = [editor, second].map(({ editorId }) => editorId);
  await eventually(async () => {
    const incarnation = await store.operations.incarnation();
    const imported = await Promise.all(ids.map((id) => store.operations.importedIn(id)));
    return imported.every((each) => each === incarnation);
  }, "both Editors are imported");
  bench.finish(second.editorId);
  await whenStoreIsBack(gateway.sweep);
  const ended = await whenStoreIsBack(() => ann.outcome(logId));
  expect(ended.record).toMatchObject({ state: "completed", editor: second.editorId });

  release();
  await resume();
  for (const Name of ["next", "and the next"])
    await ann.outcome((await ann.submit("work", { Name }, named)).record.logId);
  expect(executions("a")).toBe(1);
});
