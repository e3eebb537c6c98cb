/**
 * What survives when Redis dies, goes back in time, loses everything or gives way to another, at every stage of an
 * operation. The Editor's own counter is the judge. docs/guide/reliability.md names these tests.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BrokerError, ERRORS } from "../../../src/shared/errors.js";
import { isStoreAway } from "../../../src/shared/store/connect.js";
import { WORKER_DEFAULTS } from "../../../src/worker/worker.js";
import { eventually } from "../../harness/eventually.js";
import { played } from "../../harness/long-form.js";
import { type RedisSite, type Replica, startRedisSite } from "../../harness/redis/redis-site.js";
import type { Client } from "../../harness/system/client.js";
import { type Scene, stagesWith } from "../../harness/system/stages.js";
import { type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

let site: RedisSite;
beforeEach(async () => {
  site = await startRedisSite();
});
afterEach(() => site.stop());
const { start } = useSystem(() => site);

const OPTIONS: SystemOptions = { commandTimeoutMs: 500, gateway: { safetyPollMs: 100, sweepMs: 50 } };
/** The store loses least, and most, of these. The long form plays the others too. */
const TELLING = ["was claimed, its frame is on the way", "runs", "has ended"];
/** Nobody hears the Editor until it is let go on. */
const UNHEARD = ["was taken, its Editor is away", "was claimed, its frame is on the way"];
const ENDED = { record: { state: "completed" }, result: '{"Done":"a"}' };

/** As callers do: an error that says so is answered by the same once more. */
async function insist<T>(act: () => Promise<T>): Promise<T> {
  const done: T[] = [];
  await eventually(async () => {
    try {
      done.push(await act());
      return true;
    } catch (error) {
      if (isStoreAway(error) || (error instanceof BrokerError && ERRORS[error.code].retry === "safe"))
        return false;
      throw error;
    }
  }, "it is accepted");
  return done[0] as T;
}

const outcome = (ann: Client, logId: string) => insist(() => ann.outcome(logId));

/** By looking: its message may have come while nobody was connected. */
async function isPresent({ store }: System, editorId: string): Promise<boolean> {
  const [known, tools] = await Promise.all([store.editors.find(editorId), store.editors.tools(editorId)]);
  return known?.live !== undefined && tools.length > 0;
}

/** The identical call, by somebody who was told nothing. */
const again = ({ ann, args, record }: Scene) =>
  insist(() => ann.submit("work", args, { editor: record.editor }));

/** The Editor has been told that what ended is stored. */
const acknowledged = ({ system }: Scene) =>
  eventually(() => system.editor.status().unacknowledged.length === 0, "it is acknowledged");

/** One who asks by the log_id, one who sends the call again, and the Editor agree. */
async function expectOnce(scene: Scene): Promise<void> {
  const { ann, record, system } = scene;
  expect(await outcome(ann, record.logId)).toMatchObject(ENDED);
  const same = await again(scene);
  expect(same).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
  expect(system.executions("a")).toBe(1);
}

describe("Redis loses nothing", () => {
  const EVENTS: Record<string, () => Promise<() => Promise<void>>> = {
    "is killed, with appendfsync everysec": async () => async () => {
      await site.written();
      await site.restart();
    },
    async "is killed, with appendfsync always"() {
      await site.set("appendfsync", "always");
      return site.restart;
    },
    async "dies and a replica takes its place"() {
      const { catchUp } = await site.addReplica();
      return async () => {
        await catchUp();
        await site.promote("the master is dead");
      };
    },
    async "becomes the replica of its replica, its connections stand"() {
      const { catchUp } = await site.addReplica();
      return async () => {
        await catchUp();
        await site.promote("the master becomes its replica");
      };
    },
  };
  const stages = stagesWith((more) => start({ ...OPTIONS, ...more }));

  describe.each(Object.keys(EVENTS))("but %s", (event) => {
    test.each(played(stages, ["runs"]))(
      "while an operation %s: it ends once, under its log_id",
      async (_stage, reach) => {
        const strike = await EVENTS[event]?.();
        const scene = await reach();
        if (!strike) throw new Error("no such test");
        await strike();
        await scene.release();
        await expectOnce(scene);
      },
    );
  });
});

/** Two ways to lose what was told since a moment: that moment comes when the first function is called. */
const SETBACKS: Record<string, () => Promise<() => Promise<() => Promise<void>>>> = {
  "is restored from a copy": async () => async () => {
    const copy = await site.copy();
    return () => site.restore(copy);
  },
  async "dies and a replica that lags takes its place"() {
    const replica: Replica = await site.addReplica();
    return async () => {
      await replica.catchUp();
      replica.fallBehind();
      return () => site.promote("the master is dead");
    };
  },
};

describe.each(Object.keys(SETBACKS))("Redis %s", (setback) => {
  const stages = stagesWith((more) => start({ ...OPTIONS, ...more }));

  test.each(played(stages, TELLING))(
    "of the moment when an operation %s, long after its end: the Editor tells the outcome again",
    async (_stage, reach) => {
      const mark = await SETBACKS[setback]?.();
      const scene = await reach();
      if (!mark) throw new Error("no such test");
      const strike = await mark();
      await scene.release();
      await outcome(scene.ann, scene.record.logId);
      await acknowledged(scene);
      await strike();
      await expectOnce(scene);
    },
  );

  test.each(played(stages, TELLING))(
    "of before a call whose operation %s: the identical call finds its execution",
    async (stage) => {
      const mark = await SETBACKS[setback]?.();
      let strike: (() => Promise<void>) | undefined;
      const marked = stagesWith(async (more) => {
        const system = await start({ ...OPTIONS, ...more });
        strike = await mark?.();
        return system;
      });
      const scene = await marked[stage]?.();
      if (!scene || !strike) throw new Error("no such test");
      await strike();
      await expectFound(scene, stage);
    },
  );
});

describe("Redis is flushed", () => {
  const stages = stagesWith((more) => start({ ...OPTIONS, ...more }));
  test.each(played(stages, TELLING))(
    "while an operation %s: the identical call finds its execution",
    async (stage, reach) => {
      const scene = await reach();
      await site.flush();
      await expectFound(scene, stage);
    },
  );
});

test("schedule V: what was stored a moment before Redis went back was not acknowledged, and is told again", async () => {
  // A read is forgotten by the Editor as soon as it is acknowledged.
  const system = await start({ ...OPTIONS, worker: { ackDelayMs: WORKER_DEFAULTS.ackDelayMs * 30 } });
  const ann = system.client();
  const { record } = await ann.submit("look", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  const copy = await site.copy();
  system.bench.finish("a");
  await ann.outcome(record.logId);
  await site.restore(copy);
  expect(await outcome(ann, record.logId)).toMatchObject(ENDED);
  expect(system.bench.begun).toEqual(["a"]);
  // With AOF everysec a write is on disk two seconds later.
  expect(WORKER_DEFAULTS.ackDelayMs).toBeGreaterThanOrEqual(2_000);
});

/** The store knows nothing of the operation: a caller that sends the call again gets its outcome, and nothing runs twice. */
async function expectFound(scene: Scene, stage: string): Promise<void> {
  const { ann, system } = scene;
  if (UNHEARD.includes(stage)) await scene.release();
  for (const { editorId } of scene.editors) {
    await eventually(() => insist(() => isPresent(system, editorId)), "the Editor is there");
  }
  const { record } = await again(scene);
  if (!UNHEARD.includes(stage)) await scene.release();
  const reported = await outcome(ann, record.logId);
  expect(reported).toMatchObject(ENDED);
  // The retry's own operation, or the one before it, restored, which then answers every caller from now on.
  const execution = reported.record.executedAs ?? record.logId;
  expect(await again(scene)).toMatchObject({ relation: "replayed", record: { logId: execution } });
  // What the Editor had not been told to be stored comes back under its old log_id too.
  const old = scene.record.logId;
  const isBack = async () => (await system.store.operations.find(old))?.state === "completed";
  if (stage === "runs") await eventually(() => insist(isBack), "the old log_id is readable again");
  expect(system.executions("a")).toBe(1);
}
