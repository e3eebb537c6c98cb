import { expect, test } from "vitest";
import { mayBeTaken } from "../../../src/worker/execution/lane.js";
import { ANOTHER_INCARNATION, INCARNATION, operation } from "../shared/record.js";

const POOLS = ["pool:android"];

test("▲13 an Editor takes from its pools what waits there, but not what another may have run before the store lost that", () => {
  const waiting = operation({ editor: "pool:android", pool: "pool:android" });
  expect(mayBeTaken(waiting, POOLS, INCARNATION)).toBe(true);
  expect(mayBeTaken({ ...waiting, incarnation: ANOTHER_INCARNATION }, POOLS, INCARNATION)).toBe(false);
  expect(mayBeTaken({ ...waiting, state: "dispatched" }, POOLS, INCARNATION)).toBe(false);
  expect(mayBeTaken({ ...waiting, editor: "pool:ios" }, POOLS, INCARNATION)).toBe(false);
});
