/** Of a pool's Editors the one that has the wanted build target active gets the operation. */
import { expect, test } from "vitest";
import { pausing } from "../../harness/system/said-of-editors.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

const forTarget = (target: string) => ({ labels: ["builds", `platform=${target}`] });

/** The Editor that builds for this target. */
async function built(system: System, BuildTarget: string, by = system.client()): Promise<string> {
  const args = { BuildTarget, SimulatedSeconds: 0, OutputPath: `Builds/${BuildTarget}` };
  const { record } = await by.submit("build-player", args, { editor: "pool:builds" });
  const outcome = await by.outcome(record.logId);
  expect(outcome.record.state).toBe("completed");
  return outcome.record.editor;
}

async function two() {
  const system = await start({ editor: forTarget("standalonelinux64") });
  const android = await system.addEditor(forTarget("android"));
  await Promise.all([system.present(system.editor), system.present(android)]);
  return { system, linux: system.editor, android };
}

test("it goes to the Editor with the target that it names, busy or not", async () => {
  const { system, linux, android } = await two();
  const clients = ["a", "b", "c"].map((name) => system.client(name));
  const all = await Promise.all(
    clients.flatMap((by) => [built(system, "Android", by), built(system, "StandaloneLinux64", by)]),
  );
  expect(all).toEqual(clients.flatMap(() => [android.editorId, linux.editorId]));
});

test("it goes to any Editor if none has its target", async () => {
  const { system, linux, android } = await two();
  expect([linux.editorId, android.editorId]).toContain(await built(system, "iOS"));
});

test("it does not wait for one that is paused or away", async () => {
  const { system, linux, android } = await two();
  const { pause, resume } = pausing(system, android.editorId);
  await pause();
  expect(await built(system, "Android", system.client("a"))).toBe(linux.editorId);
  await resume();
  expect(await built(system, "Android", system.client("b"))).toBe(android.editorId);
  await android.close();
  await system.away(android);
  expect(await built(system, "Android", system.client("c"))).toBe(linux.editorId);
});

test("it does not wait for one that describes the tool otherwise", async () => {
  const system = await start({ editor: forTarget("standalonelinux64") });
  const { bench, client, editor, present, store } = system;
  const [work] = bench.tools;
  if (!work) throw new Error("the bench has no tool");
  const inputSchema = {
    type: "object" as const,
    properties: { BuildTarget: { type: "string" }, Name: { type: "string" } },
  };
  const bake = { ...work, name: "bake", inputSchema };
  const linux = await system.addEditor({ ...forTarget("linux"), tools: [bake] });
  await present(linux);
  const baked = async (Name: string) => {
    const args = { BuildTarget: "Android", Name };
    const { record } = await client().submit("bake", args, { editor: "pool:builds" });
    return (await client().outcome(record.logId)).record.editor;
  };
  expect(await baked("first")).toBe(linux.editorId);
  const android = await system.addEditor({
    ...forTarget("android"),
    tools: [{ ...bake, effect: "read_only" }],
  });
  await present(android);
  expect(await baked("second")).toBe(linux.editorId);
  expect(await store.operations.openOf(editor.editorId)).toEqual([]);
});
