/** What the store keeps of MCP sessions: each for its time, and of one principal so many. */
import { expect, test } from "vitest";
import { keys } from "../src/shared/redis/keys.js";
import { useOpenedStores } from "./harness/opened-stores.js";

const { open, byHand } = useOpenedStores();

test("a session is known until its end, and renewed by its use", async () => {
  const { sessions } = await open();
  const hand = byHand();
  await sessions.save("one", { principal: "ann", initialize: { a: 1 }, selected: "game@1" });
  await hand.pexpire(keys.session("one"), 1_000);
  expect(await sessions.load("one")).toEqual({
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
  expect(await sessions.load("one")).toBeUndefined();
  expect(await hand.exists(keys.sessions("ann"))).toBe(0);
});

test("of too many of one principal the one that is unused for longest leaves, and no other's", async () => {
  const { sessions } = await open({ mostSessions: 3 });
  await sessions.save("bobs", { principal: "bob", initialize: {} });
  for (const id of ["1", "2", "3"]) await sessions.save(id, { principal: "ann", initialize: {} });
  await sessions.load("1");
  await sessions.save("4", { principal: "ann", initialize: {} });
  const known = await Promise.all(["1", "2", "3", "4", "bobs"].map((id) => sessions.load(id)));
  expect(known.map((one) => one !== undefined)).toEqual([true, false, true, true, true]);
});

test("a clock that was set back makes no new session the oldest", async () => {
  const { sessions } = await open({ mostSessions: 2 });
  for (const id of ["1", "2"]) await sessions.save(id, { principal: "ann", initialize: {} });
  const ahead = Date.now() + 30_000;
  for (const id of ["1", "2"]) await byHand().zadd(keys.sessions("ann"), ahead + Number(id), id);
  await sessions.save("3", { principal: "ann", initialize: {} });
  const known = await Promise.all(["1", "2", "3"].map((id) => sessions.load(id)));
  expect(known.map((one) => one !== undefined)).toEqual([false, true, true]);
});
