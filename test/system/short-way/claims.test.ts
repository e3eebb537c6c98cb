/**
 * The rules of a claim hold in the scripts that create and end operations: they claim what the owner would claim, and leave
 * everything else to it.
 */
import { Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import { documentOf } from "../../../src/shared/store/operations/record.js";
import { encodeResult } from "../../../src/shared/store/results/stored-result.js";
import { claimedDocument } from "../../../src/shared/store/scripts/claim.js";
import type { Store } from "../../../src/shared/store/store.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { create, EDITOR, end, type NotedLane, OWNER, ownLane, QUEUE } from "./local-lane.js";

const { open, byHand, redis, closeLater } = useOpenedStores();

interface Owned {
  store: Store;
  hand: Redis;
  lane: NotedLane;
  queue: Queue;
}

async function owned(given: Parameters<typeof open>[0] = {}): Promise<Owned> {
  const store = await open(given);
  const hand = byHand();
  const queue = new Queue(QUEUE, { connection: redis().connection, prefix: BULL_PREFIX });
  closeLater(() => queue.close());
  closeLater(() => hand.flushdb());
  return { store, hand, lane: await ownLane(store, hand), queue };
}

const stateOf = async ({ operations }: Store, logId: string): Promise<string | undefined> =>
  (await operations.find(logId))?.state;

describe("created in an idle lane, it is claimed", () => {
  test("▲12 with the session that will be asked, its job, and its place among those that run", async () => {
    const { store, hand, lane, queue } = await owned();
    const record = await create(store, "a");
    expect(record).toMatchObject({ state: "dispatched", sentIn: 'session "1"/é' });
    expect(record.dispatchedAt).toBeGreaterThanOrEqual(record.acceptedAt);
    expect(await store.operations.find("a")).toEqual(record);
    expect(lane.begun).toMatchObject([{ record: { logId: "a" }, args: '{"Name":"a"}' }]);
    expect(await queue.getJobState(jobIdOf(record))).toBe("active");
    expect(await hand.get(keys.jobLock(QUEUE, jobIdOf(record)))).toBe("token");
    expect(await hand.hgetall(keys.sent("local"))).toEqual({ a: EDITOR });
    expect(await hand.scard(keys.waiting("local"))).toBe(0);
    // No worker is woken for it.
    expect(await hand.exists(keys.queue(QUEUE, "marker"))).toBe(0);
  });

  test("and what this process remembers of it is, byte for byte, what the script wrote", async () => {
    const { store, hand, lane } = await owned();
    const { sentIn: _session, dispatchedAt = 0, ...waiting } = await create(store, "a");
    const document = documentOf({ ...waiting, state: "queued" });
    if (!lane.claimant) throw new Error("it claims nothing");
    const stored = await hand.hget(keys.operation("a"), "doc");
    expect(stored).toBe(claimedDocument(document, lane.claimant, dispatchedAt));
  });
});

/** Why a script leaves an operation to the owner. */
const REASONS: Record<string, (owned: Owned) => Promise<unknown>> = {
  "▲11 another owner holds the lease": ({ hand }) => hand.set(keys.lease(EDITOR), "another"),
  "▲13 the Editor's operations were imported in another incarnation": async ({ lane }) => {
    if (lane.claimant) lane.claimant = { ...lane.claimant, incarnation: "another" };
  },
  "the queue is paused": ({ queue }) => queue.pause(),
  "the queue has a limit of its own": ({ queue }) => queue.setGlobalConcurrency(1),
  "a job without a priority waits": ({ queue }) => queue.add("by hand", { logId: "none" }),
  "a delayed job is due": async ({ queue, hand }) => {
    await queue.add("by hand", { logId: "none" }, { delay: 60_000, jobId: "due", priority: 5 });
    await hand.zadd(keys.queue(QUEUE, "delayed"), 0, "due");
  },
  "as many jobs as the lane takes are taken": async ({ hand }) => {
    await hand.set(keys.jobLock(QUEUE, "another"), "its token");
    await hand.lpush(keys.jobs(QUEUE, "active"), "another");
  },
  "its principal has as many running as it may": async ({ hand, store }) => {
    await hand.hset(keys.sent("local"), "b1", "there");
    await hand.zadd(keys.editors, (await store.operations.now()) + 60_000, "there");
  },
};

describe("it is left to the owner, in its place in the queue, if", () => {
  test.each([
    ...Object.entries(REASONS),
    ["another operation waits before it", ({ store, lane }) => without(lane, () => create(store, "earlier"))],
  ] as [string, (owned: Owned) => Promise<unknown>][])("at its creation %s", async (_why, prepare) => {
    const all = await owned({ maxRunning: 1 });
    await prepare(all);
    const record = await create(all.store, "a");
    expect(record.state).toBe("queued");
    expect(await stateOf(all.store, "a")).toBe("queued");
    expect(all.lane.begun).toEqual([]);
    expect(await all.queue.getJobState(jobIdOf(record))).toBe("prioritized");
    expect(await all.hand.sismember(keys.waiting("local"), "a")).toBe(1);
  });

  test.each(Object.entries(REASONS))("at the end of the one before it %s", async (why, prepare) => {
    const all = await owned({ maxRunning: 2 });
    const { store, lane, queue, hand } = all;
    await create(store, "first");
    const next = await create(store, "a");
    await prepare(all);
    if (why.includes("principal")) await hand.hset(keys.sent("local"), "b2", "there");
    // An owner that has lost its lease does not even end the one before it.
    const isOwner = !why.startsWith("▲11");
    expect(await end(store, "first")).toMatchObject({ kind: isOwner ? "applied" : "not_owner" });
    expect(lane.ended).toEqual(isOwner ? [undefined] : []);
    expect(await store.operations.find("a")).toEqual(next);
    expect(await queue.getJobState(jobIdOf(next))).toBe("prioritized");
  });
});

/** As long as this runs, the lane takes nothing. */
async function without<Result>(lane: NotedLane, act: () => Promise<Result>): Promise<Result> {
  const { claimant } = lane;
  lane.claimant = undefined;
  const result = await act();
  lane.claimant = claimant;
  return result;
}

describe("the end of an operation", () => {
  test("▲14 ends its job in the same step, and claims the next one", async () => {
    const { store, lane, queue, hand } = await owned();
    const first = await create(store, "first");
    const next = await create(store, "next");
    await create(store, "last");
    expect(next.state).toBe("queued");
    await end(store, "first");
    expect(await queue.getJobState(jobIdOf(first))).toBe("completed");
    expect(lane.ended).toMatchObject([
      { record: { logId: "next", state: "dispatched" }, args: '{"Name":"next"}' },
    ]);
    expect(await store.operations.find("next")).toEqual(lane.ended[0]?.record);
    expect(await queue.getJobState(jobIdOf(next))).toBe("active");
    expect(await hand.hgetall(keys.sent("local"))).toEqual({ next: EDITOR });
    expect(await stateOf(store, "last")).toBe("queued");
    // What was claimed may end as any other, and the chain of the next one knows that it has changed.
    await end(store, "next");
    expect(lane.ended[1]?.record.logId).toBe("last");
    expect((await store.operations.chain(next.hash, { principal: "local", caller: null })).version).toBe("3");
  });

  test.each<[string, Partial<OperationRecord>]>([
    ["whose cancellation was requested", { cancel: { requestedAt: 1 } }],
    ["▲10 (b) that another operation answers for", { executedAs: "other" }],
    ["that was sent before, in a session that did not begin it", { sentIn: "the session before" }],
    ["that is not waiting any more", { state: "cancelled", endedAt: 2_000_000_000_000 }],
  ])("claims none %s", async (_what, changes) => {
    const { store, lane } = await owned();
    await create(store, "first");
    await create(store, "next");
    await store.operations.change("next", (record) => ({ record: { ...record, ...changes } }));
    const before = await store.operations.find("next");
    await end(store, "first");
    expect(lane.ended).toEqual([undefined]);
    expect(await store.operations.find("next")).toEqual(before);
  });

  test("▲1 claims none by a job that its record does not name", async () => {
    const { store, lane, queue } = await owned();
    await create(store, "first");
    const next = await without(lane, () => create(store, "next"));
    await queue.remove(jobIdOf(next));
    await queue.add("by hand", { logId: "next" }, { jobId: "another-hash.next", priority: 1 });
    await end(store, "first");
    expect(lane.ended).toEqual([undefined]);
    expect(await stateOf(store, "next")).toBe("queued");
  });

  test("claims none, and ends no job, where it is not its owner that ends it: the lane is not done with it", async () => {
    const { store, lane, queue } = await owned();
    const first = await create(store, "first");
    await create(store, "next");
    const ended = await store.operations.change("first", (record, now) => ({
      record: { ...record, state: "interrupted", endedAt: now },
    }));
    expect(ended).toMatchObject({ kind: "applied" });
    expect(lane.ended).toEqual([]);
    expect(await queue.getJobState(jobIdOf(first))).toBe("active");
    expect(await stateOf(store, "next")).toBe("queued");
  });

  test("▲11 claims none, and ends no job, under another token", async () => {
    const { store, lane, queue, hand } = await owned();
    const first = await create(store, "first");
    await create(store, "next");
    await hand.set(keys.jobLock(QUEUE, jobIdOf(first)), "another", "KEEPTTL");
    expect(await end(store, "first")).toMatchObject({ kind: "applied" });
    expect(lane.ended).toEqual([]);
    expect(await queue.getJobState(jobIdOf(first))).toBe("active");
    expect(await stateOf(store, "next")).toBe("queued");
  });

  test("▲14 that cannot be stored ends no job, and claims none", async () => {
    const { store, lane, queue } = await owned({ resultsBudgetBytes: 10 });
    await create(store, "first");
    const next = await create(store, "next");
    await create(store, "last");
    const result = await encodeResult("x".repeat(100));
    const ending = (record: OperationRecord, now: number) => ({
      record: { ...record, state: "completed" as const, endedAt: now },
      result,
    });
    // Even more than the budget has room where nothing else is.
    expect(await store.operations.change("first", ending, OWNER)).toMatchObject({ kind: "applied" });
    expect(await store.operations.change("next", ending, OWNER)).toEqual({ kind: "full" });
    expect(lane.ended).toHaveLength(1);
    expect(await queue.getJobState(jobIdOf(next))).toBe("active");
    expect(await stateOf(store, "next")).toBe("dispatched");
    expect(await stateOf(store, "last")).toBe("queued");
  });

  test("claims none before it was accepted, though the store's clock went back meanwhile", async () => {
    const { store, lane } = await owned();
    const acceptedAt = (await store.operations.now()) + 60_000;
    expect((await create(store, "first", { acceptedAt })).dispatchedAt).toBe(acceptedAt);
    await create(store, "next", { acceptedAt: acceptedAt + 1 });
    await end(store, "first");
    expect(lane.ended[0]?.record.dispatchedAt).toBe(acceptedAt + 1);
  });

  test("is whole even where keys of its queue were edited", async () => {
    const { store, lane, hand } = await owned();
    await create(store, "first");
    await create(store, "next");
    await hand.del(keys.jobs(QUEUE, "prioritized"));
    await hand.set(keys.jobs(QUEUE, "prioritized"), "edited");
    expect(await end(store, "first")).toMatchObject({ kind: "applied" });
    expect(await stateOf(store, "first")).toBe("completed");
    expect(lane.ended).toEqual([undefined]);
    expect(await stateOf(store, "next")).toBe("queued");
  });
});

describe("an operation that its principal's limit holds back", () => {
  const HELD_FOR_MS = 3_600_000;

  /** Held back in a queue of another Editor, as its lane puts it aside. */
  async function heldBack({ store, queue, hand }: Owned): Promise<OperationRecord> {
    await hand.zadd(keys.editors, (await store.operations.now()) + 60_000, EDITOR);
    await create(store, "first");
    const held = await create(store, "held", { lane: "background" });
    const claim = (record: OperationRecord) => ({ record: { ...record, state: "dispatched" as const } });
    expect(await store.operations.change("held", claim)).toEqual({ kind: "held" });
    const background = new Queue(queue.name.replace(/main$/, "background"), queue.opts);
    closeLater(() => background.close());
    const worker = new Worker(background.name, undefined, {
      connection: redis().connection,
      prefix: BULL_PREFIX,
      autorun: false,
    });
    closeLater(() => worker.close());
    const job = await worker.getNextJob("its lane");
    await job?.moveToDelayed(Date.now() + HELD_FOR_MS, "its lane");
    return held;
  }

  const jobState = async (store: Store, record: OperationRecord) =>
    store.queues
      .lanesOf(record.editor)
      .find(({ name }) => name === queueName(record.editor, record.lane))
      ?.getJobState(jobIdOf(record));

  test("asks again as soon as one of them has ended, and not after its pause", async () => {
    const all = await owned({ maxRunning: 1 });
    const held = await heldBack(all);
    expect(await jobState(all.store, held)).toBe("delayed");
    await end(all.store, "first");
    expect(await jobState(all.store, held)).toBe("prioritized");
  });

  test("asks again at once if the place came free before it was put aside", async () => {
    const all = await owned({ maxRunning: 1 });
    const held = await heldBack(all);
    await all.store.operations.releaseHeld("held");
    expect(await jobState(all.store, held)).toBe("delayed");
    await all.hand.del(keys.sent("local"));
    await all.store.operations.releaseHeld("held");
    expect(await jobState(all.store, held)).toBe("prioritized");
  });
});
