/** Nothing grows for ever: what operations, Editors and callers leave in the store is gone when its time is over. */

import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { keys, queueName } from "../../../src/shared/store/keys.js";
import { encodeResult, type StoredResult } from "../../../src/shared/store/operations/record.js";
import type { Store } from "../../../src/shared/store/store.js";
import { LANES } from "../../../src/shared/tools/tool.js";
import type { ExecutorResult } from "../../../src/worker/execution/executor-deps.js";
import { createLane } from "../../../src/worker/execution/lane.js";
import { isLongForm } from "../../harness/long-form.js";
import { keysOfPage } from "../../harness/redis/store-page.js";
import { hasJob } from "../../harness/system/job-state.js";
import { WITHOUT_STORE } from "../../harness/system/lonely-lane.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";
import { operation } from "../../unit/shared/record.js";

const { start, redis } = useSystem();

const EDITORS = isLongForm ? 20 : 8;
const DISTINCT = 100;
const FORCED = 100;
const RETENTION_MS = 1_000;
/** What lives longer than a test can wait. */
const LONG_LIVED = /^\{ujb\}:(tombstone|durations):/;
const DAY_MS = 24 * 3_600_000;

const page = keysOfPage().map((row) => ({
  ...row,
  matches: new RegExp(`^${row.key.replaceAll(/[{}]/g, "\\$&").replaceAll(/<[^>]*>/g, ".+")}$`, "s"),
}));
const FOR_EVER = page.filter(({ lives }) => lives === "**for ever**").map(({ key }) => key);

const ASKER = { principal: "local", caller: null };

/** Accepts an operation after the newest of its hash. */
async function submit({ operations }: Store, changes: Partial<OperationRecord>): Promise<OperationRecord> {
  for (;;) {
    const { version, newest, now, incarnation } = await operations.chain(changes.hash ?? "h", ASKER);
    const made = {
      logId: randomUUID(),
      state: "queued" as const,
      after: newest,
      acceptedAt: now,
      incarnation,
    };
    const record = operation({ ...made, ...changes });
    const created = await operations.create(record, JSON.stringify({ Text: record.logId }), version);
    // The one before ended meanwhile.
    if (created.kind === "conflict") continue;
    if (created.kind !== "created") throw new Error(created.kind);
    return created.record;
  }
}

async function end({ operations }: Store, logId: string, given?: StoredResult): Promise<void> {
  await operations.change(logId, (record, now) => ({
    record: { ...record, state: "dispatched", dispatchedAt: now },
  }));
  const result = given ?? (await encodeResult({ Done: logId }));
  await operations.change(logId, (record, now) => ({
    record: { ...record, state: "completed", startedAt: now, endedAt: now, executionMs: 1 },
    result,
  }));
}

/** An Editor comes, has its operations run by an owner, and goes; each second one without a word. */
async function visit({ store, redis, warnings }: System, index: number): Promise<void> {
  const { operations, editors, queues } = store;
  const editor = `game-${index}@${index}`;
  const principal = `principal-${index % 5}`;
  const lost = { onLost: () => undefined, onError: (error: Error) => void warnings.push(error.message) };
  const options = { ttlMs: 2_000, renewMs: 200 };
  const lease = await new Promise<ReturnType<Store["lease"]>>((resolve) => {
    const taken = store.lease(editor, options, { ...lost, onHeld: () => resolve(taken) });
  });
  const owner = lease.fence()?.ownerNonce ?? "";
  await editors.publishTools(editor, []);
  const mark = { editorSessionId: randomUUID(), generation: 1, assetCounter: 1 };
  const project = {
    projectName: editor,
    projectPath: `/projects/${editor}`,
    unityVersion: "6000.0.1f1",
    pid: 1,
  };
  await editors.introduce({ editorId: editor, ...project, ...mark });
  const live = { phase: "ready", mainThreadStallMs: 0, queued: 0 };
  await editors.alive(editor, { owner, live, ledger: undefined, importedIn: "", isNoted: false });
  const diagnosis = { code: "STORE_FULL" as const, message: "", next: "", project: editor };
  await editors.reportDiagnosis(editor, { ...diagnosis, at: (await operations.now()) - DAY_MS });

  const process = async (logId: string): Promise<ExecutorResult> => {
    await end(store, logId);
    return "settled" as ExecutorResult;
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const timings = {
    jobLockMs: 4_000,
    stalledCheckMs: 500,
    idleLookMs: 100,
    heldRetryMs: 50,
    closeMs: 300,
  };
  const lanes = LANES.map((lane) => {
    const queue = queueName(editor, lane);
    const deps = { address: redis.connection, queue, concurrency: 4, process, log };
    return createLane({ ...WITHOUT_STORE, ...deps }, timings);
  });

  const given = { editor, principal };
  for (let at = 0; at < DISTINCT; at += 10) {
    const batch = Array.from({ length: 10 }, (_, offset) => `${editor}/${at + offset}`);
    await Promise.all(batch.map((hash) => submit(store, { ...given, hash })));
  }
  let newest = await submit(store, { ...given, hash: `${editor}/forced` });
  for (let at = 0; at < FORCED; at += 1) {
    const forced = { ...given, hash: newest.hash, supersedes: newest.logId };
    newest = await submit(store, forced);
  }
  await eventually(async () => (await operations.openOf(editor)).length === 0, "all ended");
  await operations.report(newest.logId, { partialResult: { At: 1 } });
  await operations.noteDuplicate(newest.logId, { at: 1, relation: "joined" } as never);
  await store.sessions.save(randomUUID(), { principal, initialize: {} });
  await eventually(async () => !(await hasJob({ queues }, newest)), "its job has ended");

  await Promise.all(lanes.map((lane) => lane.close()));
  if (index % 2 === 0)
    await editors.gone(editor, owner, {
      last: { ...live, editorSessionId: mark.editorSessionId, at: await operations.now() },
      importedIn: await operations.incarnation(),
    });
  await lease.close();
}

const allKeys = async (hand: Redis): Promise<string[]> => (await hand.keys("*")).sort();

test(`${DISTINCT} distinct and ${FORCED} forced operations on each of ${EDITORS} Editors that come and go leave nothing`, async () => {
  const system = await start({
    worker: null,
    retentionMs: RETENTION_MS,
    maxRunning: 1_000,
    maxQueued: 1_000,
    gateway: { forgetEditorMs: RETENTION_MS },
  });
  const { hand, gateway } = system;
  for (let first = 0; first < EDITORS; first += 4) {
    await Promise.all([0, 1, 2, 3].map((offset) => visit(system, first + offset)));
  }

  for (const key of await allKeys(hand)) {
    const rows = page.filter(({ matches }) => matches.test(key));
    const type = await hand.type(key);
    if (type !== "none")
      expect(
        rows.flatMap(({ types }) => types),
        key,
      ).toContain(type);
  }

  // The turn of the gateway's own rounds, which come once an hour here.
  await hand.del(keys.janitor);
  const left = async (): Promise<string[]> =>
    (await allKeys(hand)).filter((key) => !FOR_EVER.includes(key) && !LONG_LIVED.test(key));
  await eventually(async () => {
    await gateway.sweep();
    return (await left()).length === 0;
  }, "only what lives long is left").catch(async (error: Error) => {
    throw new Error(`${error.message}: ${(await left()).slice(0, 20).join(", ")}`);
  });

  const days = (await allKeys(hand)).filter((key) => LONG_LIVED.test(key));
  expect(days.length).toBeGreaterThan(EDITORS * (DISTINCT + FORCED));
  for (const key of days) {
    const most = key.includes(":tombstone:") ? RETENTION_MS + 7 * DAY_MS : 30 * DAY_MS;
    const life = await hand.pttl(key);
    expect(life, key).toBeGreaterThan(0);
    expect(life, key).toBeLessThanOrEqual(most);
  }
  // Their days pass.
  for (const key of days) await hand.pexpire(key, 1);
  await eventually(async () => (await allKeys(hand)).length <= FOR_EVER.length, "they are gone");
  expect(FOR_EVER).toEqual(expect.arrayContaining(await allKeys(hand)));
});

describe("a chain", () => {
  test("that is forced again and again keeps the links whose operations are kept, and few others", async () => {
    const { store, hand } = await start({ worker: null, retentionMs: 20 });
    let newest = await submit(store, {});
    for (let at = 0; at < 300; at += 1) {
      await end(store, newest.logId);
      newest = await submit(store, { supersedes: newest.logId });
    }
    expect(Object.keys(JSON.parse((await hand.get(keys.chain("h"))) ?? "")).length).toBeLessThan(60);
    expect((await store.operations.chain("h", ASKER, newest.supersedes)).forced?.logId).toBe(newest.logId);
    await end(store, newest.logId);
  });

  test("stays while its operation is in flight, and so do the counter of its Editor and its principal's list", async () => {
    const { store, hand } = await start({ worker: null, retentionMs: 30 });
    const { operations } = store;
    const before = await submit(store, { hash: "before" });
    const record = await submit(store, {});
    await end(store, before.logId);
    const kept = [keys.chain(record.hash), keys.mutations(record.editor), keys.principal(record.principal)];
    await eventually(
      async () => (await operations.now()) - record.acceptedAt > 300,
      "three times the retention passed",
    );
    expect(await hand.exists(...kept)).toBe(kept.length);
    expect((await operations.chain(record.hash, ASKER)).records).toMatchObject([{ logId: record.logId }]);
    await end(store, record.logId);
    await eventually(async () => (await hand.exists(...kept)) === 0, "they ended with it");
  });
});

describe("an Editor", () => {
  test("that comes back after its epoch was removed is owned again", async () => {
    const system = await start({ worker: null });
    const { hand, editor, executions } = system;
    const ann = system.client();
    const runs = async (name: string): Promise<void> => {
      const worker = await system.addWorker();
      await system.present(editor);
      const { record } = await ann.submit("work", { Name: name });
      expect((await ann.outcome(record.logId)).record.state).toBe("completed");
      await worker.close();
    };
    const epochKey = keys.epoch(editor.editorId);
    // Nobody gets there one by one.
    await hand.set(epochKey, 1_000_000);
    await runs("a");
    const highest = Number(await hand.get(epochKey));
    expect(await hand.pttl(epochKey)).toBeGreaterThan(0);
    await hand.del(epochKey);
    await runs("b");
    expect(executions("b")).toBe(1);
    // The store's counter began again at 1, and the Editor refused that.
    expect(Number(await hand.get(epochKey))).toBeGreaterThan(highest);
    expect(await hand.pttl(epochKey)).toBeGreaterThan(0);
  });

  test("that is owned keeps its epoch", async () => {
    const { hand, editor } = await start({
      retentionMs: 1,
      worker: { lease: { ttlMs: 60_000, renewMs: 50 } },
    });
    const endsAt = async (): Promise<number> => {
      const seen = await hand.multi().time().pttl(keys.epoch(editor.editorId)).exec();
      const [[, [seconds, micros]], [, leftMs]] = seen as [[null, [string, string]], [null, number]];
      expect(leftMs).toBeGreaterThan(0);
      return Number(seconds) * 1_000 + Number(micros) / 1_000 + leftMs;
    };
    const first = await endsAt();
    await eventually(async () => (await endsAt()) - first > 1_000, "it ends later with each renewal");
  });

  test("that never said hello leaves nothing, nor the diagnosis that a dead worker reported", async () => {
    const { store, hand, gateway } = await start({ worker: null, retentionMs: 100 });
    const lease = await new Promise<ReturnType<Store["lease"]>>((resolve) => {
      const taken = store.lease(
        "game@1",
        { ttlMs: 400, renewMs: 50 },
        { onHeld: () => resolve(taken), onLost: () => undefined, onError: () => undefined },
      );
    });
    const at = await store.operations.now();
    const reported = { code: "STORE_FULL" as const, message: "", next: "", project: "game" };
    await store.editors.reportDiagnosis("game@1", { ...reported, at: at - DAY_MS });
    await store.editors.reportDiagnosis("game@2", { ...reported, at });
    await store.queues.lanesOf("game@1")[0]?.waitUntilReady();
    await gateway.sweep();
    expect(await hand.zscore(keys.served, "game@1"), "it has an owner").not.toBeNull();
    expect([...(await store.editors.diagnoses()).keys()]).toEqual(["game@2"]);
    await lease.close();
    await gateway.sweep();
    await eventually(async () => !(await allKeys(hand)).some((key) => key.includes("game@1")), "all went");
  });

  test("that was forgotten with an operation in flight is looked after until it ended", async () => {
    const { store, gateway, hand } = await start({
      worker: null,
      retentionMs: 2_000,
      gateway: { limits: { absentMs: 1_000, unsentMs: 1_000, sentMs: 1_000 } },
    });
    const { logId, editor } = await submit(store, {});
    await store.editors.forget(editor);
    await gateway.sweep();
    expect(await hand.exists(keys.queue(queueName(editor, "main"), "prioritized"))).toBe(1);
    await eventually(async () => {
      await gateway.sweep();
      return ((await store.operations.find(logId))?.state ?? "expired") === "expired";
    }, "it has expired");
  });
});

test("a large result whose writer dies between two of its pieces runs out", async () => {
  const { store, hand } = await start({ worker: null });
  const { logId } = await submit(store, {});
  const pieces = [Buffer.alloc(10), Buffer.alloc(10)];
  const lives: number[] = [];
  const watching = hand.duplicate();
  await watching.config("SET", "notify-keyspace-events", "Kl");
  await watching.psubscribe("__keyspace@*__:{ujb}:staged:*");
  watching.on("pmessage", (_pattern, channel: string) => {
    void hand.pttl(channel.slice(channel.indexOf(":") + 1)).then((life) => lives.push(life));
  });
  await end(store, logId, { bytes: 20, pieces });
  await eventually(() => lives.length >= 2, "both pieces were seen");
  watching.disconnect();
  await redis().flush();
  expect(lives.filter((life) => life === -1)).toEqual([]);
});
