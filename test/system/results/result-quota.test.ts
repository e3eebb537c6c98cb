/** How much arguments and results may take: a budget of each, and a share of it for each principal (limits.ts). */
import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { keys } from "../../../src/shared/store/keys.js";
import type { Operations } from "../../../src/shared/store/operations/operation-store.js";
import type { Created } from "../../../src/shared/store/operations/record.js";
import { eventually } from "../../harness/eventually.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { operation } from "../../unit/shared/record.js";

const { open, byHand } = useOpenedStores();

const make = async (operations: Operations, principal: string, bytes = 10): Promise<Created> => {
  const [logId, acceptedAt] = [randomUUID(), await operations.now()];
  const incarnation = await operations.incarnation();
  const record = operation({ logId, hash: logId, principal, acceptedAt, incarnation, state: "queued" });
  return operations.create(record, JSON.stringify("x".repeat(bytes - 2)), "0");
};
const made = async (...given: Parameters<typeof make>): Promise<OperationRecord> => {
  const created = await make(...given);
  if (created.kind !== "created") throw new Error(created.kind);
  return created.record;
};
const end = (operations: Operations, { logId }: OperationRecord, bytes?: number) =>
  operations.change(logId, (record, now) => ({
    record: { ...record, state: "completed", startedAt: now, endedAt: now },
    ...(bytes === undefined ? {} : { result: { bytes, pieces: [randomBytes(bytes)] } }),
  }));

describe("arguments", () => {
  test("count in a budget from creation to the end of retention; over it new calls are refused, and none is removed", async () => {
    const retentionMs = 300;
    const { operations } = await open({ argumentsBudgetBytes: 1_000, principalShare: 1, retentionMs });
    const kept = [await made(operations, "ann", 400), await made(operations, "ann", 400)] as const;
    expect(await operations.argumentBytes()).toBe(800);
    expect(await make(operations, "ann", 400)).toEqual({ kind: "full" });
    expect((await make(operations, "ann", 100)).kind).toBe("created");
    for (const { logId } of kept) expect(await operations.argumentsOf(logId)).toHaveLength(398);
    // In flight they count for as long as it takes.
    const since = await operations.now();
    await eventually(async () => (await operations.now()) - since > 2 * retentionMs, "time passed");
    expect(await make(operations, "ann", 400)).toEqual({ kind: "full" });
    await end(operations, kept[0]);
    await eventually(
      async () => (await make(operations, "ann", 400)).kind === "created",
      "there is room again",
    );
    expect(await operations.argumentBytes()).toBe(900);
  });

  test("leave no count when the last of them is gone", async () => {
    const { operations } = await open({ retentionMs: 100 });
    for (const principal of ["ann", "bob"]) await end(operations, await made(operations, principal), 50);
    const accounts = [keys.argumentRoom, keys.argumentEnds, keys.resultRoom, keys.resultEnds];
    const hand = byHand();
    expect(await hand.exists(...accounts)).toBe(accounts.length);
    await eventually(async () => (await hand.exists(...accounts)) === 0, "they ran out");
  });

  test("count no longer than it is known when they end", async () => {
    const { operations } = await open();
    await end(operations, await made(operations, "ann", 100), 50);
    const hand = byHand();
    expect(await hand.pttl(keys.argumentEnds)).toBeGreaterThanOrEqual(await hand.pttl(keys.argumentRoom));
    expect(await hand.pttl(keys.resultEnds)).toBeGreaterThanOrEqual(await hand.pttl(keys.resultRoom));
  });

  test("of the same operation count once, also when it is restored", async () => {
    const { operations } = await open();
    const record = await made(operations, "ann", 100);
    await end(operations, record, 10);
    await end(operations, record, 10);
    expect(await operations.argumentBytes()).toBe(100);
    expect(await operations.resultBytes()).toBe(10);
  });
});

describe("one principal", () => {
  const limits = { resultsBudgetBytes: 1_000, argumentsBudgetBytes: 1_000, principalShare: 0.5 };

  test("cannot fill the budget of arguments: each may hold its share of what the others leave", async () => {
    const { operations } = await open(limits);
    await made(operations, "ann", 500);
    expect(await make(operations, "ann", 10)).toEqual({ kind: "full" });
    await made(operations, "bob", 250);
    expect(await make(operations, "bob", 10)).toEqual({ kind: "full" });
    await made(operations, "cid", 125);
    expect(await make(operations, "cid", 10)).toEqual({ kind: "full" });
    expect(await operations.argumentBytes()).toBe(875);
  });

  test("cannot fill the budget of results, nor stop the others by an outcome that waits for room", async () => {
    const { operations } = await open(limits);
    const anns = [await made(operations, "ann"), await made(operations, "ann")] as const;
    const bobs = await made(operations, "bob");
    expect((await end(operations, anns[0], 400)).kind).toBe("applied");
    expect(await end(operations, anns[1], 200)).toEqual({ kind: "full" });
    expect(await make(operations, "ann")).toEqual({ kind: "full" });
    expect((await make(operations, "bob")).kind).toBe("created");
    // Smaller than what waited: it has room, and its principal's calls are taken again.
    expect((await end(operations, anns[1], 10)).kind).toBe("applied");
    expect((await make(operations, "ann")).kind).toBe("created");
    expect((await end(operations, bobs, 290)).kind).toBe("applied");
    expect(await operations.resultBytes()).toBe(700);
  });

  test("may hold all of it where its share says so", async () => {
    const { operations } = await open({ ...limits, principalShare: 1 });
    await made(operations, "ann", 1_000);
    expect(await make(operations, "ann", 10)).toEqual({ kind: "full" });
  });

  test("gets its share back when its retention ends, and an entry that nobody wrote holds up nothing", async () => {
    const { operations } = await open({ ...limits, retentionMs: 200 });
    const hand = byHand();
    await hand.zadd(keys.resultEnds, (await operations.now()) + 100, "400:old");
    await end(operations, await made(operations, "ann"), 700);
    expect(await operations.resultBytes()).toBe(700);
    expect(await make(operations, "ann")).toEqual({ kind: "full" });
    // As if others stored something all the time.
    for (const key of [keys.resultRoom, keys.resultEnds]) await hand.pexpire(key, 60_000);
    await eventually(async () => (await make(operations, "ann")).kind === "created", "there is room again");
    await eventually(async () => {
      await make(operations, "bob");
      return (await operations.resultBytes()) === 0;
    }, "nothing is counted");
    expect(await hand.hgetall(keys.resultRoom)).toEqual({});
  });
});
