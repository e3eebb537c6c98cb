/** Labels of which only so many operations run at once: licences, GPUs. */
import { describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const POOL = { editor: "pool:gpu" };

/** Two Editors with one GPU between them; on the first, ann's operation uses it. */
async function one(commandTimeoutMs = 5_000) {
  const editor = { labels: ["GPU"] };
  const system = await start({ editor, resources: { gpu: 1 }, worker: null, commandTimeoutMs });
  // It looks only when something has happened.
  await system.addWorkerHere({ idleLookMs: 600_000 });
  await system.present(system.editor);
  const second = await system.addEditor({ labels: ["gpu", "second"] });
  await system.present(second);
  const [ann, bob] = [system.client("ann"), system.client("bob")];
  const [here, there] = [{ editor: system.editor.editorId }, { editor: second.editorId }];
  const uses = await ann.submit("work", { Name: "uses", Hold: true }, here);
  await system.bench.begins("uses");
  const wants = (logId: string) =>
    eventually(
      async () => (await system.hand.hexists(keys.resourceWanted("gpu"), logId)) === 1,
      "it waits for it",
    );
  return { ...system, second, ann, bob, here, there, uses: uses.record, wants };
}

describe("a place of a resource", () => {
  test("an operation waits for its place, says for what, and starts when the one that uses it ends", async () => {
    const { ann, bob, there, uses, wants, bench } = await one();
    const waits = (await bob.submit("work", { Name: "waits" }, there)).record;
    await wants(waits.logId);
    const ofBob = answerOf(await bob.reaches(waits.logId, "queued"));
    // What others run is none of bob's business.
    expect(ofBob).toMatchObject({ status: "running", held_back: { limit: 1, resource: "gpu", by: [] } });
    expect(ofBob.message).toContain('It waits for a place of "gpu": 1 operation(s)');
    const own = (await ann.submit("work", { Name: "own" }, there)).record;
    await wants(own.logId);
    const ofAnn = answerOf(await ann.reaches(own.logId, "queued"));
    expect(ofAnn.held_back?.by.map(({ log_id }) => log_id)).toEqual([uses.logId]);
    bench.finish("uses");
    await ann.outcome(uses.logId);
    for (const [client, { logId }] of [
      [bob, waits],
      [ann, own],
    ] as const)
      expect((await client.outcome(logId)).record.state).toBe("completed");
    expect(bench.begun).toEqual(["uses", "waits", "own"]);
  });

  test("the oldest gets the next place: a lane that is always busy does not keep it", async () => {
    const { ann, bob, here, there, uses, wants, bench } = await one();
    const lonely = (await bob.submit("work", { Name: "lonely" }, there)).record;
    await wants(lonely.logId);
    const many = await Promise.all(
      [1, 2, 3].map(async (each) => (await ann.submit("work", { Name: `many ${each}` }, here)).record),
    );
    bench.finish("uses");
    for (const { logId } of [uses, lonely, ...many])
      await (logId === lonely.logId ? bob : ann).outcome(logId);
    expect(bench.begun.slice(0, 2)).toEqual(["uses", "lonely"]);
  });

  test("a pool's operation waits there for its place, and takes it when it is free", async () => {
    const { ann, bob, there, uses, bench, hand } = await one();
    // The Editor that frees the place is not in this pool.
    const waits = (await bob.submit("work", { Name: "waits" }, { editor: "pool:gpu,second" })).record;
    const waiting = answerOf(await bob.reaches(waits.logId, "queued"));
    const moves = () => hand.get(keys.chain(waits.hash));
    const before = await moves();
    for (let look = 0; look < 3; look += 1)
      await bob.outcome((await bob.submit("ping", {}, there)).record.logId);
    expect(await moves()).toBe(before);
    expect(waiting).toMatchObject({
      editor: "pool:gpu,second",
      held_back: { limit: 1, resource: "gpu", by: [] },
    });
    bench.finish("uses");
    await ann.outcome(uses.logId);
    expect((await bob.outcome(waits.logId)).record.state).toBe("completed");
  });

  test("of many calls at once, in a pool and in its Editors, never more run than there are places", async () => {
    const { ann, bob, here, there, uses, bench, executions } = await one();
    const many = await Promise.all(
      [here, there, POOL].flatMap((target, at) =>
        [ann, bob].flatMap((client) =>
          [1, 2].map(async (each) => {
            const name = `${at} ${each} ${client === ann ? "ann" : "bob"}`;
            const { record } = await client.submit("work", { Name: name, Hold: true }, target);
            return { client, name, logId: record.logId };
          }),
        ),
      ),
    );
    bench.finish("uses");
    await ann.outcome(uses.logId);
    const left = new Map(many.map((each) => [each.name, each]));
    while (left.size > 0) {
      await eventually(() => bench.begun.some((name) => left.has(name)), "the next one begins");
      const running = bench.begun.filter((name) => left.has(name));
      expect(running).toHaveLength(1);
      for (const name of running) {
        bench.finish(name);
        const each = left.get(name);
        left.delete(name);
        if (each) await each.client.outcome(each.logId);
      }
    }
    expect(many.map(({ name }) => executions(name))).toEqual(many.map(() => 1));
  });
});

test("what runs beside the main thread takes no place", async () => {
  const { bob, there, uses, ann, bench } = await one();
  const ping = await bob.submit("ping", {}, there);
  expect((await bob.outcome(ping.record.logId)).record.state).toBe("completed");
  bench.finish("uses");
  await ann.outcome(uses.logId);
});

test("one that is cancelled while it waits for a place leaves nothing behind", async () => {
  const { bob, there, uses, ann, bench, wants, hand, broker } = await one();
  const { logId } = (await bob.submit("work", { Name: "waits" }, there)).record;
  await wants(logId);
  await broker.cancel("bob", logId, bob.caller);
  expect((await bob.outcome(logId)).record.state).toBe("cancelled");
  bench.finish("uses");
  await ann.outcome(uses.logId);
  expect(await hand.keys("{ujb}:resource*")).toEqual([]);
});

test("what ended without a note of it takes no place", async () => {
  const { bob, there, uses, ann, bench, hand, second } = await one();
  bench.finish("uses");
  await ann.outcome(uses.logId);
  await hand.hset(keys.resource("gpu"), "ended", second.editorId);
  const { logId } = (await bob.submit("work", { Name: "next" }, there)).record;
  expect((await bob.outcome(logId)).record.state).toBe("completed");
  expect(await hand.keys("{ujb}:resource*")).toEqual([]);
});

test("an operation that the store had lost takes its place again", async () => {
  const { ann, bob, there, uses, bench, redis, store, wants, executions } = await one(2_000);
  await redis.flush();
  await whenStoreIsBack(() => store.operations.now());
  await eventually(async () => (await store.operations.find(uses.logId)) !== undefined, "it is put back");
  const { logId } = (await bob.submit("work", { Name: "waits" }, there)).record;
  await wants(logId);
  expect(executions("waits")).toBe(0);
  bench.finish("uses");
  await ann.outcome(uses.logId);
  expect((await bob.outcome(logId)).record.state).toBe("completed");
});

test("it takes its place by the labels that its Editor says, while the store does not know them", async () => {
  const { client, store, hand } = await start({ resources: { gpu: 1 }, worker: null });
  const { editorId } = PROFILE;
  await store.editors.introduce(PROFILE);
  await store.editors.publishTools(editorId, [TOOL]);
  const { record: lost } = await client("ann").submit("work", { Name: "a" });
  const { logId, hash } = lost;
  await hand.del(keys.operation(logId), keys.chain(hash), keys.tombstone(logId));
  await hand.set(keys.lease(editorId), "owner");
  const sent = { ...lost, state: "dispatched" as const };
  expect(await store.operations.restore(sent, "owner", { labels: ["GPU"] })).toBe(true);
  expect(await hand.hget(keys.resource("gpu"), logId)).toBe(editorId);
  await hand.del(keys.resource("gpu"), keys.lease(editorId));
  await store.operations.change(logId, (record) => ({ record: { ...record, state: "expired" } }));
});

const PROFILE = {
  ...{ editorId: "game@1", projectName: "game", projectPath: "/projects/game", unityVersion: "6000.0.1f1" },
  ...{ pid: 1, editorSessionId: "s1", generation: 0, assetCounter: 0 },
};
const TOOL = {
  ...{ name: "work", description: "", inputSchema: { type: "object" as const }, annotations: {} },
  ...{ effect: "mutating" as const, lane: "main" as const, cancellable: false, resumable: false },
};
