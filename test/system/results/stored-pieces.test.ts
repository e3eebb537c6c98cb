/** Large results are read out of the store step by step. */
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { openStore } from "../../../src/shared/store/store.js";
import { layCable } from "../../harness/system/cable.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";

const { open, byHand, redis, closeLater } = useOpenedStores();

const KEY = keys.result("log-1");
const pieces = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, at) => Buffer.from(`piece ${at}`));

test.each([1, 3, 4, 5, 8, 9])("%i pieces come in order", async (count) => {
  const { operations } = await open();
  await byHand().rpush(KEY, ...pieces(count));
  expect(await operations.storedResultOf("log-1")).toEqual(pieces(count));
});

test("none are no result", async () => {
  const { operations } = await open();
  expect(await operations.storedResultOf("log-1")).toBeUndefined();
});

test("a result that ends between two steps is none, and not a part of itself", async () => {
  const cable = await layCable(() => redis().connection);
  closeLater(() => cable.close());
  const far = await openStore({ host: "127.0.0.1", port: cable.port }, { retentionMs: 60_000 });
  closeLater(() => far.close());
  const hand = byHand();
  await hand.rpush(KEY, ...pieces(6));
  // The second step asks from the fifth piece on.
  cable.before("\r\n$1\r\n4\r\n$1\r\n7\r\n", () => {
    cable.hold();
    void hand.del(KEY).then(() => cable.fix());
  });
  expect(await far.operations.storedResultOf("log-1")).toBeUndefined();
});
