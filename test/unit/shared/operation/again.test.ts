import { describe, expect, test } from "vitest";
import { type Moment, runsAgain } from "../../../../src/shared/operation/again.js";
import type { Caller, OperationRecord } from "../../../../src/shared/operation/operation.js";
import {
  ANOTHER_INCARNATION,
  editorAt,
  executed,
  HOUR,
  HTTP,
  LATER_SESSION,
  MINUTE,
  moment,
  NOW,
  operation,
  reported,
  SINGLE,
  STDIO,
} from "../record.js";

const READ = { hasRead: true } as const;

const runs = (
  record: OperationRecord,
  caller: Caller,
  at: number | Partial<Moment> = NOW,
  forceNew?: string,
): boolean => runsAgain(record, { caller, forceNew }, moment(typeof at === "number" ? { now: at } : at));

describe("only executions that began answer", () => {
  test.each(["expired", "cancelled", "failed"] as const)("%s before it began: a call runs", (state) => {
    for (const record of [operation({ state }), operation({ state, effect: "repeatable" })]) {
      for (const caller of [HTTP, LATER_SESSION, SINGLE]) expect(runs(record, caller)).toBe(true);
    }
  });

  test("one that another operation answers for was never begun", () => {
    expect(runs(executed({ executedAs: "opX" }), HTTP)).toBe(true);
  });
});

test.each([false, true])("reads always run (with a key: %s)", (keyed) => {
  for (const caller of [HTTP, LATER_SESSION])
    expect(runs(executed({ effect: "read_only", keyed }), caller)).toBe(true);
});

describe("a changing tool", () => {
  test("runs if this caller has read the outcome, even if others are owed it", () => {
    const record = executed({
      firstDeliveredAt: NOW,
      askers: { [HTTP.id]: { deliveredAt: NOW, ...READ }, [STDIO.id]: {} },
    });
    expect(runs(record, HTTP)).toBe(true);
    expect(runs(record, STDIO)).toBe(false);
  });

  test("runs for anybody if it is owed to nobody: all that asked have read it", () => {
    const record = executed(reported(HTTP, READ));
    expect(runs(record, LATER_SESSION)).toBe(true);
    expect(runs(record, SINGLE)).toBe(true);
  });

  test("does not run for another while somebody that joined is owed it", () => {
    const record = executed({
      firstDeliveredAt: NOW,
      askers: { ...reported(HTTP, READ).askers, joined: {} },
    });
    expect(runs(record, LATER_SESSION)).toBe(false);
  });

  test("after a loss of the store it may be owed to somebody: it runs only for who has read it", () => {
    const lost = [{ rebuilt: true }, { incarnation: ANOTHER_INCARNATION }] as const;
    for (const signs of lost) {
      const record = executed({ ...reported(HTTP, READ), ...signs });
      expect(runs(record, LATER_SESSION)).toBe(false);
      expect(runs(record, HTTP)).toBe(true);
    }
  });

  test("a delivery alone is no reading", () => {
    expect(runs(executed(reported(HTTP)), HTTP)).toBe(false);
  });

  test("an outcome that was delivered to nobody answers for the whole retention, whoever asks", () => {
    for (const caller of [HTTP, LATER_SESSION, SINGLE])
      expect(runs(executed(), caller, NOW + 23 * HOUR)).toBe(false);
  });

  test("whatever has changed in the Editor, and whatever the store has lost", () => {
    expect(runs(executed(), HTTP, { editors: [editorAt({ mutationSeq: 99 })] })).toBe(false);
    expect(runs(executed(), HTTP, { editors: [] })).toBe(false);
    expect(runs(executed(), HTTP, { incarnation: ANOTHER_INCARNATION })).toBe(false);
  });

  test("a caller that asked and never got it gets it for the whole retention, its creator too", () => {
    const joined = executed({
      firstDeliveredAt: NOW,
      askers: { [LATER_SESSION.id]: {}, [STDIO.id]: { deliveredAt: NOW } },
    });
    const later = NOW + 23 * HOUR;
    expect(runs(joined, LATER_SESSION, later)).toBe(false);
    expect(runs(joined, HTTP, later)).toBe(false);
    expect(runs(joined, { id: "a stranger", transport: "http" }, later)).toBe(true);
    expect(runs(joined, STDIO, later)).toBe(true);
  });

  test("who is owed it only because it was owed the run before gets it for the window", () => {
    const carried = executed({
      firstDeliveredAt: NOW,
      askers: { [LATER_SESSION.id]: { askedAt: NOW - MINUTE } },
    });
    expect(runs(carried, LATER_SESSION, NOW + 15 * MINUTE - 1)).toBe(false);
    expect(runs(carried, LATER_SESSION, NOW + 15 * MINUTE)).toBe(true);
  });

  test("anybody else gets it for 15 minutes after the first delivery, not after the end of the execution", () => {
    const record = executed({ endedAt: NOW - HOUR, ...reported(HTTP, { deliveredAt: NOW }) });
    for (const caller of [HTTP, LATER_SESSION]) {
      expect(runs(record, caller, NOW + 15 * MINUTE - 1)).toBe(false);
      expect(runs(record, caller, NOW + 15 * MINUTE)).toBe(true);
    }
  });

  test("or for twice the time that it took", () => {
    const record = executed({ executionMs: HOUR, ...reported(HTTP, { deliveredAt: NOW }) });
    expect(runs(record, HTTP, NOW + 2 * HOUR - 1)).toBe(false);
    expect(runs(record, HTTP, NOW + 2 * HOUR)).toBe(true);
  });

  test("a failed and a cancelled execution answer as a completed one does", () => {
    for (const state of ["failed", "cancelled"] as const) {
      expect(runs(executed({ state }), HTTP)).toBe(false);
      expect(runs(executed({ state, ...reported(HTTP, READ) }), HTTP)).toBe(true);
    }
  });
});

describe("what names one operation", () => {
  test.each(["mutating", "repeatable"] as const)(
    "with a key a %s outcome answers for the whole retention, whatever was read or changed",
    (effect) => {
      const record = executed({ effect, keyed: true, ...reported(HTTP, READ) });
      const later = { now: NOW + 23 * HOUR, editors: [editorAt({ mutationSeq: 99 })] };
      expect(runs(record, HTTP, later)).toBe(false);
    },
  );

  const forced = executed({ supersedes: "op0", ...reported(HTTP, READ) });

  test.each(["mutating", "repeatable"] as const)(
    "the same forced call again is the same operation, even once it was read (%s)",
    (effect) => {
      expect(runs({ ...forced, effect }, HTTP, NOW + 23 * HOUR, "op0")).toBe(false);
    },
  );

  test("the plain call after a forced one follows the ordinary rules", () => {
    expect(runs(forced, HTTP)).toBe(true);
    expect(runs(executed({ supersedes: "op0" }), HTTP)).toBe(false);
  });

  test("a forced call that never began runs when it is sent again", () => {
    const expired = operation({ state: "expired", supersedes: "op0" });
    for (const caller of [HTTP, LATER_SESSION]) expect(runs(expired, caller, NOW, "op0")).toBe(true);
  });
});

describe("unknown stays unknown", () => {
  test("an interrupted build answers the same for ever, although it was read", () => {
    const record = operation({ state: "interrupted", ...reported(HTTP, READ) });
    for (const hours of [0, 1, 23]) expect(runs(record, HTTP, NOW + hours * HOUR)).toBe(false);
  });

  test("an interrupted read, and interrupted tests, run again", () => {
    for (const effect of ["read_only", "repeatable"] as const)
      expect(runs(operation({ state: "interrupted", effect }), HTTP)).toBe(true);
  });
});
