import { expect, test } from "vitest";
import { answerOf } from "../src/shared/answer.js";
import { eventually } from "./harness/eventually.js";
import { type System, useSystem } from "./harness/system.js";

const { start } = useSystem();

async function withTwo(): Promise<System & { second: System["editor"] }> {
  const system = await start();
  const second = await system.addEditor();
  await system.present(second);
  return { ...system, second };
}

const namesOf = (editor: System["editor"]): string[] => editor.counter().map(({ what }) => what);

test("with several Editors a call names one, by its id or a unique beginning of it", async () => {
  const { client, editor, second } = await withTwo();
  const ann = client();
  const open = ann.submit("work", { Name: "nowhere" });
  await expect(open).rejects.toMatchObject({
    code: "EDITOR_AMBIGUOUS",
    details: { candidates: expect.arrayContaining([editor.editorId, second.editorId]) },
  });
  await expect(ann.submit("work", { Name: "nowhere" }, { editor: "game-" })).rejects.toMatchObject({
    code: "EDITOR_AMBIGUOUS",
  });
  const unknown = ann.submit("work", { Name: "nowhere", editor: "other" });
  await expect(unknown).rejects.toMatchObject({
    code: "EDITOR_UNKNOWN",
    details: { candidates: expect.arrayContaining([editor.editorId, second.editorId]) },
  });

  const byId = await ann.submit("work", { Name: "by id", editor: editor.editorId });
  const byPrefix = await ann.submit("work", { Name: "by prefix" }, { editor: "game-2" });
  for (const { record } of [byId, byPrefix]) await ann.outcome(record.logId);
  expect(namesOf(editor)).toEqual(["by id"]);
  expect(namesOf(second)).toEqual(["by prefix"]);
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
  expect(await broker.cancel("ann", record.logId, ann.callOf("work"))).toMatchObject({
    record: { state: "cancelled" },
  });
});

test("tools that change in the Editor change here", async () => {
  const { client, broker, editor, store } = await start();
  const ann = client();
  await expect(ann.submit("new-tool", {})).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });
  const changed = new Promise((resolve) => store.news.on("editors", resolve));
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
