/** A call whose Editor is not connected: it waits, or is refused at once. */

import { expect, test } from "vitest";
import { singleRequest } from "../../../src/gateway/exchange.js";
import type { GatewayOptions } from "../../../src/gateway/gateway.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const REFUSE = { if_away: "refuse" };
const AWAY = { code: "EDITOR_AWAY", message: expect.stringContaining("Nothing was executed.") };

async function withAway(gateway: Partial<GatewayOptions> = {}) {
  const system = await start({ editor: { labels: ["android"] }, gateway });
  const { editor, client } = system;
  const ann = client();
  const first = (await ann.submit("work", { Name: "first" })).record;
  await ann.outcome(first.logId);
  await editor.close();
  await system.away(editor);
  // Owned still, it may be about to return.
  await eventually(
    async () => (await system.store.editors.availability()).every(({ isOwned }) => !isOwned),
    "it is given up",
  );
  return { ...system, ann, first };
}

test("with if_away: refuse nothing is kept of it, whether it names an Editor, a pool, or neither", async () => {
  const { ann, editor, store } = await withAway();
  for (const target of [{}, { editor: editor.editorId }, { editor: "pool:android" }]) {
    await expect(ann.submit("work", { Name: "a" }, { ...target, ...REFUSE })).rejects.toMatchObject(AWAY);
    expect(await store.operations.openOf(editor.editorId)).toEqual([]);
  }
  expect(await store.operations.openOf("pool:android")).toEqual([]);
});

test("a call that does not say it is treated as the setting says; one that does, as it says", async () => {
  const { ann, present, editor } = await withAway({ ifAway: "refuse" });
  await expect(ann.submit("work", { Name: "a" })).rejects.toMatchObject(AWAY);
  const waits = (await ann.submit("work", { Name: "b" }, { if_away: "wait" })).record;
  expect(waits.state).toBe("queued");
  await editor.faults.restart();
  await present(editor);
  expect((await ann.outcome(waits.logId)).record.state).toBe("completed");
});

test("an outcome that answers the call is answered all the same", async () => {
  const { client, first } = await withAway();
  const repeated = await client("ann", null).submit("work", { Name: "first" }, REFUSE);
  expect(repeated).toMatchObject({ relation: "replayed", record: { logId: first.logId } });
});

test("the same call with and without it is one operation", async () => {
  const { ann, editor, present } = await withAway();
  const waits = (await ann.submit("work", { Name: "a" })).record;
  const again = await ann.submit("work", { Name: "a" }, REFUSE);
  expect(again).toMatchObject({ relation: "joined", record: { logId: waits.logId } });
  await editor.faults.restart();
  await present(editor);
  await ann.outcome(waits.logId);
});

test("a domain reload does not count", async () => {
  const system = await start({ editor: { reloadMs: 300 } });
  const { client, editor, store } = system;
  const ann = client();
  editor.faults.reload();
  await eventually(async () => (await store.editors.find(editor.editorId))?.live === undefined, "it reloads");
  const { record } = await ann.submit("work", { Name: "a" }, REFUSE);
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
});

test("another value is refused", async () => {
  const { client } = await start();
  const wrong = client().submit("work", { Name: "a" }, { if_away: "fail" });
  await expect(wrong).rejects.toMatchObject({
    code: "INVALID_ARGUMENTS",
    message: expect.stringContaining("if_away must be one of wait, refuse"),
  });
});

test("a gateway that has not met the call before finds its operation all the same", async () => {
  const { ann, first, addGateway } = await withAway();
  const { broker } = await addGateway();
  const repeated = await broker.submit({
    ...ann.callOf("work", { Name: "first" }, REFUSE),
    caller: singleRequest("http"),
  });
  expect(repeated).toMatchObject({ relation: "replayed", record: { logId: first.logId } });
});
