/** What the store keeps of MCP sessions: each for its time, and of one principal so many. */
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";

const { open, byHand } = useOpenedStores();

test("a session is known until its end, and renewed by its use", async () => {
  const { sessions } = await open();
  const hand = byHand();
  await sessions.save("one", { principal: "ann", initialize: { a: 1 }, selected: "game@1" });
  await hand.pexpire(keys.session("one"), 1_000);
  expect(await sessions.load("one", "ann")).toEqual({
    principal: "ann",
    initialize: { a: 1 },
    selected: "game@1",
  });
  expect(await hand.pttl(keys.session("one"))).toBeGreaterThan(1_000);
  await hand.pexpire(keys.session("one"), 1_000);
  await sessions.touch("one", "ann");
  expect(await hand.pttl(keys.session("one"))).toBeGreaterThan(1_000);
  await sessions.remove("one", "ann");
  // What was selected while it ended.
  await sessions.change("one", { principal: "ann", initialize: { a: 1 }, selected: "shop@1" });
  expect(await sessions.load("one", "ann")).toBeUndefined();
  expect(await hand.exists(keys.sessions("ann"))).toBe(0);
});

test("what a session selects is stored where the session was forgotten, its use is not", async () => {
  const { sessions } = await open();
  const anns = { principal: "ann", initialize: {}, selected: "game@1" };
  await sessions.touch("one", "ann");
  expect(await sessions.peek("one", "ann")).toBeUndefined();
  await sessions.change("one", anns);
  expect(await sessions.peek("one", "ann")).toEqual(anns);
  expect(await byHand().zcard(keys.sessions("ann"))).toBe(1);
});

test("another principal's question finds no session and renews none, nor does a look", async () => {
  const { sessions } = await open({ mostSessions: 2 });
  const hand = byHand();
  const anns = { principal: "ann", initialize: {}, selected: "game@1" };
  for (const id of ["1", "2"]) await sessions.save(id, anns);
  await hand.pexpire(keys.session("1"), 1_000);
  expect(await sessions.load("1", "bob")).toBeUndefined();
  expect(await sessions.peek("1", "bob")).toBeUndefined();
  expect(await sessions.peek("1", "ann")).toEqual(anns);
  expect(await hand.pttl(keys.session("1"))).toBeLessThanOrEqual(1_000);
  expect(await hand.exists(keys.sessions("bob"))).toBe(0);
  await sessions.save("3", anns);
  expect(await sessions.peek("1", "ann")).toBeUndefined();
  expect(await sessions.peek("2", "ann")).toEqual(anns);
});

test("of too many of one principal the one that is unused for longest leaves, and no other's", async () => {
  const { sessions } = await open({ mostSessions: 3 });
  await sessions.save("bobs", { principal: "bob", initialize: {} });
  for (const id of ["1", "2", "3"]) await sessions.save(id, { principal: "ann", initialize: {} });
  await sessions.load("1", "ann");
  await sessions.save("4", { principal: "ann", initialize: {} });
  const known = await Promise.all(["1", "2", "3", "4"].map((id) => sessions.load(id, "ann")));
  expect(known.map((one) => one !== undefined)).toEqual([true, false, true, true]);
  expect(await sessions.load("bobs", "bob")).toBeDefined();
});

test("a clock that was set back makes no new session the oldest", async () => {
  const { sessions } = await open({ mostSessions: 2 });
  for (const id of ["1", "2"]) await sessions.save(id, { principal: "ann", initialize: {} });
  const ahead = Date.now() + 30_000;
  for (const id of ["1", "2"]) await byHand().zadd(keys.sessions("ann"), ahead + Number(id), id);
  await sessions.save("3", { principal: "ann", initialize: {} });
  const known = await Promise.all(["1", "2", "3"].map((id) => sessions.load(id, "ann")));
  expect(known.map((one) => one !== undefined)).toEqual([false, true, true]);
});
