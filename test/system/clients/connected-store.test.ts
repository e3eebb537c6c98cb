/** What the store keeps of connected MCP clients: for a short while after each note, and not too many. */
import { expect, test } from "vitest";
import type { ConnectedClient } from "../../../src/shared/store/connected-clients.js";
import { keys } from "../../../src/shared/store/keys.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";

const { open, byHand } = useOpenedStores();

const client = (id: string, given: Partial<ConnectedClient> = {}): ConnectedClient => ({
  ...{ id, principal: "ann", transport: "stdio", since: 1_000, name: "cursor", version: "2" },
  ...given,
});
const idsOf = (clients: readonly ConnectedClient[]) => clients.map(({ id }) => id);

test("what is noted is read until it is removed", async () => {
  const { clients } = await open();
  const [one, two] = [client("1", { since: 2_000 }), client("2", { principal: "bob", transport: "http" })];
  await clients.note([one, two]);
  expect(await clients.all()).toEqual([two, one]);
  await clients.remove([two]);
  expect(await clients.all()).toEqual([one]);
});

test("a note that is not renewed ends by itself, one that is stays", async () => {
  const { clients } = await open();
  const hand = byHand();
  await clients.note([client("killed"), client("alive")]);
  for (const member of await hand.zrange(keys.clients, 0, "-1"))
    await hand.zadd(keys.clients, Date.now() - clients.lifeMs - 1, member);
  expect(await clients.all()).toEqual([]);
  await clients.note([client("alive")]);
  expect(idsOf(await clients.all())).toEqual(["alive"]);
  // The next note of anybody drops the others.
  expect(await hand.zcard(keys.clients)).toBe(1);
  expect(await hand.pttl(keys.clients)).toBeLessThanOrEqual(clients.lifeMs);
  expect(await hand.pttl(keys.clients)).toBeGreaterThan(0);
});

test("of one principal and in all only so many are noted; those that are stay, and no other loses its place", async () => {
  const { clients } = await open({ mostClients: { ofOne: 2, inAll: 4 } });
  // "ann" begins as "anna" does.
  await clients.note(["a1", "a2", "a3"].map((id) => client(id, { principal: "anna" })));
  expect(idsOf(await clients.all())).toEqual(["a1", "a2"]);
  await clients.note(["b1", "b2", "b3"].map((id) => client(id, { principal: "ann" })));
  await clients.note([client("c1", { principal: "carl" })]);
  expect(idsOf(await clients.all()).sort()).toEqual(["a1", "a2", "b1", "b2"]);
  await clients.remove([client("a1", { principal: "anna" })]);
  await clients.note([client("a3", { principal: "anna" })]);
  expect(idsOf(await clients.all()).sort()).toEqual(["a2", "a3", "b1", "b2"]);
});

test("a session that another gateway took over is one client, since its first note", async () => {
  const { clients } = await open();
  await clients.note([client("1", { since: 5_000 })]);
  await clients.note([client("1", { since: 4_000 })]);
  expect(await clients.all()).toEqual([client("1", { since: 4_000 })]);
});

test("names are bounded and printable, whoever wrote them into the store", async () => {
  const { clients } = await open();
  await clients.note([client("1", { name: "\u001b[2J", version: "9".repeat(5_000) })]);
  const evil = JSON.stringify(["ann", "2", "stdio", 1_000, "x".repeat(5_000), "\u0007"]);
  await byHand().zadd(keys.clients, Date.now(), evil);
  const [first, second] = await clients.all();
  expect(first).toMatchObject({ name: "\\u001b[2J", version: `${"9".repeat(31)}…` });
  expect(second).toMatchObject({ name: `${"x".repeat(63)}…`, version: "\\u0007" });
});

test("who listens is told of a client that came, left or was dropped, and of no renewal", async () => {
  const { clients, notifier } = await open();
  const heard: string[] = [];
  notifier.on("clients", (subject) => heard.push(subject));
  const heardAfter = async (act: () => Promise<unknown>, until: number) => {
    await act();
    await expect.poll(() => heard.length).toBe(until);
  };
  await heardAfter(() => clients.note([client("1")]), 1);
  await clients.note([client("1")]);
  await heardAfter(() => clients.note([client("2")]), 2);
  await heardAfter(() => clients.remove([client("2")]), 3);
  await clients.remove([client("2")]);
  const hand = byHand();
  for (const member of await hand.zrange(keys.clients, 0, "-1")) await hand.zadd(keys.clients, 1, member);
  await heardAfter(() => clients.note([]), 4);
  expect(heard).toEqual(["1", "2", "1", "0"]);
});
