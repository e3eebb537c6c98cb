/** What an owner claims in one step, and what it must read first. */

import { Worker } from "bullmq";
import type { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { BULL_PREFIX, keys, queueName } from "../../../src/shared/store/keys.js";
import type { Claimant } from "../../../src/shared/store/scripts/call.js";
import type { Store } from "../../../src/shared/store/store.js";
import { eventually } from "../../harness/eventually.js";
import { jobState } from "../../harness/system/job-state.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { operation } from "../../unit/shared/record.js";

const { open, byHand, redis, closeLater } = useOpenedStores();

const EDITOR = "shop@1";
const OWNER = "nonce of the owner";

interface Owned {
  store: Store;
  hand: Redis;
  claimant: Claimant;
}

async function owned(given: Parameters<typeof open>[0] = {}): Promise<Owned> {
  const store = await open(given);
  const hand = byHand();
  closeLater(() => hand.flushdb());
  await hand.set(keys.lease(EDITOR), OWNER);
  const incarnation = await store.operations.incarnation();
  const session = 'session "1"/é';
  return { store, hand, claimant: { editor: EDITOR, lane: "main", fence: OWNER, session, incarnation } };
}

/** As its owner says once it has heard the Editor. */
async function connect(hand: Redis, editor: string): Promise<void> {
  await hand.set(keys.lease(editor), OWNER);
  await hand.hset(keys.editor(editor), "owner", OWNER);
}

let created = 0;

/** A new operation of its own hash. */
async function create(
  { operations }: Store,
  logId: string,
  changes: Partial<OperationRecord> = {},
): Promise<OperationRecord> {
  created += 1;
  const about = { hash: `hash ${created}`, incarnation: await operations.incarnation() };
  const acceptedAt = await operations.now();
  const record = operation({ logId, editor: EDITOR, acceptedAt, ...about, ...changes });
  const answer = await operations.create(record, JSON.stringify({ Name: logId }), "0");
  if (answer.kind !== "created") throw new Error(answer.kind);
  return answer.record;
}

const claim = ({ store, claimant }: Owned, record: OperationRecord) =>
  store.operations.claim(jobIdOf(record), claimant);

const end = (store: Store, logId: string) =>
  store.operations.change(
    logId,
    (record, now) => ({ record: { ...record, state: "completed", endedAt: now } }),
    OWNER,
  );

const stateOf = async ({ operations }: Store, logId: string): Promise<string | undefined> =>
  (await operations.find(logId))?.state;

test("▲12 it is claimed in the session that will be asked, with its place among those that run", async () => {
  const all = await owned();
  const { store, hand } = all;
  const record = await create(store, "a");
  expect(await jobState(store, record)).toBe("prioritized");
  const claimed = await claim(all, record);
  expect(claimed).toMatchObject({
    record: { state: "dispatched", sentIn: 'session "1"/é' },
    args: '{"Name":"a"}',
  });
  expect(await store.operations.find("a")).toEqual(claimed?.record);
  expect(await hand.hgetall(keys.sent("local"))).toEqual({ a: EDITOR });
  expect(await hand.scard(keys.waiting("local"))).toBe(0);
  expect(await claim(all, record)).toBeUndefined();
  await end(store, "a");
  // Created, claimed, ended: the chain knows each.
  expect((await store.operations.chain(record.hash, { principal: "local", caller: null })).version).toBe("3");
});

test("it is claimed no earlier than it was accepted, though the store's clock went back meanwhile", async () => {
  const all = await owned();
  const acceptedAt = (await all.store.operations.now()) + 60_000;
  const record = await create(all.store, "a", { acceptedAt });
  expect((await claim(all, record))?.record.dispatchedAt).toBe(acceptedAt);
});

describe("nothing is claimed if", () => {
  test.each<[string, (all: Owned) => unknown]>([
    ["▲11 another owner holds the lease", ({ hand }) => hand.set(keys.lease(EDITOR), "another")],
    [
      "▲13 the Editor's operations were imported in another incarnation",
      ({ claimant }) => Object.assign(claimant, { incarnation: "another" }),
    ],
    ["the job is another lane's", ({ claimant }) => Object.assign(claimant, { lane: "background" })],
    [
      "its principal has as many running as it may",
      async ({ hand }) => {
        await hand.hset(keys.sent("local"), "b1", "there");
        await connect(hand, "there");
      },
    ],
    ["its arguments are lost", ({ hand }) => hand.hdel(keys.operation("a"), "arguments")],
    ["▲1 its record is lost", ({ hand }) => hand.del(keys.operation("a"))],
  ])("%s", async (_why, prepare) => {
    const all = await owned({ maxRunning: 1 });
    const record = await create(all.store, "a");
    await prepare(all);
    const before = await all.store.operations.find("a");
    expect(await claim(all, record)).toBeUndefined();
    expect(await all.store.operations.find("a")).toEqual(before);
  });

  test.each<[string, Partial<OperationRecord>]>([
    ["its cancellation was requested", { cancel: { requestedAt: 1 } }],
    ["▲10 (b) another operation answers for it", { executedAs: "other" }],
    ["it was sent before, in a session that did not begin it", { sentIn: "the session before" }],
    ["it is not waiting any more", { state: "cancelled", endedAt: 2_000_000_000_000 }],
  ])("%s", async (_what, changes) => {
    const all = await owned();
    const record = await create(all.store, "a");
    await all.store.operations.change("a", (latest) => ({ record: { ...latest, ...changes } }));
    const before = await all.store.operations.find("a");
    expect(await claim(all, record)).toBeUndefined();
    expect(await all.store.operations.find("a")).toEqual(before);
  });

  test("▲1 the job is not the one that its record names", async () => {
    const all = await owned();
    await create(all.store, "a");
    expect(await all.store.operations.claim("another-hash.a", all.claimant)).toBeUndefined();
    expect(await stateOf(all.store, "a")).toBe("queued");
  });
});

describe("an operation that its principal's limit holds back", () => {
  const HELD_FOR_MS = 3_600_000;

  /** Held back in another lane, as that puts it aside. */
  async function heldBack(all: Owned): Promise<OperationRecord> {
    const { store, hand, claimant } = all;
    await connect(hand, EDITOR);
    await claim(all, await create(store, "first"));
    const held = await create(store, "held", { lane: "background" });
    const other = { ...all, claimant: { ...claimant, lane: "background" as const } };
    expect(await claim(other, held)).toBeUndefined();
    const worker = new Worker(queueName(EDITOR, "background"), undefined, {
      connection: redis().connection,
      prefix: BULL_PREFIX,
      autorun: false,
    });
    closeLater(() => worker.close());
    const job = await worker.getNextJob("its lane");
    await job?.moveToDelayed(Date.now() + HELD_FOR_MS, "its lane");
    return held;
  }

  test("asks again as soon as one of them has ended, and not after its pause", async () => {
    const all = await owned({ maxRunning: 1 });
    const held = await heldBack(all);
    expect(await jobState(all.store, held)).toBe("delayed");
    await end(all.store, "first");
    await eventually(async () => (await jobState(all.store, held)) === "prioritized", "it asks again");
  });
});
