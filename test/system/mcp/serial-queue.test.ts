import fc from "fast-check";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import type { OperationRecord, PriorityClass, State } from "../../../src/shared/operation/operation.js";
import { LOCAL } from "../../../src/shared/principal.js";
import { keys } from "../../../src/shared/store/keys.js";
import type { Operations } from "../../../src/shared/store/operations/operation-store.js";
import { openStore } from "../../../src/shared/store/store.js";
import type { Client } from "../../harness/system/client.js";
import { useSystem } from "../../harness/system/system.js";
import { operation } from "../../unit/shared/record.js";

const { start, redis } = useSystem();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Step = { submit: string; priorityClass: PriorityClass } | "send" | "end";

/** A queue without BullMQ: what waits is sent by its turn, then by its order of acceptance. */
function createLine(operations: Operations) {
  let count = 0;
  let sent = 0;
  let waiting: {
    record: OperationRecord;
    own: number;
    from: number;
    highest: number;
    /** It is of the batch class, or waits for its own principal's batch: their order holds. */
    yields: boolean;
  }[] = [];
  let running: string | undefined;
  const order: OperationRecord[] = [];
  const into = async (logId: string, state: State): Promise<void> => {
    await operations.change(logId, (record) => ({ record: { ...record, state } }));
  };
  const end = async (): Promise<void> => {
    if (running !== undefined) await into(running, "completed");
    running = undefined;
  };
  return {
    waiting: () => waiting,
    sent: order,
    end,
    async submit(principal: string, priorityClass: PriorityClass): Promise<OperationRecord> {
      if (running === undefined && waiting.length === 0) sent = 0;
      count += 1;
      const logId = `op${count}`;
      const incarnation = await operations.incarnation();
      const given = {
        logId,
        hash: `hash ${logId}`,
        principal,
        priorityClass,
        acceptedAt: count,
        incarnation,
      };
      const record = operation(given);
      const created = await operations.create(record, "{}", "0");
      if (created.kind !== "created") throw new Error(created.kind);
      const mine = waiting.filter(({ record }) => record.principal === principal);
      const yields = priorityClass === "batch" || mine.some((each) => each.yields);
      const interactive = waiting.filter(({ record }) => record.priorityClass === "interactive");
      const highest = Math.max(0, ...interactive.map(({ record }) => record.turn ?? 0));
      waiting.push({ record: created.record, own: mine.length, from: sent, highest, yields });
      return created.record;
    },
    async cancelNewest(): Promise<void> {
      const newest = waiting.pop();
      if (newest) await into(newest.record.logId, "cancelled");
    },
    async send() {
      const [next] = [...waiting].sort(
        (a, b) => (a.record.turn ?? 0) - (b.record.turn ?? 0) || a.record.acceptedAt - b.record.acceptedAt,
      );
      if (!next) return undefined;
      waiting = waiting.filter((other) => other !== next);
      await into(next.record.logId, "dispatched");
      await end();
      running = next.record.logId;
      sent = Math.max(sent, next.record.turn ?? 0);
      order.push(next.record);
      return next.record;
    },
  };
}

async function openOperations(): Promise<Operations> {
  const store = await openStore(redis().connection, { retentionMs: 60_000 });
  closers.push(() => store.close());
  return store.operations;
}

describe("whose turn it is", () => {
  const submit = fc.record({
    submit: fc.constantFrom("ann", "bob", "cat"),
    priorityClass: fc.constantFrom<PriorityClass>("interactive", "interactive", "batch"),
  });
  const ann = { submit: "ann", priorityClass: "interactive" } as const;
  const bob = { submit: "bob", priorityClass: "interactive" } as const;
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: submit },
    { weight: 4, arbitrary: fc.constant<Step>("send") },
    { weight: 1, arbitrary: fc.constant<Step>("end") },
  );
  const steps = fc.array(step, { maxLength: 40 });

  test("nobody starves, nobody is overtaken for long, and each principal's own order holds", async () => {
    const operations = await openOperations();
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        await redis().flush();
        const line = createLine(operations);
        const passes = new Map<string, Record<string, number>>();
        const send = async (): Promise<boolean> => {
          const before = line.waiting();
          const next = await line.send();
          if (!next) return false;
          const [mine, ...later] = before.filter(({ record }) => record.principal === next.principal);
          expect(mine?.record.logId, `the order of ${next.principal}: ${later.length}`).toBe(next.logId);
          for (const { record, own, from, yields } of line.waiting()) {
            if (record.principal === next.principal) continue;
            const passed = passes.get(record.logId) ?? {};
            const times = (passed[next.principal] ?? 0) + 1;
            passes.set(record.logId, { ...passed, [next.principal]: times });
            // Each of its own turns lets at most one of every other principal pass, and one may share its turn.
            const turns = yields ? (record.turn ?? 0) - from + 1 : own + 2;
            expect(times, `${next.principal} passes ${record.logId}`).toBeLessThanOrEqual(turns);
          }
          return true;
        };
        for (const step of given) {
          if (step === "send") await send();
          else if (step === "end") await line.end();
          else {
            const record = await line.submit(step.submit, step.priorityClass);
            const here = line.waiting().find((each) => each.record === record);
            if (step.priorityClass === "batch") expect(record.turn).toBeGreaterThan(here?.highest ?? 0);
          }
        }
        while (await send());
        await line.end();
      }),
      // Bob's batch yields to all of Ann's, and his own next call waits for it.
      { numRuns: 40, examples: [[[ann, ann, ann, ann, { submit: "bob", priorityClass: "batch" }, bob]]] },
    );
  });

  test("who asks again and again does not pass those that wait", async () => {
    const line = createLine(await openOperations());
    for (let each = 0; each < 6; each += 1) await line.submit("ann", "interactive");
    for (let each = 0; each < 6; each += 1) {
      const next = await line.submit("bob", "interactive");
      while ((await line.send())?.logId !== next.logId);
    }
    const principals = line.sent.map(({ principal }) => principal);
    for (let at = 0; at < 12; at += 2) expect(principals.slice(at, at + 2).sort()).toEqual(["ann", "bob"]);
    await line.end();
  });

  test("who cancelled all that waited does not pay for it", async () => {
    const line = createLine(await openOperations());
    await line.submit("bob", "interactive");
    await line.send();
    for (let each = 0; each < 5; each += 1) await line.submit("ann", "interactive");
    for (let each = 0; each < 5; each += 1) await line.cancelNewest();
    for (let each = 0; each < 3; each += 1) await line.submit("bob", "interactive");
    const ann = await line.submit("ann", "interactive");
    expect(ann.turn).toBe(line.waiting()[0]?.record.turn);
    while (await line.send());
    await line.end();
  });

  test("the numbers end where BullMQ's do, and begin again when nothing is open", async () => {
    const line = createLine(await openOperations());
    const first = await line.submit("ann", "interactive");
    expect(first.turn).toBe(2);
    const hand = new Redis(redis().connection);
    closers.push(() => hand.disconnect());
    await hand.hset(keys.turns("shop@1.main"), "sent", 2_097_150);
    const last = [await line.submit("bob", "interactive"), await line.submit("bob", "interactive")];
    expect(last.map(({ turn }) => turn)).toEqual([2_097_151, 2_097_151]);
    while (await line.send());
    await line.end();
    expect((await line.submit("bob", "interactive")).turn).toBe(2);
    await line.send();
    await line.end();
  });
});

describe("in the queue of an Editor", () => {
  /** Behind an operation that holds the main lane. */
  async function behind() {
    const find = async (id: string) =>
      ({ ...LOCAL, id, priorityClass: id === "night" ? "batch" : "interactive" }) as const;
    const system = await start({ principals: { find } });
    const holder = system.client("holder");
    const { record } = await holder.submit("work", { Name: "block", Hold: true });
    await system.bench.begins("block");
    const submitAll = async (client: Client, names: readonly string[]) => {
      const records: OperationRecord[] = [];
      for (const Name of names) records.push((await client.submit("work", { Name })).record);
      return records;
    };
    const run = async (): Promise<string[]> => {
      system.bench.finish("block");
      await holder.outcome(record.logId);
      for (const { logId, principal } of (
        await system.store.operations.openOf(system.editor.editorId)
      ).concat())
        await system.client(principal).outcome(logId);
      return system.bench.begun.slice(1);
    };
    return { ...system, submitAll, run };
  }
  const named = (who: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${who} ${index}`);

  test("eight interleaved callers of two principals progress in turn, each in its own order", async () => {
    const { client, submitAll, run } = await behind();
    const callers = ["ann", "bob"].flatMap((principal) =>
      [1, 2, 3, 4].map((each) => {
        const id = `${principal}${each}`;
        return { id, client: client(principal, { id, transport: "http" }) };
      }),
    );
    await Promise.all(callers.map((caller) => submitAll(caller.client, named(caller.id, 3))));
    const begun = await run();
    expect(begun).toHaveLength(24);
    const principals = begun.map((name) => name.slice(0, 3));
    for (let at = 0; at < 24; at += 2) expect(principals.slice(at, at + 2).sort()).toEqual(["ann", "bob"]);
    for (const { id } of callers) expect(begun.filter((name) => name.startsWith(id))).toEqual(named(id, 3));
  });

  test("three calls are not behind the twenty of another principal", async () => {
    const { client, submitAll, run, broker } = await behind();
    await submitAll(client("ann"), named("ann", 20));
    const three = await submitAll(client("bob"), named("bob", 3));
    const places = await Promise.all(three.map(({ logId }) => broker.read("bob", logId)));
    expect(places.map((seen) => typeof seen === "object" && seen.queuePosition)).toEqual([2, 4, 6]);
    const begun = await run();
    expect(begun.filter((name) => name.startsWith("bob"))).toEqual(named("bob", 3));
    expect(begun.slice(0, 6).filter((name) => name.startsWith("bob"))).toHaveLength(3);
    expect(begun.filter((name) => name.startsWith("ann"))).toEqual(named("ann", 20));
  });

  test("batch goes behind what is interactive and waits, not behind what comes later", async () => {
    const { client, submitAll, run } = await behind();
    const night = client("night");
    await submitAll(client("ann"), named("ann", 3));
    await night.submit("work", { Name: "night 0" });
    await submitAll(client("ann"), ["ann 3", "ann 4"]);
    expect(await run()).toEqual(["ann 0", "ann 1", "ann 2", "night 0", "ann 3", "ann 4"]);
  });

  test("a job that was lost gets its place back, and is added once", async () => {
    const { client, submitAll, run, store, gateway } = await behind();
    const [first] = await submitAll(client("ann"), named("ann", 3));
    await submitAll(client("bob"), named("bob", 1));
    if (!first) throw new Error("nothing was submitted");
    await store.queues.remove(first);
    expect((await store.queues.ahead(first))?.length).toBeUndefined();
    // Its turn is in the record: any process may add the job, any number of times.
    const found = await store.operations.find(first.logId);
    await Promise.all([1, 2, 3].map(() => found && store.queues.restore(found)));
    await gateway.sweep();
    expect((await store.queues.ahead(first))?.length).toBeLessThanOrEqual(2);
    const begun = await run();
    expect(begun.filter((name) => name.startsWith("ann"))).toEqual(named("ann", 3));
    expect(begun).toHaveLength(4);
  });
});
