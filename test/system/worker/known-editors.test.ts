/** ▲4 ▲13 A store that was lost is not filled again by running on one Editor what is known to another. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createKnownEditors, createNoteFile } from "../../../src/gateway/editors/known-editors.js";
import { NO_CATALOGS } from "../../../src/gateway/editors/last-catalogs.js";
import { singleRequest } from "../../../src/gateway/exchange.js";
import { orderlyEnd } from "../../../src/shared/store/schema.js";
import { openStore } from "../../../src/shared/store/store.js";
import { quits } from "../../harness/editor/quits.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { SILENT } from "../../harness/silent.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { stdio } = useMcpCallers();

const AT_ONCE = { gateway: { backMs: 0 } };
const A_CALL = ["work", { Name: "a" }] as const;
/** The same, without a session. */
const A_REQUEST = {
  principal: "ann",
  caller: singleRequest("http"),
  requestId: null,
  tool: "work",
  arguments: { Name: "a" },
};

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

/** After a loss of the store it has said hello, and what it knows is imported. */
async function isBack({ present, store }: System, editor: System["editor"]): Promise<void> {
  await present(editor);
  const { operations } = store;
  const isImported = async (): Promise<boolean> =>
    (await operations.importedIn(editor.editorId)) === (await operations.incarnation());
  await eventually(isImported, "what it knows is imported");
}

describe("W22: flush while Editor A is away; Editor B connects first", () => {
  test("A's operation is sent again without `editor`: refused until A is back, then found", async () => {
    const system = await start({ ...AT_ONCE });
    const { client, editor, redis, executions } = system;
    const { logId, second } = await ranAndLeft(system);
    const ann = client();
    // Another call, so that both are noted.
    await ann.submit("work", { Name: "b", editor: second.editorId });
    await redis.flush();
    await isBack(system, second);

    await expect(ann.submit(...A_CALL)).rejects.toMatchObject({
      code: "EDITORS_NOT_BACK",
      details: { editors: [editor.editorId] },
    });
    // In another process too; and one that names its Editor goes on.
    const other = await system.addGateway();
    await expect(other.broker.submit(A_REQUEST)).rejects.toMatchObject({
      code: "EDITORS_NOT_BACK",
    });
    // It may be the one that is named, too.
    const missed = ann.submit("work", { Name: "c", editor: editor.editorId });
    await expect(missed).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
    const named = await ann.submit("work", { Name: "c", editor: second.editorId });
    expect((await ann.outcome(named.record.logId)).record).toMatchObject({ editor: second.editorId });

    await editor.faults.restart();
    await system.present(editor);
    // Joined, where its outcome is still being collected.
    const again = await ann.submit(...A_CALL);
    expect(again).toMatchObject({ record: { logId, editor: editor.editorId } });
    expect(again.relation).not.toBe("created");
    expect((await ann.outcome(logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
    expect(notedIn(system)).toMatchObject({
      incarnation: await system.store.operations.incarnation(),
      editors: { [editor.editorId]: {}, [second.editorId]: {} },
    });
  });

  test("one that will not come back is forgotten by a person, and no call waits for it", async () => {
    const system = await start({ ...AT_ONCE });
    const { client, editor, redis } = system;
    const { second } = await ranAndLeft(system);
    const ann = client();
    await ann.submit("work", { Name: "b", editor: second.editorId });
    await redis.flush();
    await isBack(system, second);
    await expect(ann.submit(...A_CALL)).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });

    const { editor: forgotten } = await forget(system, editor.editorId);
    expect(forgotten).toMatchObject({ id: editor.editorId, connected: false });
    const { record } = await ann.submit(...A_CALL);
    expect(record.editor).toBe(second.editorId);
    await ann.outcome(record.logId);
    expect(Object.keys(notedIn(system).editors)).toEqual([second.editorId]);
  });
});

const acknowledged = ({ editor }: System): Promise<void> =>
  eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");

/** False where a gateway wrote into it meanwhile. */
function becomesFile(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(folder, "");
    return true;
  } catch {
    return false;
  }
}

describe("an older copy of the store is put back", () => {
  test("what ran since on an Editor that was away, came and left is not run on another", async () => {
    const system = await start({ ...AT_ONCE });
    const { client, editor, away, present, redis, store, hand, addEditor, executions } = system;
    const ann = client();
    await editor.faults.crash();
    await away(editor);
    const first = await ann.submit("work", { Name: "first" });
    const copy = await redis.copy();
    const { record } = await ann.submit(...A_CALL);
    await editor.faults.restart();
    await present(editor);
    for (const { logId } of [first.record, record]) await ann.outcome(logId);
    await acknowledged(system);
    await quits(system);
    const leftAt = await hand.zscore("{ujb}:editors", editor.editorId);
    await eventually(
      () => JSON.stringify(notedIn(system).editors) === `{"${editor.editorId}":{"leftAt":${leftAt}}}`,
      "it is noted that it has left",
    );
    await redis.restore(copy);
    await whenStoreIsBack(() => store.operations.now());
    const second = await addEditor();
    await whenStoreIsBack(() => present(second));
    const again = whenStoreIsBack(() => ann.submit(...A_CALL));
    await expect(again).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
    expect(executions("a")).toBe(1);
  });

  test("what ran since on an Editor that came and left while only a worker lived is not run on another", async () => {
    const system = await start({ ...AT_ONCE });
    const { client, editor, away, redis, gateway, store, addEditor, addGateway, executions, present } =
      system;
    const ann = client();
    await ann.outcome((await ann.submit("work", { Name: "first" })).record.logId);
    await quits(system);
    const copy = await redis.copy();
    const { record } = await ann.submit(...A_CALL);
    await gateway.close();
    await editor.faults.restart();
    await eventually(async () => (await system.record(record.logId)).state === "completed", "it ended");
    await acknowledged(system);
    await editor.close();
    await away(editor);
    await redis.restore(copy);
    await whenStoreIsBack(() => store.operations.now());
    const second = await addEditor();
    await whenStoreIsBack(() => present(second));
    const { broker } = await addGateway();
    const again = whenStoreIsBack(() => broker.submit(A_REQUEST));
    await expect(again).rejects.toMatchObject({
      code: "EDITORS_NOT_BACK",
      details: { editors: [editor.editorId] },
    });
    expect(executions("a")).toBe(1);
  });

  test.each([
    ["at once", false],
    ["after a crash of Redis began another incarnation", true],
  ])(
    "one that was shut down in order takes its mark along, and is noticed all the same, %s",
    async (_, crashes) => {
      const system = await start({ ...AT_ONCE, worker: null });
      const { gateway, addGateway, redis, store, hand, addEditor, addWorker, executions, present, editor } =
        system;
      const worker = await addWorker();
      await present(editor);
      await worker.close();
      await eventually(
        () => JSON.stringify(notedIn(system).editors).includes("leftAt"),
        "it is noted that it has left",
      );
      // As when it is shut down, nobody uses it any more: who does takes the mark away.
      await gateway.close();
      const before = await store.operations.incarnation();
      const [name = "", ...words] = orderlyEnd();
      await hand.call(name, ...words);
      const copy = await redis.copy();
      await redis.restart();
      expect(await whenStoreIsBack(() => store.operations.incarnation())).toBe(before);
      if (crashes) {
        await redis.kill();
        await redis.restart();
        expect(await whenStoreIsBack(() => store.operations.incarnation())).not.toBe(before);
      }
      await addWorker();
      const { broker } = await whenStoreIsBack(() => addGateway());
      await whenStoreIsBack(() => present(editor));
      const { record } = await whenStoreIsBack(() => broker.submit(A_REQUEST));
      await eventually(async () => (await system.record(record.logId)).state === "completed", "it ended");
      await acknowledged(system);
      await quits(system);
      // It comes back in the incarnation from before, until a gateway looks: that may be at once.
      await redis.restore(copy);
      const second = await addEditor();
      await whenStoreIsBack(() => present(second));
      const again = whenStoreIsBack(() => broker.submit(A_REQUEST));
      await expect(again).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
      expect(await store.operations.incarnation()).not.toBe(before);
      expect(executions("a")).toBe(1);
    },
  );

  test("that knows an earlier run of a call: the newest one answers, not one in between", async () => {
    const system = await start({ ...AT_ONCE });
    const { client, redis, store } = system;
    const ann = client();
    const run = async (before?: string): Promise<string> => {
      const { record } = await ann.submit(...A_CALL, before === undefined ? {} : { force_new: before });
      await ann.outcome(record.logId);
      return record.logId;
    };
    const first = await run();
    const copy = await redis.copy();
    const newest = await run(await run(first));
    await acknowledged(system);
    await redis.restore(copy);
    await eventually(
      async () => (await store.operations.find(newest).catch(() => undefined))?.state === "completed",
      "it is restored",
    );
    const again = await whenStoreIsBack(() => ann.submit(...A_CALL));
    expect(again).toMatchObject({ relation: "replayed", record: { logId: newest } });
    expect(system.executions("a")).toBe(3);
  });
});

describe("Editor B is imported before Editor A, which ran the call last", () => {
  /** A can be cut off from its worker. */
  const staged = async (deniedTools: string[] = []) => {
    const system = await start({ ...AT_ONCE, worker: null, editor: { deniedTools } });
    const toA = await system.addCabledWorker(system.editor);
    await system.present(system.editor);
    const second = await system.addEditor();
    await system.addCabledWorker(second);
    await system.present(second);
    const { call } = await stdio(system.gateway);
    const isKnown = (log_id = "") =>
      eventually(async () => (await system.store.operations.find(log_id)) !== undefined, log_id);
    return { system, toA, second, call, isKnown };
  };

  test.each<[string, string[], number]>([
    ["the retry finds A's run, where A had refused the call before", ["work"], 2],
    ["the retry finds A's newest run, not an older one", [], 3],
  ])("%s", async (_story, deniedTools, ran) => {
    const { system, toA, second, call, isKnown } = await staged(deniedTools);
    const { editor, executions, redis, present } = system;
    const on = (at: typeof editor, more = {}) => call("work", { Name: "a", editor: at.editorId, ...more });
    const isRefused = deniedTools.length > 0;
    expect(await on(editor)).toMatchObject(
      isRefused ? { error_type: "security_blocked" } : { status: "completed" },
    );
    const other = await on(second);
    deniedTools.length = 0;
    const { log_id = "" } = await on(editor, { timeout: 0 });
    await eventually(async () => (await system.record(log_id)).state === "completed", "it ended");
    await acknowledged(system);
    toA.toEditor.hold();
    await redis.flush();
    await present(second);
    await isKnown(other.log_id);
    toA.toEditor.fix();
    await present(editor);
    await isKnown(log_id);
    expect(await on(editor, { timeout: 30 })).toMatchObject({
      status: "completed",
      deduplicated: true,
      log_id,
    });
    expect(executions("a")).toBe(ran);
  });
});

describe("Redis is killed and started again", () => {
  test("a call that comes at once waits for the Editors that are there, and is served", async () => {
    const system = await start({ gateway: { backMs: 60_000 } });
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

  test("a call that names the Editor waits for it, too", async () => {
    const system = await start({ gateway: { backMs: 60_000 } });
    const { client, editor, redis, executions } = system;
    const ann = client();
    const named = { Name: "b", editor: editor.editorId };
    await ann.submit(...A_CALL);
    await redis.flush();
    const { record } = await ann.submit("work", named);
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(executions("b")).toBe(1);
  });

  test("a call that missed an Editor is not refused if another call has seen meanwhile that it is back", async () => {
    const system = await start({ worker: null });
    const { addWorker, present, editor, store, redis, knownEditorsFile } = system;
    const worker = await addWorker();
    await present(editor);
    const file = join(dirname(knownEditorsFile), "seen-by-two.json");
    const options = { forgetEditorMs: 60_000, backMs: 60_000 };
    const known = createKnownEditors({ ...store, log: SILENT, file, catalogs: NO_CATALOGS }, options);
    await known.read();
    await worker.close();
    await redis.flush();
    expect((await known.read()).missing).toEqual([editor.editorId]);
    await addWorker();
    await eventually(async () => (await known.read()).missing.length === 0, "another call has seen it");
    expect(await known.awaitMissing()).toBe(true);
    expect((await known.read()).missing).toEqual([]);
  });

  test("a call that its client gave up while it waited is not accepted", async () => {
    const system = await start({ gateway: { backMs: 60_000 }, worker: null });
    const { addWorker, present, editor, redis, broker, executions } = system;
    const worker = await addWorker();
    await present(editor);
    await system.client().submit("work", { Name: "b" });
    await worker.close();
    await redis.flush();
    const given = new AbortController();
    const waiting = broker.submit({ ...A_REQUEST, signal: given.signal });
    given.abort();
    await expect(waiting).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
    await addWorker();
    await present(editor);
    expect(executions("a")).toBe(0);
  });

  test("one that had left before is not waited for: the store still knows what it ran", async () => {
    const system = await start({ gateway: { backMs: 60_000 } });
    const { client, editor, redis } = system;
    const { logId, second } = await ranAndLeft(system, () => quits(system));
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

describe("the note", () => {
  test("of a store that is lost while it is looked at: who had left before is missing in the next one", async () => {
    const system = await start({ worker: null });
    const { addWorker, present, editor, store, redis, knownEditorsFile } = system;
    const worker = await addWorker();
    await present(editor);
    await worker.close();
    const file = join(dirname(knownEditorsFile), "looked-at.json");
    const options = { forgetEditorMs: 60_000, backMs: 0 };
    await createKnownEditors({ ...store, log: SILENT, file, catalogs: NO_CATALOGS }, options).read();
    let asked = 0;
    const incarnation = async (): Promise<string> => {
      asked += 1;
      // The Editors are asked for already.
      if (asked === 1) await redis.flush();
      return store.operations.incarnation();
    };
    const operations = { ...store.operations, incarnation };
    const known = await createKnownEditors(
      { ...store, operations, log: SILENT, file, catalogs: NO_CATALOGS },
      options,
    ).read();
    expect(known.missing).toEqual([editor.editorId]);
  });

  test("that cannot be written keeps no call from running", async () => {
    const system = await start();
    const { client, knownEditorsFile, warnings } = system;
    const folder = dirname(knownEditorsFile);
    await eventually(() => becomesFile(folder), "the folder of the note is a file");
    const ann = client();
    const { record } = await ann.submit(...A_CALL);
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(warnings.join("\n")).toContain("the known Editors cannot be noted");
  });

  test("that cannot be written any more is kept in memory: the retention passes", async () => {
    const { knownEditorsFile, store } = await start();
    const folder = dirname(knownEditorsFile);
    mkdirSync(folder, { recursive: true });
    // Root may write everywhere: a name that leaves no room for the draft's stands for a full disk.
    const file = join(folder, `${"k".repeat(230)}.json`);
    writeFileSync(file, JSON.stringify({ incarnation: "before", editors: { "ghost@12345678": {} } }));
    const options = { forgetEditorMs: 300, backMs: 0 };
    const known = createKnownEditors({ ...store, log: SILENT, file, catalogs: NO_CATALOGS }, options);
    expect((await known.read()).missing).toEqual(["ghost@12345678"]);
    const later = createKnownEditors({ ...store, log: SILENT, file, catalogs: NO_CATALOGS }, options);
    expect((await later.read()).missing).toEqual(["ghost@12345678"]);
    await eventually(async () => (await later.read()).missing.length === 0, "the retention has passed");
  });

  test("that could not be written is written when there is room, and another process's note counts meanwhile", async () => {
    const { knownEditorsFile, store } = await start();
    const folder = join(dirname(knownEditorsFile), "full");
    writeFileSync(folder, "");
    const file = join(folder, "note.json");
    const known = createKnownEditors(
      { ...store, log: SILENT, file, catalogs: NO_CATALOGS },
      { forgetEditorMs: 60_000, backMs: 0 },
    );
    await known.read();
    rmSync(folder);
    await known.read();
    const { text = "" } = await createNoteFile(file, SILENT).read();
    expect(JSON.parse(text)).toMatchObject({ incarnation: await store.operations.incarnation() });
  });

  test("of another gateway misses no Editor that a person has given up, until the store loses something again", async () => {
    const { knownEditorsFile, store } = await start();
    const options = { forgetEditorMs: 60_000, backMs: 0 };
    const missedBy = async (name: string): Promise<readonly string[]> => {
      const file = join(dirname(knownEditorsFile), name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify({ incarnation: "before", editors: { "ghost@12345678": {} } }));
      return (
        await createKnownEditors({ ...store, log: SILENT, file, catalogs: NO_CATALOGS }, options).read()
      ).missing;
    };
    expect(await missedBy("one.json")).toEqual(["ghost@12345678"]);
    const incarnation = await store.operations.incarnation();
    await store.editors.forget("ghost@12345678", incarnation);
    expect(await missedBy("other.json")).toEqual([]);
    await store.operations.beginIncarnation(incarnation);
    expect(await missedBy("third.json")).toEqual(["ghost@12345678"]);
  });

  test("is not overwritten by an older look of another process", async () => {
    const { knownEditorsFile } = await start();
    const file = join(dirname(knownEditorsFile), "of-two.json");
    const [one, other] = [createNoteFile(file, SILENT), createNoteFile(file, SILENT)];
    const before = await one.read();
    const mine = await other.read();
    expect(await other.replace(mine, { incarnation: "1", editors: { a: {}, b: {} } })).toBe(true);
    expect(await one.replace(before, { incarnation: "1", editors: { a: {} } })).toBe(false);
    expect((await one.read()).note).toEqual({ incarnation: "1", editors: { a: {}, b: {} } });
  });

  test("gives a store that was emptied the id by which Editors know it", async () => {
    const { redis, store, client, knownEditorsFile } = await start();
    await client().submit(...A_CALL);
    const { note } = await createNoteFile(knownEditorsFile, SILENT).read();
    expect(note?.storeId).toBe(store.storeId());
    await redis.flush();
    const next = await openStore(redis.connection, { retentionMs: 60_000, storeId: note?.storeId });
    expect(next.storeId()).toBe(store.storeId());
    await next.close();
  });
});
