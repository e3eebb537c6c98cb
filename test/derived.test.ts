import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { keys } from "../src/shared/redis/keys.js";
import { eventually } from "./harness/eventually.js";
import { useOpenedStores } from "./harness/opened-stores.js";

const { open, byHand, redis } = useOpenedStores();

const about = (filter: string) => ({ source: "log-1", filter, bytes: 100 });
const DATA = randomBytes(100);

test("a derived document is its principal's alone, and tells what it was made of", async () => {
  const { derived } = await open();
  const id = (await derived.keep("ann", about(".a"), DATA)) as string;
  expect(await derived.find("ann", id)).toMatchObject(about(".a"));
  expect(await derived.dataOf(id)).toEqual([DATA]);
  expect(await derived.find("bob", id)).toBeUndefined();
  expect(await derived.listOf("bob")).toEqual([]);
  expect((await derived.listOf("ann")).map((one) => one.id)).toEqual([id]);
});

test("over its budget the least recently used gives way", async () => {
  const { derived } = await open({ derivedBudgetBytes: 300 });
  const ids: Record<string, string> = {};
  for (const name of ["a", "b", "c"]) ids[name] = (await derived.keep("ann", about(name), DATA)) as string;
  await derived.find("ann", ids.a as string);
  ids.d = (await derived.keep("ann", about("d"), DATA)) as string;
  const left = (await derived.listOf("ann")).map(({ filter }) => filter);
  expect(left.toSorted()).toEqual(["a", "c", "d"]);
  expect(await derived.find("ann", ids.b as string)).toBeUndefined();
  expect(await byHand().hgetall(keys.derivedShares)).toEqual({ ann: "300" });
});

test("over the budget of all the principal that holds most gives way, and no other", async () => {
  const { derived } = await open({ derivedBudgetBytes: 500 });
  const bobs = (await derived.keep("bob", about("bob"), DATA)) as string;
  for (let count = 0; count < 10; count += 1) await derived.keep("ann", about(`ann ${count}`), DATA);
  expect(await derived.find("bob", bobs)).toBeDefined();
  expect((await derived.listOf("ann")).map(({ filter }) => filter)).toEqual([
    "ann 9",
    "ann 8",
    "ann 7",
    "ann 6",
  ]);
  for (const name of ["bob 2", "bob 3", "bob 4"]) await derived.keep("bob", about(name), DATA);
  // Of two that hold as much, the one that keeps more now.
  expect(await byHand().hgetall(keys.derivedShares)).toEqual({ ann: "200", bob: "300" });
});

test("a principal whose documents have all run out holds nothing", async () => {
  const { derived } = await open({ derivedBudgetBytes: 200 });
  await derived.keep("ann", about("a"), DATA);
  await byHand().del(keys.derivedUse("ann"));
  for (const name of ["b", "c"]) await derived.keep("bob", about(name), DATA);
  expect(await byHand().hgetall(keys.derivedShares)).toEqual({ bob: "200" });
});

test("a use ranks after every use before it, also when the clock stands still or went back", async () => {
  const { derived } = await open({ derivedBudgetBytes: 200 });
  const hand = byHand();
  const ids: string[] = [];
  for (const name of ["a", "b"]) ids.push((await derived.keep("ann", about(name), DATA)) as string);
  for (const id of ids) await hand.zadd(keys.derivedUse("ann"), Date.now() + 60_000, `${id} ${DATA.length}`);
  for (const turn of [0, 1, 0]) await derived.find("ann", ids[turn] as string);
  expect((await derived.listOf("ann")).map(({ filter }) => filter)).toEqual(["a", "b"]);
  await derived.keep("ann", about("c"), DATA);
  expect((await derived.listOf("ann")).map(({ filter }) => filter)).toEqual(["c", "a"]);
});

test("what alone is larger than the budget is not kept, and nothing gives way for it", async () => {
  const { derived } = await open({ derivedBudgetBytes: 150 });
  await derived.keep("ann", about("a"), DATA);
  expect(await derived.keep("ann", about("b"), randomBytes(151))).toBeUndefined();
  expect((await derived.listOf("ann")).map(({ filter }) => filter)).toEqual(["a"]);
});

test("its time runs from the last use, and what ran out frees its bytes", async () => {
  const { derived } = await open({ derivedMs: 1_000 });
  const hand = byHand();
  const id = (await derived.keep("ann", about("a"), DATA)) as string;
  await hand.pexpire(keys.derived(id), 500);
  await derived.find("ann", id);
  expect(await hand.pttl(keys.derived(id))).toBeGreaterThan(500);

  const other = (await derived.keep("ann", about("b"), DATA)) as string;
  await eventually(
    async () => (await hand.exists(keys.derived(id), keys.derived(other))) === 0,
    "both ran out",
  );
  await derived.keep("ann", about("c"), DATA);
  expect(await hand.hgetall(keys.derivedShares)).toEqual({ ann: "100" });
  expect((await derived.listOf("ann")).map(({ filter }) => filter)).toEqual(["c"]);
});

test("it survives a restart of the broker and of Redis", async () => {
  const first = await open();
  const id = (await first.derived.keep("ann", about("a"), DATA)) as string;
  await redis().kill();
  await redis().restart();
  const { derived } = await open();
  expect(await derived.find("ann", id)).toMatchObject(about("a"));
  expect(await derived.dataOf(id)).toEqual([DATA]);
});
