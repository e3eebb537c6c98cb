/** ▲4 ▲13 A store that was lost is not filled again by running on one Editor what is known to another. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { forget } from "./harness/forget.js";
import { whenStoreIsBack } from "./harness/store-back.js";
import { eventually, type System, useSystem } from "./harness/system.js";

const { start } = useSystem();

const AT_ONCE = { gateway: { backMs: 0 } };
const A_CALL = ["work", { Name: "a" }] as const;

const notedIn = ({ knownEditorsFile }: System): { incarnation: string; editors: Record<string, unknown> } =>
  JSON.parse(readFileSync(knownEditorsFile, "utf8"));

/** It ran the call as the only one; then it went away, and another came. */
async function ranAndLeft(
  system: System,
  leave: () => Promise<unknown> = () => system.editor.faults.crash(),
): Promise<{ logId: string; second: System["editor"] }> {
  const { client, editor, away, addEditor } = system;
  const ann = client();
  const { record } = await ann.submit(...A_CALL);
  await ann.outcome(record.logId);
  await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
  await leave();
  await away(editor);
  const second = await addEditor();
  await system.present(second);
  return { logId: record.logId, second };
}

describe("W22: flush while Editor A is away; Editor B connects first", () => {
  test("A's operation is sent again without `editor`: refused until A is back, then found", async () => {
    const system = await start({ ...AT_ONCE, commandTimeoutMs: 500 });
    const { client, editor, redis, executions } = system;
    const { logId, second } = await ranAndLeft(system);
    const ann = client();
    // Another call, so that both are noted.
    await ann.submit("work", { Name: "b", editor: second.editorId });
    await redis.flush();
    await system.present(second);

    await expect(ann.submit(...A_CALL)).rejects.toMatchObject({
      code: "EDITORS_NOT_BACK",
      details: { editors: [editor.editorId] },
    });
    // In another process too; and one that names its Editor goes on.
    const other = await system.addGateway();
    const asked = { principal: "ann", caller: null, requestId: null, tool: "work" };
    await expect(other.broker.submit({ ...asked, arguments: { Name: "a" } })).rejects.toMatchObject({
      code: "EDITORS_NOT_BACK",
    });
    const named = await ann.submit("work", { Name: "c", editor: second.editorId });
    expect((await ann.outcome(named.record.logId)).record).toMatchObject({ editor: second.editorId });

    await editor.faults.restart();
    await system.present(editor);
    const again = await ann.submit(...A_CALL);
    expect(again).toMatchObject({ relation: "replayed", record: { logId, editor: editor.editorId } });
    expect(executions("a")).toBe(1);
    expect(notedIn(system)).toEqual({
      incarnation: await system.store.operations.incarnation(),
      editors: { [editor.editorId]: {}, [second.editorId]: {} },
    });
  });

  test("one that will not come back is forgotten by a person, and no call waits for it", async () => {
    const system = await start({ ...AT_ONCE, commandTimeoutMs: 500 });
    const { client, editor, redis } = system;
    const { second } = await ranAndLeft(system);
    const ann = client();
    await ann.submit("work", { Name: "b", editor: second.editorId });
    await redis.flush();
    await system.present(second);
    await expect(ann.submit(...A_CALL)).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });

    const { editor: forgotten } = await forget(system, editor.editorId);
    expect(forgotten).toMatchObject({ id: editor.editorId, connected: false });
    const { record } = await ann.submit(...A_CALL);
    expect(record.editor).toBe(second.editorId);
    await ann.outcome(record.logId);
    expect(Object.keys(notedIn(system).editors)).toEqual([second.editorId]);
  });
});

describe("Redis is killed and started again", () => {
  test("a call that comes at once waits for the Editors that are there, and is served", async () => {
    const system = await start({ gateway: { backMs: 60_000 }, commandTimeoutMs: 500 });
    const { client, redis, executions } = system;
    const ann = client();
    const { record } = await ann.submit(...A_CALL);
    await ann.outcome(record.logId);
    await redis.kill();
    await redis.restart();
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "b" }));
    expect((await ann.outcome(again.record.logId)).record.state).toBe("completed");
    expect(executions("b")).toBe(1);
  });

  test("one that had left before is not waited for: the store still knows what it ran", async () => {
    const system = await start({ gateway: { backMs: 60_000 }, commandTimeoutMs: 500 });
    const { client, editor, redis, hand } = system;
    const { logId, second } = await ranAndLeft(system, editor.close);
    const isOwned = () => hand.exists(`{ujb}:lease:${editor.editorId}`);
    await eventually(async () => (await isOwned()) === 0, "its worker has left it");
    const ann = client();
    // Another call, so that both are noted.
    await ann.submit("work", { Name: "b", editor: second.editorId });
    expect(notedIn(system).editors).toMatchObject({ [editor.editorId]: { leftAt: expect.any(Number) } });
    await redis.kill();
    await redis.restart();
    const other = await whenStoreIsBack(() => ann.submit("work", { Name: "c" }));
    expect(other.record.editor).toBe(second.editorId);
    await ann.outcome(other.record.logId);
    expect(await ann.submit(...A_CALL)).toMatchObject({ relation: "replayed", record: { logId } });
  });
});

test("a folder that cannot be written keeps no call from running", async () => {
  const system = await start();
  const { client, knownEditorsFile, warnings } = system;
  const folder = dirname(knownEditorsFile);
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, "");
  const ann = client();
  const { record } = await ann.submit(...A_CALL);
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(warnings.join("\n")).toContain("the known Editors cannot be noted");
});
