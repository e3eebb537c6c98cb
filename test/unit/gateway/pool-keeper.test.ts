import { describe, expect, test } from "vitest";
import { goesBack, opensAgain } from "../../../src/gateway/editors/pool-keeper.js";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { operation } from "../shared/record.js";

const NOW = { incarnation: "now", missing: [] };
const pooled = (changes: Partial<OperationRecord> = {}): OperationRecord =>
  operation({ pool: "pool:android", editor: "a@1", incarnation: "now", state: "queued", ...changes });

describe("▲13 what an Editor has taken and not been sent", () => {
  test.each<[string, Partial<OperationRecord>, boolean, boolean]>([
    ["goes back from one that is away", {}, false, true],
    ["stays with one that is here", {}, true, false],
    [
      "goes back from one that is here if the store lost something since",
      { incarnation: "before" },
      true,
      true,
    ],
    ["stays if it was sent", { state: "dispatched", sentIn: "s" }, false, false],
    ["stays if it may have been sent", { sentIn: "s" }, false, false],
    ["stays if another answers for it", { executedAs: "other" }, false, false],
    ["is in its pool already", { editor: "pool:android" }, false, false],
    ["is of no pool", { pool: undefined } as never, false, false],
  ])("%s", (_what, changes, isHere, expected) => {
    expect(goesBack(pooled(changes), isHere, NOW)).toBe(expected);
  });
});

describe("▲13 what waits in its pool since before a loss", () => {
  const held = pooled({ editor: "pool:android", incarnation: "before" });

  test("waits while any Editor is missing", () => {
    expect(opensAgain(held, { ...NOW, missing: ["b@2"] })).toBe(false);
    expect(opensAgain(held, NOW)).toBe(true);
  });

  test("others need nothing", () => {
    expect(opensAgain({ ...held, incarnation: "now" }, NOW)).toBe(false);
    expect(opensAgain({ ...held, editor: "a@1" }, NOW)).toBe(false);
    expect(opensAgain({ ...held, state: "dispatched" }, NOW)).toBe(false);
  });
});
