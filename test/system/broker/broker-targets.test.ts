import { expect, onTestFinished, test } from "vitest";
import { createToolList } from "../../../src/gateway/mcp/tools/tool-list.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { quits } from "../../harness/editor/quits.js";
import { eventually } from "../../harness/eventually.js";
import { SILENT } from "../../harness/silent.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

async function withTwo(): Promise<System & { second: System["editor"] }> {
  const system = await start();
  const second = await system.addEditor();
  await system.present(second);
  return { ...system, second };
}

const namesOf = (editor: System["editor"]): string[] => editor.counter().map(({ what }) => what);

test("▲4 the outcome is looked up before an Editor is chosen, also by a gateway that has not met the call", async () => {
  const system = await withTwo();
  const { client, editor, addGateway } = system;
  const ann = client();
  const named = { editor: editor.editorId };
  const { record } = await ann.submit("work", { Name: "a" }, named);
  await ann.outcome(record.logId);
  const other = await addGateway();
  // Two Editors could be meant: only the outcome on one of them answers.
  const again = await other.broker.submit(ann.callOf("work", { Name: "a" }));
  expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
  const held = await ann.submit("work", { Name: "b", Hold: true }, named);
  await ann.reaches(held.record.logId, "running");
  const joined = await other.broker.submit(ann.callOf("work", { Name: "b", Hold: true }));
  expect(joined).toMatchObject({ relation: "joined", record: { logId: held.record.logId } });
  system.bench.finish("b");
  await ann.outcome(held.record.logId);
  expect([system.executions("a"), system.executions("b")]).toEqual([1, 1]);
});

test("▲2 two gateways that have not met a call make one operation of it", async () => {
  const system = await start();
  const ann = system.client();
  const others = await Promise.all([system.addGateway(), system.addGateway()]);
  // One pair may miss each other by chance.
  for (const Name of ["a", "b", "c", "d", "e", "f"]) {
    const call = ann.callOf("work", { Name, Hold: true });
    const all = await Promise.all(others.map(({ broker }) => broker.submit(call)));
    expect(new Set(all.map(({ record }) => record.logId)).size).toBe(1);
    expect(all.map(({ relation }) => relation).sort()).toEqual(["created", "joined"]);
    await system.bench.begins(Name);
    system.bench.finish(Name);
    await ann.outcome(all[0]?.record.logId ?? "");
    expect(system.executions(Name)).toBe(1);
  }
});

test("with several Editors a call names one, by its id, its beginning, or its project's name", async () => {
  const { client, editor, second } = await withTwo();
  const ann = client();
  const both = [editor, second].map(({ editorId }, at) => ({
    id: editorId,
    project: `game-${at + 1}`,
    project_path: `/projects/game-${at + 1}`,
    connected: true,
  }));
  const open = ann.submit("work", { Name: "nowhere" });
  await expect(open).rejects.toMatchObject({
    code: "EDITOR_AMBIGUOUS",
    message: expect.stringContaining(`${editor.editorId} (connected, /projects/game-1)`),
    details: { candidates: expect.arrayContaining(both) },
  });
  await expect(ann.submit("work", { Name: "nowhere" }, { editor: "game-" })).rejects.toMatchObject({
    code: "EDITOR_UNKNOWN",
  });
  const unknown = ann.submit("work", { Name: "nowhere", editor: "other" });
  await expect(unknown).rejects.toMatchObject({
    code: "EDITOR_UNKNOWN",
    details: { candidates: expect.arrayContaining(both) },
  });

  const byId = await ann.submit("work", { Name: "by id", editor: editor.editorId });
  const byPrefix = await ann.submit(
    "work",
    { Name: "by prefix" },
    { editor: `${second.editorId.slice(0, 8)}` },
  );
  const byName = await ann.submit("work", { Name: "by name" }, { editor: "GAME-2" });
  for (const { record } of [byId, byPrefix, byName]) await ann.outcome(record.logId);
  expect(namesOf(editor)).toEqual(["by id"]);
  expect(namesOf(second)).toEqual(["by prefix", "by name"]);
});

test("two projects of one name are told apart by their paths", async () => {
  const { client, present, addEditor } = await start({ editor: { projectPath: "/main/My Game" } });
  const twin = await addEditor({ projectPath: "/branch/My Game" });
  await present(twin);
  const ann = client();
  await expect(ann.submit("work", { Name: "a", editor: "my game" })).rejects.toMatchObject({
    code: "EDITOR_AMBIGUOUS",
    // In whatever order they were heard last.
    message: expect.stringMatching(/called "my game"(?=.*\/main\/My Game)(?=.*\/branch\/My Game)/),
  });
  const { record } = await ann.submit("work", { Name: "a", editor: twin.editorId.toUpperCase() });
  expect(record.editor).toBe(twin.editorId);
  await ann.outcome(record.logId);
});

test("two Editors work at once", async () => {
  const { client, bench } = await withTwo();
  const ann = client();
  const one = await ann.submit("work", { Name: "one", Hold: true }, { editor: "game-1" });
  const two = await ann.submit("work", { Name: "two", Hold: true }, { editor: "game-2" });
  await Promise.all([bench.begins("one"), bench.begins("two")]);
  bench.finish("two");
  await ann.outcome(two.record.logId);
  bench.finish("one");
  await ann.outcome(one.record.logId);
});

test("the same call for another Editor is another operation", async () => {
  const { client, executions } = await withTwo();
  const ann = client();
  const one = await ann.submit("work", { Name: "a" }, { editor: "game-1" });
  const two = await ann.submit("work", { Name: "a" }, { editor: "game-2" });
  expect(two).toMatchObject({ relation: "created", record: { after: one.record.logId } });
  for (const { record } of [one, two]) await ann.outcome(record.logId);
  expect(executions("a")).toBe(2);
});

test("a retry that adds or drops the Editor finds its operation", async () => {
  const { client, bench, executions, addEditor, present } = await start();
  const ann = client();
  const call = { Name: "a", Hold: true };
  const { record } = await ann.submit("work", call);
  await bench.begins("a");
  const added = await ann.submit("work", call, { editor: "game-1" });
  expect(added).toMatchObject({ relation: "joined", record: { logId: record.logId } });

  // Another Editor appears: an open target alone would be ambiguous now.
  await present(await addEditor());
  const dropped = await ann.submit("work", call);
  expect(dropped).toMatchObject({ relation: "joined", record: { logId: record.logId } });
  bench.finish("a");
  await ann.outcome(record.logId);
  expect((await ann.submit("work", call)).relation).toBe("replayed");

  const explicit = await ann.submit("work", { Name: "b" }, { editor: "game-1" });
  const open = await ann.submit("work", { Name: "b" });
  expect(open.record.logId).toBe(explicit.record.logId);
  await ann.outcome(explicit.record.logId);
  expect(executions("a")).toBe(1);
  expect(executions("b")).toBe(1);
});

test("while the Editor is away its calls are accepted, said so, and run when it is back", async () => {
  const { client, editor, away, executions } = await start();
  const ann = client();
  await editor.faults.crash();
  await away(editor);
  const { record } = await ann.submit("work", { Name: "a" });
  const view = await ann.reaches(record.logId, "queued");
  const answer = answerOf(view, { waitedSeconds: 1 });
  expect(answer).toMatchObject({ status: "timeout", state: "queued" });
  expect(answer.message).toMatch(
    /^The wait of 1 s ended\. The Editor of game-1 is not connected, and was last seen at .*Z: /,
  );
  await editor.faults.restart();
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(executions("a")).toBe(1);
});

test("an Editor that quits leaves its tools and its place in the list", async () => {
  const { client, editor, away, broker } = await start();
  const ann = client();
  await editor.close();
  await away(editor);
  expect((await broker.tools()).map(({ name }) => name)).toContain("work");
  const { editors } = await broker.editors();
  expect(editors).toMatchObject([{ profile: { editorId: editor.editorId }, live: undefined }]);
  const { record } = await ann.submit("work", { Name: "a" });
  await ann.reaches(record.logId, "queued");
  expect(await broker.cancel("ann", record.logId, ann.caller)).toMatchObject({
    record: { state: "cancelled" },
  });
});

test("tools that change in the Editor change here", async () => {
  const { client, broker, editor, store } = await start();
  const ann = client();
  await expect(ann.submit("new-tool", {})).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });
  const changed = new Promise((resolve) => store.notifier.on("editors", resolve));
  const known = editor.tools.get("look");
  if (!known) throw new Error("no such tool");
  editor.tools.add({ ...known, name: "new-tool" });
  editor.tools.remove("look");
  editor.toolsChanged();
  await changed;
  await eventually(
    async () => !(await broker.tools()).some(({ name }) => name === "look"),
    "the removed tool is gone",
  );
  const { record } = await ann.submit("new-tool", { Name: "a" });
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
});

test("tools that change while a gateway cannot hear of it change there once it is back", async () => {
  const { editor, broker, addCabledGateway, store } = await start();
  const { gateway, toRedis } = await addCabledGateway();
  const far = gateway.broker;
  const names = async (of: typeof broker): Promise<string[]> => (await of.tools()).map(({ name }) => name);
  const list = createToolList(
    { broker: far, notifier: gateway.store.notifier, log: SILENT },
    { debounceMs: 0 },
  );
  onTestFinished(() => list.close());
  expect((await list.current("ann")).map(({ name }) => name)).toContain("look");
  const changed = new Promise((resolve) => list.onChange(() => resolve("changed")));
  toRedis.cut();
  const published = new Promise((resolve) => store.notifier.on("editors", resolve));
  editor.tools.remove("look");
  editor.toolsChanged();
  await published;
  await eventually(async () => !(await names(broker)).includes("look"), "the gateway that heard it has it");
  toRedis.fix();
  await expect(changed).resolves.toBe("changed");
  expect(await whenStoreIsBack(() => names(far))).not.toContain("look");
});

test("W11 an Editor that is away does not make a call without `editor` ambiguous, read or not", async () => {
  const system = await withTwo();
  const { client, editor, second, bench } = system;
  const ann = client();
  await quits(system, second);
  const { record: work } = await ann.submit("work", { Name: "w" });
  const { record: look } = await ann.submit("look", { Name: "l" });
  for (const record of [work, look]) {
    expect(record.editor).toBe(editor.editorId);
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  }
  expect(bench.begun).toEqual(["w", "l"]);
});

test("W11 with all of them away the candidates are told, each as not connected; one that is known alone is taken", async () => {
  const system = await withTwo();
  const { client, editor, second, store } = system;
  const ann = client();
  for (const one of [second, editor]) await quits(system, one);
  await expect(ann.submit("work", { Name: "w" })).rejects.toMatchObject({
    code: "EDITOR_AMBIGUOUS",
    message: expect.stringMatching(/(game-.@\w+ \(not connected, .*){2}/),
  });
  await store.editors.forget(second.editorId);
  const { record } = await ann.submit("work", { Name: "w" });
  expect(record.editor).toBe(editor.editorId);
  await ann.reaches(record.logId, "queued");
});

test("an Editor in a domain reload is not passed over for another one", async () => {
  const system = await withTwo();
  const { client, editor, second, away } = system;
  const ann = client();
  const down = 60_000;
  void editor.faults.reload(down).catch(() => undefined);
  await away(editor);
  await expect(ann.submit("work", { Name: "w" })).rejects.toMatchObject({
    code: "EDITOR_AMBIGUOUS",
    message: expect.stringContaining(`${editor.editorId} (reconnecting,`),
  });
  await quits(system, second);
  const { record } = await ann.submit("look", { Name: "l" });
  expect(record.editor).toBe(editor.editorId);
});

test("a call goes to the Editor whose project holds the client's folder, and to the selected one before that", async () => {
  const { client, editor, second } = await withTwo();
  const ann = client();
  const call = (name: string) => ann.callOf("work", { Name: name });
  const folders = ["/projects/game-2/Assets"];
  const here = await ann.send({ ...call("a"), folders });
  const selected = await ann.send({ ...call("b"), folders, selected: async () => editor.editorId });
  const unasked = () => Promise.reject(new Error("asked, though the call names an Editor"));
  const named = await ann.send({ ...ann.callOf("work", { Name: "c", editor: "game-2" }), selected: unasked });
  const editors = [here, selected, named].map(({ record }) => record.editor);
  expect(editors).toEqual([second.editorId, editor.editorId, second.editorId]);
  for (const { record } of [here, selected, named]) await ann.outcome(record.logId);
  const gone = ann.send({ ...call("d"), selected: async () => "game-9@12345678" });
  await expect(gone).rejects.toMatchObject({
    code: "EDITOR_UNKNOWN",
    message: expect.stringContaining("select_editor chose"),
  });
});

test("a retry finds its operation when its Editor and its tool are no longer known; a new call does not", async () => {
  const system = await withTwo();
  const { client, editor, second, executions } = system;
  const ann = client();
  const call = { Name: "a", editor: "game-1" };
  const { record } = await ann.submit("work", call);
  await ann.outcome(record.logId);

  await quits(system, editor);
  await forget(system, editor.editorId);
  for (const editorName of ["game-1", "GAME-1", editor.editorId]) {
    const again = await ann.submit("work", { ...call, editor: editorName });
    expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
  }
  await expect(ann.submit("work", { ...call, Name: "b" })).rejects.toMatchObject({ code: "EDITOR_UNKNOWN" });

  second.tools.remove("work");
  second.toolsChanged();
  await eventually(
    async () => !(await system.broker.tools()).some(({ name }) => name === "work"),
    "the tool is gone",
  );
  const again = await ann.submit("work", call);
  expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
  await expect(ann.submit("work", { Name: "b" })).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });

  await quits(system, second);
  await forget(system, second.editorId);
  expect((await ann.submit("work", call)).record.logId).toBe(record.logId);
  await expect(ann.submit("work", { Name: "b" })).rejects.toMatchObject({ code: "NO_EDITOR" });
  expect(executions("a")).toBe(1);
});
