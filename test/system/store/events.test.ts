/** The stream of events, and everybody's operations as one list. */
import { expect, test } from "vitest";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { keys } from "../../../src/shared/store/keys.js";
import { BEFORE_ALL } from "../../../src/shared/store/operations/events.js";
import type { Store } from "../../../src/shared/store/store.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";
import { operation } from "../../unit/shared/record.js";

const { open, byHand } = useOpenedStores();

async function accept(store: Store, logId: string, changes: Partial<OperationRecord> = {}): Promise<void> {
  const incarnation = await store.operations.incarnation();
  const record = operation({ logId, hash: logId, state: "queued", incarnation, ...changes });
  expect(await store.operations.create(record, "{}", "0")).toMatchObject({ kind: "created" });
}

const become = (store: Store, logId: string, changes: Partial<OperationRecord>) =>
  store.operations.change(logId, (record) => ({ record: { ...record, ...changes } }));

test("each change of an operation is one event, in order, with what a follower chooses by", async () => {
  const store = await open();
  await accept(store, "a", { principal: "ann", editor: "game", tool: "work" });
  await become(store, "a", { state: "dispatched" });
  await become(store, "a", { state: "queued" });
  await become(store, "a", { state: "dispatched" });
  await become(store, "a", { isKnown: true });
  await become(store, "a", { state: "running" });
  await become(store, "a", { cancel: { requestedAt: 1 } });
  await become(store, "a", { state: "completed" });
  await become(store, "a", { firstDeliveredAt: 2 });
  const events = await store.events.after(BEFORE_ALL);
  expect(events.map(({ event, state }) => `${event} ${state}`)).toEqual([
    "accepted queued",
    "sent dispatched",
    "returned queued",
    "sent dispatched",
    "started running",
    "cancel_requested running",
    "completed completed",
  ]);
  expect(events[0]).toMatchObject({ logId: "a", principal: "ann", editor: "game", tool: "work" });
  expect(events[0]?.at).toBeGreaterThan(1_700_000_000_000);
  const third = events[2]?.id ?? "";
  expect((await store.events.after(third)).map(({ id }) => id)).toEqual(events.slice(3).map(({ id }) => id));
  expect(await store.events.newest()).toBe(events.at(-1)?.id);
});

test("an event that is not kept any more is known to be gone, and so is what came with it", async () => {
  const store = await open();
  expect(await store.events.newest()).toBe(BEFORE_ALL);
  expect(await store.events.isKept(BEFORE_ALL)).toBe(true);
  await accept(store, "a");
  await accept(store, "b");
  const [first, second] = await store.events.after(BEFORE_ALL);
  expect(await store.events.isKept(first?.id ?? "")).toBe(true);
  await (await byHand()).xtrim(keys.events, "MAXLEN", 1);
  expect(await store.events.isKept(first?.id ?? "")).toBe(false);
  expect(await store.events.isKept(second?.id ?? "")).toBe(true);
});

test("what was not written is no event", async () => {
  const store = await open();
  await accept(store, "a");
  const stale = operation({ logId: "b", hash: "a", state: "queued" });
  expect(await store.operations.create(stale, "{}", "0")).toEqual({ kind: "conflict" });
  expect(await store.events.after(BEFORE_ALL)).toHaveLength(1);
});

test("everybody's operations are one list, newest first, and a list goes on where the one before ended", async () => {
  const store = await open();
  const at = (minute: number) => ({ acceptedAt: minute * 60_000 });
  await accept(store, "a1", { principal: "ann", ...at(1) });
  await accept(store, "b2", { principal: "bob", ...at(2) });
  await accept(store, "a2", { principal: "ann", ...at(2) });
  await accept(store, "b3", { principal: "bob", tool: "look", ...at(3) });
  const { search } = store.allOperations;
  const ids = ({ records }: { records: OperationRecord[] }) => records.map(({ logId }) => logId);
  const first = await search({ limit: 2 });
  expect(ids(first)).toEqual(["b3", "b2"]);
  await accept(store, "c9", { principal: "cat", ...at(9) });
  const rest = await search({ limit: 10, cursor: first.next });
  expect(ids(rest)).toEqual(["a2", "a1"]);
  expect(rest.next).toBeUndefined();
  expect(ids(await search({ limit: 10, principals: ["bob"] }))).toEqual(["b3", "b2"]);
  expect(ids(await search({ limit: 10, since: 2 * 60_000, until: 3 * 60_000 }))).toEqual(["b3", "b2", "a2"]);
  expect(ids(await search({ limit: 10, isWanted: ({ tool }) => tool === "look" }))).toEqual(["b3"]);
});

test("a search for something rare ends, and goes on from there", async () => {
  const store = await open();
  for (let minute = 1; minute <= 5; minute += 1)
    await accept(store, `a${minute}`, { acceptedAt: minute * 1_000, tool: minute === 1 ? "look" : "work" });
  const isWanted = ({ tool }: OperationRecord) => tool === "look";
  const found = await store.allOperations.search({ limit: 10, isWanted, mostSearched: 3 });
  expect(found).toMatchObject({ records: [], searched: 3, next: { logId: "a3" } });
  const rest = await store.allOperations.search({ limit: 10, isWanted, cursor: found.next });
  expect(rest.records.map(({ logId }) => logId)).toEqual(["a1"]);
});
