/** A cancellation, and a call of the same, at the moment in which an Editor takes an operation, and after. */
import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

test("a cancellation that meets the moment in which an Editor takes the operation does not end it as unknown while it runs", async () => {
  const {
    client,
    bench,
    broker,
    store,
    editor,
    record: recordOf,
  } = await start({ editor: { labels: ["android"] } });
  const ann = client();
  await ann.submit("work", { Name: "one", Hold: true }, { editor: editor.editorId });
  await bench.begins("one");
  const { record } = await ann.submit("work", { Name: "a", Hold: true }, POOL);
  const find = store.editors.find;
  store.editors.find = async (id) => {
    const found = await find(id);
    if (id === "pool:android") {
      store.editors.find = find;
      // At this moment the Editor is free, takes it and runs it.
      bench.finish("one");
      await bench.begins("a");
      await ann.reaches(record.logId, "running");
    }
    return found;
  };
  await broker.cancel("ann", record.logId, ann.caller);
  const { state, error } = await recordOf(record.logId);
  bench.finish("a");
  expect({ state, error }).toMatchObject({ state: "running" });
});

test("▲5 a call does not join a read from before the caller's own change that waits in the same pool", async () => {
  const { client, bench } = await start({ editor: { labels: ["android"] } });
  const ann = client();
  await ann.submit("look", { Name: "l", Hold: true }, POOL);
  await bench.begins("l");
  await ann.submit("work", { Name: "change" }, POOL);
  const again = await ann.submit("look", { Name: "l", Hold: true }, POOL);
  bench.finish("l");
  expect(again).toMatchObject({ relation: "created" });
});

test("▲5 the same without a pool (control)", async () => {
  const { client, bench, editor } = await start({ editor: { labels: ["android"] } });
  const ann = client();
  const named = { editor: editor.editorId };
  await ann.submit("look", { Name: "l", Hold: true }, named);
  await bench.begins("l");
  await ann.submit("work", { Name: "change" }, named);
  const again = await ann.submit("look", { Name: "l", Hold: true }, named);
  bench.finish("l");
  expect(again).toMatchObject({ relation: "created" });
});
