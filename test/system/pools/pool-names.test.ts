import { expect, test } from "vitest";
import { labelsOf, ownLabels, poolIn } from "../../../src/shared/editors/target.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("an Editor does not give itself the labels of another project, unseen", () => {
  const editor = {
    projectName: "Toy",
    unityVersion: "6000.0.1f1",
    labels: ["project=bank", "unity=2022.3.1f1"],
  };
  const labels = labelsOf(editor);
  expect({ labels, shown: ownLabels(labels) }).toEqual({
    labels: ["project=toy", "unity=6000.0.1f1"],
    shown: [],
  });
});

test("projects whose names have no Latin letters have no label by their name, instead of all the same", () => {
  const of = (projectName: string) => labelsOf({ projectName, unityVersion: "6000.0.1f1" });
  expect(of("ゲーム")).toEqual(["unity=6000.0.1f1"]);
});

test("a project with a long name has its label", () => {
  expect(labelsOf({ projectName: "a".repeat(80), unityVersion: "6000.0.1f1" }).join()).toContain("project=");
});

test("texts that are no pools are refused in short", async () => {
  const { client } = await start({ editor: { labels: ["android"] } });
  const ann = client();
  const long = `pool:${"a,".repeat(200_000)}`;
  expect(poolIn(long)).toBe("");
  for (const editor of [
    "pool:",
    "pool:,",
    "pool:__proto__",
    "pool:a=b=c",
    "pool:ä",
    "POOL:\u0000",
    "pool:*",
    "pool: ",
  ])
    await expect(ann.submit("work", { Name: "a" }, { editor })).rejects.toMatchObject({
      code: "EDITOR_UNKNOWN",
    });
  const error = await ann.submit("work", { Name: "a" }, { editor: long }).catch((e: Error) => e);
  expect((error as Error).message.length).toBeLessThan(10_000);
});

test("an Editor whose id is that of a pool, or of its queue, is not taken for one", async () => {
  const { client, editor, bench, addEditor, present, executions } = await start({
    editor: { labels: ["android"] },
  });
  const ann = client();
  await ann.submit("work", { Name: "one", Hold: true }, { editor: editor.editorId });
  await bench.begins("one");
  const { record } = await ann.submit("work", { Name: "a" }, { editor: "pool:android" });
  const hostile = ["pool:android", "pool_android", "Pool_android"];
  await Promise.all(hostile.map((editorId) => addEditor({ editorId, labels: ["nothing"] })));
  const other = await addEditor({});
  await present(other);
  await ann.outcome((await ann.submit("work", { Name: "turn" }, { editor: other.editorId })).record.logId);
  bench.finish("one");
  expect((await ann.outcome(record.logId)).record.editor).toBe(editor.editorId);
  expect(executions("a")).toBe(1);
});
