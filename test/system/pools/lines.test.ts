/** Lines for places: who waits in more than one, or in a pool, is not passed again and again. */
import { describe, expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { pausing } from "../../harness/system/said-of-editors.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** An Editor for each text of labels. Their lanes look only when something has happened. */
async function farm(labels: string[], options: { resources?: Record<string, number>; maxRunning?: number }) {
  const of = (text: string) => ({ labels: text.split(" ") });
  const system = await start({ editor: of(labels[0] ?? ""), ...options, worker: { idleLookMs: 600_000 } });
  const others = [];
  for (const each of labels.slice(1)) others.push(await system.addEditor(of(each)));
  await Promise.all(others.map(system.present));
  return { system, editors: [system.editor, ...others].map(({ editorId: editor }) => ({ editor })) };
}

const waitsFor = ({ hand }: System, resource: string, logId: string) =>
  eventually(
    async () => (await hand.hexists(keys.resourceWanted(resource), logId)) === 1,
    `it waits for ${resource}`,
  );

test("one that needs two resources keeps its turn for the first while it waits for the second", async () => {
  const { system, editors } = await farm(["gpu", "licence", "gpu licence"], {
    resources: { gpu: 1, licence: 1 },
  });
  const { bench, client, record } = system;
  const [forGpu, forLicence, forBoth] = editors;
  const [ann, bob, both] = ["ann", "bob", "both"].map((name) => client(name));
  await ann?.submit("work", { Name: "gpu 1", Hold: true }, forGpu);
  await bob?.submit("work", { Name: "licence 1", Hold: true }, forLicence);
  await Promise.all([bench.begins("gpu 1"), bench.begins("licence 1")]);
  const { logId = "" } = (await both?.submit("work", { Name: "both" }, forBoth))?.record ?? {};
  await waitsFor(system, "gpu", logId);
  bench.finish("gpu 1");
  await waitsFor(system, "licence", logId);
  const later = (await ann?.submit("work", { Name: "gpu 2", Hold: true }, forGpu))?.record.logId ?? "";
  const stands = () => system.hand.hget(keys.resourceWanted("gpu"), logId);
  const before = await stands();
  await eventually(async () => (await stands()) !== before, "it says again that it waits");
  expect((await record(later)).state).toBe("queued");
  bench.finish("licence 1");
  await both?.outcome(logId);
  await bench.begins("gpu 2");
  bench.finish("gpu 2");
  await ann?.outcome(later);
  expect(bench.begun.at(-1)).toBe("gpu 2");
});

describe.each([
  ["its resource", { resources: { gpu: 1 } }, "bob"],
  ["its principal's limit", { maxRunning: 1 }, "ann"],
] as const)("a pool's operation waits for a place of %s", (_what, limits, principal) => {
  test("a lane that is always busy does not keep it", async () => {
    const { system, editors } = await farm(["gpu", "gpu second"], limits);
    const { bench, client, store } = system;
    const [here] = editors;
    const [ann, owner] = [client("ann"), client(principal)];
    const busy = (name: string) => ann.submit("work", { Name: name, Hold: true }, here);
    await busy("0");
    await bench.begins("0");
    const { logId } = (await owner.submit("work", { Name: "pool" }, { editor: "pool:second" })).record;
    await eventually(
      async () =>
        (await system.hand.hexists(keys.resourceWanted("gpu"), logId)) +
          (await system.hand.hexists(keys.held(principal), logId)) ===
        1,
      "it stands in line",
    );
    const all = ["1", "2", "3"];
    for (const name of all) await busy(name);
    bench.finish("0");
    for (const name of all) {
      await bench.begins(name);
      bench.finish(name);
    }
    await owner.outcome(logId);
    await eventually(async () => (await store.operations.openOf(here?.editor ?? "")).length === 0, "all end");
    expect(bench.begun).toEqual(["0", "pool", ...all]);
  });
});

test("one that was sent before a pause, and whose place is taken then, waits for it in its Editor", async () => {
  const { system, editors } = await farm(["gpu first", "gpu second"], { resources: { gpu: 1 } });
  const { bench, client, editor, record, warnings } = system;
  const { pause, resume } = pausing(system, editor.editorId);
  const [ann, bob] = [client("ann"), client("bob")];
  editor.faults.stallMainThread(60_000);
  const { logId } = (await ann.submit("work", { Name: "a" }, { editor: "pool:first" })).record;
  await eventually(() => editor.status().open.length === 1, "the Editor has accepted it");
  await pause();
  await editor.faults.crash({ keepUnflushed: true });
  await editor.faults.restart();
  await system.present(editor);
  await eventually(async () => (await record(logId)).state === "queued", "it has come back");
  await bob.submit("work", { Name: "b", Hold: true }, editors[1]);
  await bench.begins("b");
  await resume();
  await waitsFor(system, "gpu", logId);
  bench.finish("b");
  expect((await ann.outcome(logId)).record).toMatchObject({ state: "completed", editor: editor.editorId });
  expect(warnings.filter((line) => line.includes("not run"))).toEqual([]);
});

test("what runs without a note of its place can be cancelled, though its resource is all used", async () => {
  const { system, editors } = await farm(["gpu", "gpu second"], { resources: { gpu: 1 } });
  const { bench, broker, client, hand } = system;
  const [ann, bob] = [client("ann"), client("bob")];
  const { logId } = (await ann.submit("work-cancellable", { Name: "a", Hold: true }, editors[0])).record;
  await ann.reaches(logId, "running");
  // As where the limit was set while it ran.
  await hand.hdel(keys.resource("gpu"), logId);
  const other = (await bob.submit("work", { Name: "b", Hold: true }, editors[1])).record;
  await bench.begins("b");
  expect(await broker.cancel("ann", logId, ann.caller)).toBeDefined();
  expect((await ann.outcome(logId)).record.state).toBe("cancelled");
  bench.finish("b");
  await bob.outcome(other.logId);
});
