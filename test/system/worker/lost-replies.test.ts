/**
 * A script has written, and its reply never comes: who asked reads what was written, and goes on. Locks on jobs last for an hour here: nothing waits for one to expire.
 */
import { describe, expect, test } from "vitest";
import { clientOf } from "../../harness/system/client.js";
import { HOUR, mainLaneIdle, UNDISTURBED } from "../../harness/system/idle-lane.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

const WORKER = { ...UNDISTURBED, jobLockMs: HOUR, lease: { ttlMs: 15_000, renewMs: 1_000 } };

/** Gateway and owner in one process, which reaches Redis by a cable. */
async function cabled() {
  const system = await start({ worker: null });
  const { gateway, toRedis } = await system.addCabledGateway();
  await system.addWorkerHere(WORKER, gateway.store);
  await system.present(system.editor);
  const { broker } = gateway;
  const ann = clientOf(broker, "ann", { id: "s", transport: "http" });
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await ann.submit("work", { Name: name, ...args })).record.logId;
  await ann.outcome(await call("first"));
  await mainLaneIdle(system.hand, system.editor.editorId);
  return { ...system, broker, toRedis, ann, call };
}

type Cabled = Awaited<ReturnType<typeof cabled>>;

/** What the scripts answer that create, claim and end. */
const ANSWERS = {
  create: "*3\r\n$7\r\napplied\r\n:",
  claim: "*5\r\n$7\r\napplied",
  finish: "*1\r\n$7\r\napplied",
};

/** Resolves once the first such answer has come: nothing comes back any more from it on. One that asks to decide again is heard. */
function deafAt(answer: string, { toRedis }: Cabled): Promise<void> {
  return new Promise((resolve) =>
    toRedis.beforeBack(answer, () => {
      toRedis.deafen();
      resolve();
    }),
  );
}

const back = ({ toRedis }: Cabled): void => {
  toRedis.cut();
  toRedis.fix();
};

/** Submits, and loses the reply of this script. */
async function submittedUnheard(
  system: Cabled,
  script: "create" | "claim",
): Promise<{ logId: Promise<string> }> {
  const isLost = deafAt(ANSWERS[script], system);
  const logId = system.call("unheard");
  await isLost;
  return { logId };
}

test.each(["create", "claim"] as const)(
  "of the script that makes it, %s: it runs once, and before what its caller asks for next",
  async (script) => {
    const system = await cabled();
    const { logId } = await submittedUnheard(system, script);
    back(system);
    const id = await logId;
    const later = await system.call("later");
    await system.ann.outcome(later);
    expect((await system.ann.outcome(id)).record.state).toBe("completed");
    expect(system.bench.begun).toEqual(["first", "unheard", "later"]);
  },
);

test("of the script that creates it, while its Editor restarts: it runs in the new session", async () => {
  const system = await cabled();
  const { logId } = await submittedUnheard(system, "create");
  await system.editor.faults.crash();
  await system.editor.faults.restart();
  back(system);
  expect((await system.ann.outcome(await logId)).record.state).toBe("completed");
  expect(system.executions("unheard")).toBe(1);
});

test("of the script that ends one: those behind it run in their order, one at a time", async () => {
  const system = await cabled();
  const { call, ann, bench } = system;
  await call("block", { Hold: true });
  await bench.begins("block");
  const all: string[] = [];
  for (const name of ["b", "c", "d"]) all.push(await call(name));
  const isLost = deafAt(ANSWERS.finish, system);
  bench.finish("block");
  await isLost;
  back(system);
  for (const logId of all) expect((await ann.outcome(logId)).record.state).toBe("completed");
  expect(bench.begun).toEqual(["first", "block", "b", "c", "d"]);
});

describe("in a queue that people edit", () => {
  async function here(): Promise<System & { call(name: string, args?: object): Promise<string> }> {
    const system = await start({ worker: null, gateway: { sweepMs: 100 } });
    await system.addWorkerHere(WORKER);
    await system.present(system.editor);
    const call = async (name: string, args: object = {}) =>
      (await system.client().submit("work", { Name: name, ...args })).record.logId;
    await system.client().outcome(await call("first"));
    return { ...system, call };
  }
  const queueOf = ({ store, editor }: System) => {
    const [queue] = store.queues.lanesOf(editor.editorId);
    if (!queue) throw new Error("no queue");
    return queue;
  };

  test("a job that cannot be written leaves its operation waiting, and it gets another one", async () => {
    const system = await here();
    const events = queueOf(system).toKey("events");
    await system.hand.set(events, "edited");
    const logId = await system.call("x");
    await system.hand.del(events);
    await system.client().outcome(logId);
    expect(system.executions("x")).toBe(1);
  });

  test("what is behind the running one keeps its place in the queue, and a pause reaches it", async () => {
    const system = await here();
    const block = await system.call("block", { Hold: true });
    await system.bench.begins("block");
    const next = await system.call("next");
    expect((await system.store.queues.ahead(await system.record(next)))?.length).toBe(1);
    await queueOf(system).pause();
    system.bench.finish("block");
    await system.client().outcome(block);
    expect((await system.store.queues.ahead(await system.record(next)))?.length).toBe(0);
    expect(system.executions("next")).toBe(0);
    await queueOf(system).resume();
    await system.client().outcome(next);
    expect(system.bench.begun).toEqual(["first", "block", "next"]);
  });

  test("a limit that is set while one runs: the next one is woken by its end", async () => {
    const system = await here();
    await system.call("block", { Hold: true });
    await system.bench.begins("block");
    await queueOf(system).setGlobalConcurrency(1);
    const next = await system.call("next");
    system.bench.finish("block");
    await system.client().outcome(next);
    expect(system.bench.begun).toEqual(["first", "block", "next"]);
  });

  test("one whose job is removed by hand while it runs: the next one is woken by its end", async () => {
    const system = await here();
    const block = await system.call("block", { Hold: true });
    await system.bench.begins("block");
    const next = await system.call("next");
    await queueOf(system)
      .obliterate({ force: true, count: 1 })
      .catch(() => undefined);
    await queueOf(system).resume();
    system.bench.finish("block");
    await system.client().outcome(block);
    await system.client().outcome(next);
    expect(system.bench.begun).toEqual(["first", "block", "next"]);
  });
});
