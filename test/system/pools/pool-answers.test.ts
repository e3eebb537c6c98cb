/** What is answered through a pool: nothing old, and nothing that its caller may not do. */
import { expect, test } from "vitest";
import { LOCAL } from "../../../src/shared/principal.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:android" };

test("a principal that may only read does not change anything through an Editor where the tool of that name changes something", async () => {
  const principals = {
    find: async (id: string) => ({ ...LOCAL, id, name: id, role: "read" as const }),
  } as never;
  const system = await start({ principals });
  const { bench, client } = system;
  const base = bench.tools[0] as unknown as object;
  const reads = await system.addEditor({
    labels: ["android"],
    tools: [{ ...base, name: "custom", effect: "read_only" } as never],
  });
  await system.present(reads);
  const ann = client();
  const held = await ann.submit("look", { Name: "held", Hold: true }, { editor: reads.editorId });
  await bench.begins("held");
  // Waits for an Editor that is idle. One of another project, with the same label, joins.
  const { record } = await ann.submit("custom", { Name: "c" }, POOL);
  const changes = await system.addEditor({
    labels: ["android"],
    tools: [{ ...base, name: "custom", effect: "mutating" } as never],
  });
  await system.present(changes);
  await expect(ann.submit("custom", { Name: "d" }, { editor: changes.editorId })).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
  // It has had its turn.
  const turn = await ann.submit("look", { Name: "turn" }, { editor: changes.editorId });
  await ann.outcome(turn.record.logId);
  expect((await system.record(record.logId)).editor).toBe("pool:android");
  bench.finish("held");
  await ann.outcome(held.record.logId);
  expect((await ann.outcome(record.logId)).record.editor).toBe(reads.editorId);
});

for (const where of ["pool:android", undefined])
  test(`▲6 a repeatable tool's outcome from before the caller's own change is not given to a call after it (${where ?? "named"})`, async () => {
    const { client, bench, editor } = await start({ editor: { labels: ["android"] } });
    const ann = client();
    const target = { editor: where ?? editor.editorId };
    const first = await ann.submit("put", { Name: "t" }, target);
    const ended = await ann.outcome(first.record.logId);
    await ann.submit("look", { Name: "held", Hold: true }, { editor: editor.editorId });
    await bench.begins("held");
    await ann.submit("work", { Name: "change" }, target);
    const again = await ann.submit("put", { Name: "t" }, target);
    bench.finish("held");
    await ann.outcome(again.record.logId);
    expect({ effect: ended.record.effect, relation: again.relation }).toEqual({
      effect: ended.record.effect,
      relation: "created",
    });
  });

test("nothing without an end is left of a pool that is not used any more", async () => {
  const { client, gateway, hand, editor, store, away } = await start({ editor: { labels: ["android"] } });
  const ann = client();
  for (const Name of ["a", "b"]) {
    const { record } = await ann.submit("work", { Name }, POOL);
    await ann.outcome(record.logId);
  }
  await editor.close();
  await away(editor);
  const { record } = await ann.submit("work", { Name: "c" }, POOL);
  const incarnation = await store.operations.incarnation();
  await store.operations.move(record.logId, () => editor.editorId, { incarnation });
  await gateway.sweep();
  await gateway.broker.cancel("ann", record.logId, ann.caller);
  await hand.zadd("{ujb}:pools", 1, "pool:android");
  await gateway.sweep();
  await gateway.sweep();
  const left: string[] = [];
  for (const key of await hand.keys("*"))
    if (/pool/.test(key) && (await hand.pttl(key)) === -1) left.push(key);
  expect(left).toEqual([]);
});

test("what ran answers its key, also where the tool of the only Editor that is there does not take these arguments", async () => {
  const system = await start();
  const [work] = system.bench.tools;
  const packs = async (effect: string, parameters: string[]) => {
    const properties = Object.fromEntries(parameters.map((name) => [name, { type: "string" }]));
    const inputSchema = { type: "object", properties, additionalProperties: false };
    const tools = [{ ...work, name: "pack", effect, inputSchema } as never];
    const added = await system.addEditor({ labels: ["windows"], tools });
    await system.present(added);
    return added;
  };
  const first = await packs("repeatable", ["Name", "Level"]);
  const ann = system.client();
  const pack = (Name: string) =>
    ann.submit("pack", { Name, Level: "high" }, { editor: "pool:windows", idempotency_key: Name });
  const { record } = await pack("a");
  await ann.outcome(record.logId);
  await first.faults.crash();
  await system.away(first);
  await packs("mutating", ["Name"]);
  expect(await pack("a")).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
  await expect(pack("b")).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
  expect(system.bench.begun).toEqual(["a"]);
});
