import { expect, test } from "vitest";
import { isSurelyUnsent, markAsSent, STATES } from "../../../../src/shared/operation/operation.js";
import { operation } from "../record.js";

const LOST = { missing: ["game-1"], incarnation: "after" };

test.each(["queued"] as const)(
  "▲13 what is %s is surely unsent unless it was accepted before a loss since which its Editor is missed",
  (state) => {
    const before = operation({ state, editor: "game-1", incarnation: "before" });
    expect(isSurelyUnsent(before, LOST)).toBe(false);
    expect(isSurelyUnsent({ ...before, incarnation: "after" }, LOST)).toBe(true);
    expect(isSurelyUnsent({ ...before, editor: "game-2" }, LOST)).toBe(true);
  },
);

test("▲13 what only the ledger says was sent is followed in a session that is nobody's; the rest stays as it is", () => {
  const moved = STATES.filter((state) => markAsSent(operation({ state })));
  expect(moved).toEqual(["queued"]);
  for (const state of moved)
    expect(markAsSent(operation({ state }))).toMatchObject({ state: "dispatched", sentIn: "unknown" });
});
