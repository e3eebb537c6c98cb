import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";

const { open, byHand, redis } = useOpenedStores();

const about = (filter: string) => ({ source: "log-1", filter, bytes: 100 });
const DATA = randomBytes(100);
/** What one takes whose filter is one character long. */
const SIZE = DATA.length + JSON.stringify(about("a")).length;

test("a filtered document is its principal's alone, and tells what it was made of", async () => {
  const { filteredResults } = await open();
  const id = (await filteredResults.keep("ann", about(".a"), DATA)) as string;
  expect(await filteredResults.find("ann", id)).toMatchObject(about(".a"));
  expect(await filteredResults.dataOf(id)).toEqual([DATA]);
  expect(await filteredResults.find("bob", id)).toBeUndefined();
  expect(await filteredResults.listOf("bob", 100)).toEqual({ entries: [], more: 0 });
  expect((await filteredResults.listOf("ann", 100)).entries.map((one) => one.id)).toEqual([id]);
});

test("over its budget the least recently used gives way", async () => {
  const { filteredResults } = await open({ filteredBudgetBytes: 3 * SIZE });
  const ids: Record<string, string> = {};
  for (const name of ["a", "b", "c"])
    ids[name] = (await filteredResults.keep("ann", about(name), DATA)) as string;
  await filteredResults.find("ann", ids.a as string);
  ids.d = (await filteredResults.keep("ann", about("d"), DATA)) as string;
  const left = (await filteredResults.listOf("ann", 100)).entries.map(({ filter }) => filter);
  expect(left.toSorted()).toEqual(["a", "c", "d"]);
  expect(await filteredResults.find("ann", ids.b as string)).toBeUndefined();
  expect(await byHand().hgetall(keys.filteredShares)).toEqual({ ann: String(3 * SIZE) });
});

test("over the budget of all the principal that holds most gives way, and no other", async () => {
  const { filteredResults } = await open({ filteredBudgetBytes: 5 * SIZE });
  const bobs = (await filteredResults.keep("bob", about("z"), DATA)) as string;
  for (let count = 0; count < 10; count += 1) await filteredResults.keep("ann", about(`${count}`), DATA);
  expect(await filteredResults.find("bob", bobs)).toBeDefined();
  expect((await filteredResults.listOf("ann", 100)).entries.map(({ filter }) => filter)).toEqual([
    "9",
    "8",
    "7",
    "6",
  ]);
  for (const name of ["y", "x", "w"]) await filteredResults.keep("bob", about(name), DATA);
  // Of two that hold as much, the one that keeps more now.
  expect(await byHand().hgetall(keys.filteredShares)).toEqual({
    ann: String(2 * SIZE),
    bob: String(3 * SIZE),
  });
});

test("a principal whose documents have all run out holds nothing", async () => {
  const { filteredResults } = await open({ filteredBudgetBytes: 2 * SIZE });
  await filteredResults.keep("ann", about("a"), DATA);
  await byHand().del(keys.filteredUse("ann"));
  for (const name of ["b", "c"]) await filteredResults.keep("bob", about(name), DATA);
  expect(await byHand().hgetall(keys.filteredShares)).toEqual({ bob: String(2 * SIZE) });
});

test("a use ranks after every use before it, also when the clock stands still or went back", async () => {
  const { filteredResults } = await open({ filteredBudgetBytes: 2 * SIZE });
  const hand = byHand();
  const ids: string[] = [];
  for (const name of ["a", "b"]) ids.push((await filteredResults.keep("ann", about(name), DATA)) as string);
  for (const id of ids) await hand.zadd(keys.filteredUse("ann"), Date.now() + 60_000, `${id} ${SIZE}`);
  for (const turn of [0, 1, 0]) await filteredResults.find("ann", ids[turn] as string);
  expect((await filteredResults.listOf("ann", 100)).entries.map(({ filter }) => filter)).toEqual(["a", "b"]);
  await filteredResults.keep("ann", about("c"), DATA);
  expect((await filteredResults.listOf("ann", 100)).entries.map(({ filter }) => filter)).toEqual(["c", "a"]);
});

test("what alone is larger than the budget is not kept, and nothing gives way for it", async () => {
  const { filteredResults } = await open({ filteredBudgetBytes: SIZE + 50 });
  await filteredResults.keep("ann", about("a"), DATA);
  expect(await filteredResults.keep("ann", about("b"), randomBytes(151))).toBeUndefined();
  expect((await filteredResults.listOf("ann", 100)).entries.map(({ filter }) => filter)).toEqual(["a"]);
});

test("what it was made by counts as it does", async () => {
  const { filteredResults } = await open({ filteredBudgetBytes: 12 * SIZE });
  const fields = ["z".repeat(4 * SIZE)];
  const kept = { source: "log-1", projection: { fields }, bytes: 100 };
  for (let count = 0; count < 10; count += 1) await filteredResults.keep("ann", kept, DATA);
  const size = JSON.stringify(kept).length + DATA.length;
  expect(await byHand().hgetall(keys.filteredShares)).toEqual({ ann: String(2 * size) });
  expect((await filteredResults.listOf("ann", 100)).entries).toHaveLength(2);
});

test("a list has so many, the last used first, and says how many more there are", async () => {
  const { filteredResults } = await open();
  for (const name of ["a", "b", "c", "d"]) await filteredResults.keep("ann", about(name), DATA);
  const { entries, more } = await filteredResults.listOf("ann", 2);
  expect(entries.map(({ filter }) => filter)).toEqual(["d", "c"]);
  expect(more).toBe(2);
});

test("its time runs from the last use, and what ran out frees its bytes", async () => {
  const { filteredResults } = await open({ filteredMs: 1_000 });
  const hand = byHand();
  const id = (await filteredResults.keep("ann", about("a"), DATA)) as string;
  await hand.pexpire(keys.filtered(id), 500);
  await filteredResults.find("ann", id);
  expect(await hand.pttl(keys.filtered(id))).toBeGreaterThan(500);

  const other = (await filteredResults.keep("ann", about("b"), DATA)) as string;
  await eventually(
    async () => (await hand.exists(keys.filtered(id), keys.filtered(other))) === 0,
    "both ran out",
  );
  await filteredResults.keep("ann", about("c"), DATA);
  expect(await hand.hgetall(keys.filteredShares)).toEqual({ ann: String(SIZE) });
  expect((await filteredResults.listOf("ann", 100)).entries.map(({ filter }) => filter)).toEqual(["c"]);
});

test("it survives a restart of the broker and of Redis", async () => {
  const first = await open();
  const id = (await first.filteredResults.keep("ann", about("a"), DATA)) as string;
  await redis().kill();
  await redis().restart();
  const { filteredResults } = await open();
  expect(await filteredResults.find("ann", id)).toMatchObject(about("a"));
  expect(await filteredResults.dataOf(id)).toEqual([DATA]);
});
