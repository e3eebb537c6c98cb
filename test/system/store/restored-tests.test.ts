/** ▲5 ▲13 Tests that run while the store is lost come back, and take in only calls that ask for what they look at. */
import { expect, test } from "vitest";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

const RUN = { SimulatedTests: 1, SimulatedSeconds: 60 };

test.each([
  ["its caller changed nothing since: the call joins", false, "joined"],
  ["its caller changed something after it, before it came back: the call runs", true, "created"],
])(
  "an older copy of the store, and a run of the tests that goes on: %s",
  async (_story, changes, relation) => {
    const system = await start({ gateway: { backMs: 0 }, worker: null });
    const { editor, redis, store, client, present, bench } = system;
    const { toEditor } = await system.addCabledWorker(editor);
    await present(editor);
    const ann = client();
    const on = { editor: editor.editorId };
    const copy = await redis.copy();
    const { record: tests } = await ann.submit("run-tests", { ...RUN, ...on });
    await eventually(async () => (await system.record(tests.logId)).state === "running", "the tests run");
    toEditor.hold();
    await redis.restore(copy);
    await whenStoreIsBack(() => store.operations.now());
    if (changes) await whenStoreIsBack(() => ann.submit("work", { Name: "edit", ...on }));
    toEditor.fix();
    await eventually(
      async () => (await store.operations.find(tests.logId).catch(() => undefined))?.state === "running",
      "the tests are restored",
    );
    const again = await whenStoreIsBack(() => ann.submit("run-tests", { ...RUN, ...on }));
    expect(again.relation).toBe(relation);
    expect(bench.begun).toEqual([]);
  },
);

test.each(["an older copy is put back", "a flush"])(
  "its caller's change waits behind the tests, then %s: no ledger knows the change, and the tests run again",
  async (how) => {
    const system = await start({ gateway: { backMs: 0 } });
    const { editor, redis, store, client, present } = system;
    await present(editor);
    const ann = client();
    const on = { editor: editor.editorId };
    const copy = await redis.copy();
    const { record: tests } = await ann.submit("run-tests", { ...RUN, ...on });
    await eventually(async () => (await system.record(tests.logId)).state === "running", "the tests run");
    await ann.submit("work", { Name: "edit", ...on });
    await (how === "a flush" ? redis.flush() : redis.restore(copy));
    await eventually(
      async () => (await store.operations.find(tests.logId).catch(() => undefined))?.state === "running",
      "the tests are restored",
    );
    await whenStoreIsBack(() => present(editor));
    const again = await whenStoreIsBack(() => ann.submit("run-tests", { ...RUN, ...on }));
    expect(again.relation).toBe("created");
  },
);
