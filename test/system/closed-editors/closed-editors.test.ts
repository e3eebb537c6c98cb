/** ▲4 ▲13 An Editor that the store does not know any more: its last catalogue is listed, and calls wait for it. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { createLastCatalogs } from "../../../src/gateway/editors/last-catalogs.js";
import { createGateway } from "../../../src/gateway/gateway.js";
import { quits } from "../../harness/editor/quits.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { SILENT } from "../../harness/silent.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

const AT_ONCE = { gateway: { backMs: 0 } };
/** Its janitor forgets an Editor with the next sweep: only for tests without one that is connected. */
const NO_RETENTION = { ...AT_ONCE, gateway: { backMs: 0, forgetEditorMs: 1 } };
const WORK = { Name: "a", timeout: 0.1 };

const folderOf = ({ knownEditorsFile }: System): string => knownEditorsFile.replace(/\.json$/, ".catalogs");

const notedIn = ({ knownEditorsFile: noteFile }: System) =>
  createLastCatalogs({ noteFile, log: SILENT }).all();

async function isNoted(system: System, editor = system.editor): Promise<void> {
  const is = async () => (await notedIn(system)).some(({ profile }) => profile.editorId === editor.editorId);
  await eventually(is, "its catalogue is noted");
}

/** It was closed, and the retention has passed. */
async function isForgotten(system: System, editor = system.editor): Promise<void> {
  await isNoted(system, editor);
  await quits(system, editor);
  await system.store.editors.forget(editor.editorId);
}

async function forgotten(options: SystemOptions = AT_ONCE): Promise<System> {
  const system = await start(options);
  await isForgotten(system);
  return system;
}

describe("after the retention", () => {
  test.each(["stdio", "HTTP"])(
    "over %s its tools are listed, and a call waits for it and runs once",
    async (how) => {
      const system = await forgotten();
      const { editor, executions, present } = system;
      const gateway = await system.addGateway();
      const client = how === "HTTP" ? await http(gateway) : await stdio(gateway);
      expect(await client.tools()).toContain("work");
      const waiting = await client.call("work", { ...WORK, timeout: 1 });
      expect(waiting).toMatchObject({ status: "timeout", editor: editor.editorId });
      expect(waiting.message).toMatch(
        /The Editor of game-1 (has closed|is not connected).*has not started: it waits for the Editor, and expires at \d{4}-.*Ask the user to open game-1 in Unity/,
      );
      expect(waiting.waits_until).toMatch(/^\d{4}-/);
      expect(await client.call("work", WORK)).toMatchObject({ deduplicated: true, log_id: waiting.log_id });

      await editor.faults.restart();
      await present(editor);
      const { log_id } = waiting;
      expect(await client.call("get_operation_result", { log_id, wait: true })).toMatchObject({
        status: "completed",
      });
      expect(executions("a")).toBe(1);
      expect(await client.call("list_operations")).toMatchObject({ operations: [{ log_id }] });
    },
  );

  test("it is listed as not connected, and its tools too; it can be selected", async () => {
    const { editor, gateway } = await forgotten();
    const client = await stdio(gateway);
    expect(await client.call("list_editors")).toMatchObject({
      editors: [{ id: editor.editorId, connected: false, last_seen_seconds_ago: expect.any(Number) }],
    });
    const listed = await client.call("list_unity_tools");
    const work = expect.objectContaining({ name: "work", editors: [editor.editorId], connected: false });
    expect(listed).toMatchObject({
      tools: expect.arrayContaining([work]),
      message: expect.stringContaining("closed: a call waits for it"),
    });
    expect(await client.call("select_editor", { editor: "game-1" })).toMatchObject({
      selected: { id: editor.editorId, connected: false },
    });
    expect(await client.call("work", WORK)).toMatchObject({ status: "timeout", editor: editor.editorId });
  });

  test("a call that waits for it in vain expires, and it is forgotten again, with all its keys", async () => {
    const system = await forgotten(NO_RETENTION);
    const { client, editor, store, hand, addGateway } = system;
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    const limits = { absentMs: 1, unsentMs: 1, sentMs: 1 };
    const impatient = await addGateway({ limits });
    await eventually(async () => {
      await impatient.sweep();
      return (await system.record(record.logId)).state === "expired";
    }, "it expired");
    await eventually(async () => {
      await system.gateway.sweep();
      return (await store.editors.ids()).length === 0 && (await store.forgotten.ids()).length === 0;
    }, "it is forgotten");
    for (const key of ["editor", "catalog", "open"]) {
      expect(await hand.exists(`{ujb}:${key}:${editor.editorId}`), key).toBe(0);
    }
    expect(await (await stdio(system.gateway)).tools()).toContain("work");
  });

  test("a call is accepted while the janitor forgets it once more: the operation expires all the same", async () => {
    const system = await forgotten(NO_RETENTION);
    const { store, knownEditorsFile, gateway, addGateway } = system;
    const create: typeof store.operations.create = async (...given) => {
      expect(await store.editors.ids()).toEqual([system.editor.editorId]);
      await gateway.sweep();
      expect(await store.editors.ids()).toEqual([]);
      return store.operations.create(...given);
    };
    const operations = { ...store.operations, create };
    const paused = createGateway({ store: { ...store, operations }, log: SILENT, knownEditorsFile });
    const client = await stdio(paused);
    const { log_id = "" } = await client.call("work", WORK);
    const impatient = await addGateway({ limits: { absentMs: 1, unsentMs: 1, sentMs: 1 } });
    await eventually(async () => {
      await impatient.sweep();
      return (await system.record(log_id)).state === "expired";
    }, "it expired");
    await paused.close();
  });

  test("that it has closed is reported if that was known", async () => {
    const system = await start(AT_ONCE);
    const { editor, store, gateway } = system;
    await isNoted(system);
    await quits(system, editor);
    const session = (await store.editors.find(editor.editorId))?.profile.editorSessionId ?? "";
    await store.editors.ended(editor.editorId, session, Date.now());
    await eventually(async () => (await notedIn(system))[0]?.ended !== undefined, "it is noted");
    await isForgotten(system);
    const { message } = await (await stdio(gateway)).call("work", WORK);
    expect(message).toContain("The Editor of game-1 has closed (last seen at ");
  });

  test("one that has come meanwhile stays as it is", async () => {
    const { editor, store } = await start();
    const known = await store.editors.find(editor.editorId);
    const tools = await store.editors.tools(editor.editorId);
    if (!known) throw new Error("it is not known");
    const profile = { ...known.profile, editorSessionId: "an older one", projectName: "Old" };
    const ended = { editorSessionId: profile.editorSessionId, at: 1 };
    await store.editors.knowAgain({ profile, ended, lastSeenAt: 1, tools: [] });
    const after = await store.editors.find(editor.editorId);
    expect(after?.profile).toEqual(known.profile);
    expect(after?.lastSeenAt).toBeGreaterThanOrEqual(known.lastSeenAt);
    expect(await store.editors.tools(editor.editorId)).toEqual(tools);
  });

  test("a person has it forgotten: its file goes, and it is not called any more", async () => {
    const system = await forgotten();
    const client = await stdio(system.gateway);
    expect((await forget(system, "game-1")).editor).toMatchObject({ id: system.editor.editorId });
    expect(readdirSync(folderOf(system))).toEqual([]);
    expect(await client.tools()).not.toContain("work");
    expect(await client.call("work", WORK)).toMatchObject({ error_code: "NO_EDITOR" });
  });

  test("a tool that it does not have any more ends with the Editor's own answer", async () => {
    const system = await forgotten();
    const client = await stdio(system.gateway);
    const { log_id } = await client.call("work", WORK);
    system.editor.tools.remove("work");
    await system.editor.faults.restart();
    const ended = await client.call("get_operation_result", { log_id, wait: true });
    expect(ended).toMatchObject({ error_code: "EDITOR_REFUSED", error_type: "unknown_tool" });
    expect(ended.message).toContain('This Editor has no tool "work".');
    expect(system.executions("a")).toBe(0);
  });

  test("arguments are checked by its schema", async () => {
    const { gateway } = await forgotten();
    const client = await stdio(gateway);
    expect(await client.call("work", { Name: 1 })).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
  });

  test("without the file nobody knows it", async () => {
    const system = await forgotten();
    await createLastCatalogs({ noteFile: system.knownEditorsFile, log: SILENT }).drop(system.editor.editorId);
    const client = await stdio(system.gateway);
    expect(await client.tools()).not.toContain("work");
    expect(await client.call("work", WORK)).toMatchObject({ error_code: "NO_EDITOR" });
  });
});

describe("beside another Editor", () => {
  test("a call goes to the connected one; from the closed one's folder, or by its name, to the closed one", async () => {
    const system = await start(AT_ONCE);
    const second = await system.addEditor();
    await system.present(second);
    await isForgotten(system);
    const { editor, gateway } = system;
    const elsewhere = await stdio(gateway, { folder: "/somewhere" });
    expect(await elsewhere.call("work", { Name: "a" })).toMatchObject({
      status: "completed",
      editor: second.editorId,
    });
    const named = await elsewhere.call("work", { ...WORK, Name: "b", editor: "game-1" });
    expect(named).toMatchObject({ status: "timeout", editor: editor.editorId });
    const inIt = await stdio(gateway, { folder: "/projects/game-1/Assets" });
    expect(await inIt.call("work", { ...WORK, Name: "c" })).toMatchObject({
      status: "timeout",
      editor: editor.editorId,
    });
    await editor.faults.restart();
    const { log_id } = named;
    await elsewhere.call("get_operation_result", { log_id, wait: true });
    expect(system.executions("b")).toBe(1);
  });

  test("of two closed ones none is chosen: the call is told both, and names one", async () => {
    const system = await start(AT_ONCE);
    const second = await system.addEditor();
    await system.present(second);
    await isForgotten(system);
    await isForgotten(system, second);
    const client = await stdio(system.gateway);
    const { candidates, ...refused } = await client.call("work", WORK);
    expect({ candidates, ...refused }).toMatchObject({
      error_code: "EDITOR_AMBIGUOUS",
      candidates: [{ connected: false }, { connected: false }],
    });
    // Beside the candidates, each is named once.
    expect(JSON.stringify(refused).split(second.editorId)).toHaveLength(2);
    expect(await client.call("work", { ...WORK, editor: second.editorId })).toMatchObject({
      status: "timeout",
      editor: second.editorId,
    });
  });

  test("one that runs here and is just being connected is waited for, and preferred", async () => {
    const system = await forgotten();
    const second = await system.addEditor();
    // Known to this gateway by its endpoint file only, so far.
    await system.present(second);
    await quits(system, second);
    await forget(system, second.editorId);
    let asked = 0;
    const running = async (): Promise<string[]> => {
      asked += 1;
      // The session's list of tools asks first; by now the call has been read.
      if (asked === 2) await second.faults.restart();
      return [second.editorId];
    };
    const client = await stdio(await system.addGateway({}, running));
    expect(await client.call("work", { Name: "a", timeout: 5 })).toMatchObject({
      status: "completed",
      editor: second.editorId,
    });
  });
});

describe("▲13 the store was emptied while it was closed", () => {
  test("its tools are listed; a call is refused until it is back, and runs once", async () => {
    const system = await start(AT_ONCE);
    const { editor, redis, gateway, executions, present } = system;
    const client = await stdio(gateway);
    const first = await client.call("work", { Name: "a" });
    expect(first).toMatchObject({ status: "completed" });
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    await isNoted(system);
    await quits(system, editor);
    await redis.flush();
    const later = await stdio(await system.addGateway());
    expect(await later.tools()).toContain("work");
    for (const named of [{}, { editor: editor.editorId }]) {
      expect(await later.call("work", { ...WORK, ...named })).toMatchObject({
        error_code: "EDITORS_NOT_BACK",
        editors: [editor.editorId],
      });
    }
    await editor.faults.restart();
    await present(editor);
    expect(await later.call("work", { Name: "a" })).toMatchObject({
      deduplicated: true,
      log_id: first.log_id,
    });
    expect(executions("a")).toBe(1);
  });

  test("another one, forgotten before, is not called either: the call may have run on the missing one", async () => {
    const system = await forgotten();
    const second = await system.addEditor();
    await system.present(second);
    await isNoted(system, second);
    await quits(system, second);
    await system.redis.flush();
    const client = await stdio(await system.addGateway());
    for (const named of [{}, { editor: system.editor.editorId }]) {
      expect(await client.call("work", { ...WORK, ...named })).toMatchObject({
        error_code: "EDITORS_NOT_BACK",
        editors: [second.editorId],
      });
    }
    expect((await system.store.editors.ids()).length).toBe(0);
  });
});

test("a folder that cannot be written keeps no call from running, and is logged", async () => {
  const system = await start({ worker: null });
  mkdirSync(dirname(system.knownEditorsFile), { recursive: true });
  const { gateway, editor, warnings, addWorker, present } = system;
  writeFileSync(folderOf(system), "");
  await addWorker();
  await present(editor);
  await eventually(() => warnings.join("\n").includes("the Editor's tools cannot be noted"), "it is logged");
  expect(await (await stdio(gateway)).call("work", { Name: "a" })).toMatchObject({ status: "completed" });
});
