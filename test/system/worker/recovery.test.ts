import { describe, expect, test } from "vitest";
import { isStoreAway } from "../../../src/shared/store/connect.js";
import { eventually } from "../../harness/eventually.js";
import { played } from "../../harness/long-form.js";
import type { Client } from "../../harness/system/client.js";
import { type CabledWorker, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const HOUR = 3_600_000;

interface Scene {
  system: System;
  ann: Client;
  worker: CabledWorker;
  strike(): void;
}

/** Submits, and answers how it ended. */
const finished = async (client: Client, ...call: Parameters<Client["submit"]>) =>
  client.outcome((await client.submit(...call)).record.logId);

/** Each: a call is under way and its worker is struck exactly there. Answers the log_id. */
const POINTS: Record<string, (scene: Scene) => Promise<string>> = {
  async "before it takes the job"({ ann, strike }) {
    strike();
    return (await ann.submit("work", { Name: "a", Hold: true })).record.logId;
  },
  async "before the claim is stored"({ ann, worker, strike }) {
    const struck = new Promise<void>((resolve) =>
      worker.toRedis.before('"state":"dispatched"', () => resolve(strike())),
    );
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await struck;
    return record.logId;
  },
  async "after the claim, before the call is sent"({ ann, worker, strike }) {
    worker.toEditor.before("operation/submit", strike);
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "dispatched");
    return record.logId;
  },
  async "after it is sent, before the answer"({ ann, worker, strike, system }) {
    worker.toEditor.before("operation/submit", worker.toEditor.deafen);
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await system.bench.begins("a");
    strike();
    expect((await system.record(record.logId)).state).toBe("dispatched");
    return record.logId;
  },
  async "while it runs"({ ann, strike }) {
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    strike();
    return record.logId;
  },
  async "after the end, before the outcome is stored"({ ann, worker, strike, system }) {
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    const struck = new Promise<void>((resolve) =>
      worker.toRedis.before('"state":"completed"', () => resolve(strike())),
    );
    system.bench.finish("a");
    await struck;
    return record.logId;
  },
  async "after the outcome is stored, before it is acknowledged"({ ann, strike, system }) {
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await system.bench.begins("a");
    system.bench.finish("a");
    await ann.outcome(record.logId);
    expect(system.editor.status().unacknowledged).toHaveLength(1);
    strike();
    return record.logId;
  },
};

/** What a frozen worker does when it wakes depends most on these. */
const TELLING = {
  crash: Object.keys(POINTS),
  freeze: [
    "after the claim, before the call is sent",
    "while it runs",
    "after the end, before the outcome is stored",
  ],
};

describe.each(["crash", "freeze"] as const)("a worker's %s", (kind) => {
  test.each(played(POINTS, TELLING[kind]))(
    "%s: the next owner takes it to its end, once",
    async (_name, reach) => {
      const system = await start({ worker: null });
      const { editor, bench } = system;
      const worker = await system.addCabledWorker(editor, { ackDelayMs: HOUR });
      await system.present(editor);
      const ann = system.client();
      const logId = await reach({ system, ann, worker, strike: () => worker[kind]() });

      await system.addWorker();
      await bench.begins("a");
      bench.finish("a");
      const view = await ann.outcome(logId);
      expect(view).toMatchObject({ record: { state: "completed" }, result: '{"Done":"a"}' });
      await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
      expect(system.executions("a")).toBe(1);

      // One that was frozen wakes up now, and believes that it still owns the Editor.
      worker.toRedis.fix();
      worker.toEditor.fix();
      await ann.outcome((await ann.submit("work", { Name: "b" })).record.logId);
      expect(await system.record(logId)).toMatchObject({ state: "completed" });
      expect(bench.begun).toEqual(["a", "b"]);
    },
  );
});

test("an outcome of a time when no worker lived is collected by the next", async () => {
  const system = await start({ worker: null });
  const { editor, bench } = system;
  const first = await system.addWorker();
  await system.present(editor);
  const ann = system.client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  const waiting = await ann.submit("work", { Name: "b" });
  await ann.reaches(record.logId, "running");
  await first.close();
  bench.finish("a");
  await eventually(() => editor.status().unacknowledged.length === 1, "it ended");
  expect((await system.record(record.logId)).state).toBe("running");
  await system.addWorker();
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect((await ann.outcome(waiting.record.logId)).record.state).toBe("completed");
  expect(bench.begun).toEqual(["a", "b"]);
});

test("of two workers one owns the Editor, and hands it over when it closes", async () => {
  const system = await start({ worker: null });
  const ann = system.client();
  const first = await system.addWorker();
  await system.present(system.editor);
  await system.addWorker();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  await first.close();
  system.bench.finish("a");
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(system.executions("a")).toBe(1);
});

describe("Redis is killed and comes back", () => {
  const options = { commandTimeoutMs: 500, gateway: { safetyPollMs: 100 } };

  /** Asks again, as callers do. */
  const outcome = async (ann: Client, logId: string): ReturnType<Client["outcome"]> => {
    for (;;) {
      try {
        return await ann.outcome(logId);
      } catch (error) {
        if (!isStoreAway(error)) throw error;
      }
    }
  };

  test("while calls wait: each runs once, in order", async () => {
    const { client, bench, redis, editor, away } = await start(options);
    const ann = client();
    await editor.faults.crash();
    await away(editor);
    const names = ["a", "b", "c", "d"];
    const ids: string[] = [];
    for (const Name of names) ids.push((await ann.submit("work", { Name })).record.logId);
    await redis.kill();
    await redis.restart();
    await editor.faults.restart();
    for (const id of ids) expect((await outcome(ann, id)).record.state).toBe("completed");
    expect(bench.begun.toSorted()).toEqual(names);
  });

  test("while an outcome is to be acknowledged: that is done later, on the same connection", async () => {
    const system = await start({ ...options, worker: null });
    const { editor, client, warnings } = system;
    const { toRedis } = await system.addCabledWorker(editor, {
      ackDelayMs: 50,
      lease: { ttlMs: HOUR, renewMs: HOUR },
    });
    await system.present(editor);
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    toRedis.cut();
    await eventually(() => warnings.some((line) => line.includes("not acknowledged yet")), "it was tried");
    toRedis.fix();
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    expect(warnings.filter((line) => line.includes("connection to the Editor ended"))).toEqual([]);
  });

  test("while one runs: it goes on, its end in between is stored afterwards", async () => {
    const { client, bench, redis, editor, executions } = await start(options);
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    await redis.kill();
    bench.finish("a");
    await eventually(() => editor.status().open.length === 0, "it ended");
    await redis.restart();
    expect((await outcome(ann, record.logId)).record.state).toBe("completed");
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    expect(executions("a")).toBe(1);
  });

  test("while it is away every verb answers that it is, a worker can end, and all works afterwards", async () => {
    const lease = { ttlMs: 400, renewMs: 50 };
    const system = await start({ ...options, worker: { lease } });
    const { client, bench, redis, broker, addWorker, executions, warnings } = system;
    const second = await addWorker();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    const waiting = broker.wait("ann", record.logId, { ms: HOUR });
    const given = expect(waiting).rejects.toSatisfy(isStoreAway);
    await redis.kill();
    await given;
    for (const verb of [
      () => ann.submit("work", { Name: "b" }),
      () => broker.read("ann", record.logId),
      () => broker.wait("ann", record.logId, { ms: HOUR }),
      () => broker.cancel("ann", record.logId, ann.caller),
      () => broker.list("ann", 5),
      () => broker.editors(),
    ]) {
      await expect(verb()).rejects.toSatisfy(isStoreAway);
    }
    await second.close();
    await eventually(() => warnings.some((line) => line.includes("lost the Editor's lease")), "it was lost");
    await redis.restart();
    bench.finish("a");
    expect((await outcome(ann, record.logId)).record.state).toBe("completed");
    const next = await ann.submit("work", { Name: "b" });
    expect((await outcome(ann, next.record.logId)).record.state).toBe("completed");
    expect(executions("a") + executions("b")).toBe(2);
  });

  test("and has forgotten an end between two looks: nobody is told an end without its result", async () => {
    const { client, redis, editor, addCabledGateway } = await start(options);
    const ann = client();
    const { record } = await finished(ann, "work", { Name: "a" });
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    const { gateway, toRedis } = await addCabledGateway();
    const looks = new Promise<void>((resolve) =>
      toRedis.before(`{ujb}:result:${record.logId}`, () => resolve(toRedis.hold())),
    );
    const read = gateway.broker.read("ann", record.logId);
    await looks;
    await redis.flush();
    toRedis.fix();
    expect(await read).toBeUndefined();
  });

  /** What the Editor was asked to do is known again, from its own ledger. */
  const toldByTheEditor = ({ store }: System, { record }: { record: { logId: string } }): Promise<void> =>
    eventually(
      async () => (await store.operations.find(record.logId))?.state === "completed",
      "the Editor knew it",
    );

  test("and has forgotten everything: the Editor tells it, and the same call again finds its execution", async () => {
    const system = await start(options);
    const { client, redis, editor, executions } = system;
    const ann = client();
    const first = await finished(ann, "work", { Name: "a" });
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    await redis.flush();
    await toldByTheEditor(system, first);
    const again = await ann.submit("work", { Name: "a" });
    expect(again).toMatchObject({ relation: "replayed", record: { logId: first.record.logId } });
    expect(await ann.outcome(again.record.logId)).toMatchObject({ result: '{"Done":"a"}' });
    expect(executions("a")).toBe(1);
  });

  test("and has forgotten a forced run: the same forced call again finds it, and so does the call without", async () => {
    const system = await start(options);
    const { client, redis, editor, executions } = system;
    const ann = client();
    const first = await finished(ann, "work", { Name: "a" });
    const force_new = first.record.logId;
    const forced = await finished(ann, "work", { Name: "a" }, { force_new });
    expect(executions("a")).toBe(2);
    await eventually(() => editor.status().unacknowledged.length === 0, "both are acknowledged");
    await redis.flush();
    await toldByTheEditor(system, first);
    await toldByTheEditor(system, forced);
    for (const parameters of [{ force_new }, {}]) {
      const again = await ann.submit("work", { Name: "a" }, parameters);
      expect(again).toMatchObject({ relation: "replayed", record: { logId: forced.record.logId } });
    }
    expect(executions("a")).toBe(2);
  });

  test("and has forgotten everything: what is known again can be superseded", async () => {
    const system = await start(options);
    const { client, redis, editor, executions } = system;
    const ann = client();
    const first = await finished(ann, "work", { Name: "a" });
    await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");
    await redis.flush();
    await toldByTheEditor(system, first);
    const forced = await ann.submit("work", { Name: "a" }, { force_new: first.record.logId });
    expect(forced).toMatchObject({ relation: "created", record: { after: first.record.logId } });
    await ann.outcome(forced.record.logId);
    expect(executions("a")).toBe(2);
  });
});
