import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import {
  isConfirmed,
  type Moment,
  REPLAY_DEFAULTS,
  type Requester,
  replays,
} from "../../../../src/shared/operation/replay.js";
import {
  ANOTHER_INCARNATION,
  editorAt,
  executed,
  from,
  HOUR,
  HTTP,
  LATER_SESSION,
  MINUTE,
  moment,
  NOW,
  operation,
  reported,
  STDIO,
} from "../record.js";

const byStdio = { createdBy: { caller: STDIO.id, requestId: 1, transport: "stdio" } } as const;
const confirmed = { confirmed: true };

const replay = (
  record: OperationRecord,
  request: Requester & { forceNew?: string },
  at: number | Partial<Moment> = NOW,
): boolean => replays(record, request, moment(typeof at === "number" ? { now: at } : at));

describe("▲6 only executions that began answer", () => {
  test.each(["expired", "cancelled", "failed"] as const)("▲6 %s before it began: a call runs", (state) => {
    for (const record of [operation({ state }), operation({ state, effect: "repeatable" })]) {
      expect(replay(record, from(HTTP, 2))).toBe(false);
      expect(replay(record, from(LATER_SESSION, 7))).toBe(false);
      expect(replay(record, from(null, null))).toBe(false);
    }
  });

  test("▲6 its own request, sent again, hears that it never began; so does an older copy of a mutating call", () => {
    const expired = operation({ state: "expired", createdBy: { caller: HTTP.id, requestId: 2 } });
    expect(replay(expired, from(HTTP, 2))).toBe(true);
    expect(replay(expired, from(HTTP, 1))).toBe(true);
    expect(replay({ ...expired, effect: "repeatable" }, from(HTTP, 1))).toBe(false);
  });

  test("▲10 (b) one that another operation answers for was never begun", () => {
    expect(replay(executed({ executedAs: "opX" }), from(HTTP, 2))).toBe(false);
  });
});

describe("▲6 read-only: never again", () => {
  test("▲6 a read runs again for everybody, but the same request reads its operation", () => {
    const read = executed({ effect: "read_only" });
    expect(replay(read, from(HTTP, 2))).toBe(false);
    expect(replay(read, from(LATER_SESSION, 1))).toBe(false);
    expect(replay(read, from(HTTP, 1))).toBe(true);
  });

  test("▲6 a key keeps no read from running again", () => {
    expect(replay(executed({ effect: "read_only", keyed: true }), from(HTTP, 9))).toBe(false);
  });
});

describe("▲6 mutating: who was told, and for how long", () => {
  test("▲6 an outcome that nobody was told replays for the whole retention", () => {
    expect(replay(executed(), from(HTTP, 2), NOW + 23 * HOUR)).toBe(true);
    expect(replay(executed(), from(null, null), NOW + 23 * HOUR)).toBe(true);
  });

  test("▲6 whatever has changed in the Editor", () => {
    expect(replay(executed(), from(HTTP, 2), { editors: [editorAt({ mutationSeq: 99 })] })).toBe(true);
    expect(replay(executed(), from(HTTP, 2), { editors: [] })).toBe(true);
  });

  test("▲6 from the first telling on it replays for 15 minutes", () => {
    const record = executed(reported(HTTP, { at: NOW }));
    expect(replay(record, from(HTTP, 2), NOW + 15 * MINUTE - 1)).toBe(true);
    expect(replay(record, from(HTTP, 2), NOW + 15 * MINUTE)).toBe(false);
  });

  test("▲6 the window begins with the telling, not with the end of the execution", () => {
    const record = executed({ endedAt: NOW - HOUR, ...reported(HTTP, { at: NOW }) });
    expect(replay(record, from(HTTP, 2), NOW + 10 * MINUTE)).toBe(true);
  });

  test("▲6 a build of an hour replays for two hours", () => {
    const record = executed({ executionMs: HOUR, ...reported(HTTP, { at: NOW }) });
    expect(replay(record, from(HTTP, 2), NOW + 2 * HOUR - 1)).toBe(true);
    expect(replay(record, from(HTTP, 2), NOW + 2 * HOUR)).toBe(false);
  });

  test("▲6 a caller that asked and received no outcome gets it for the whole retention, its creator too", () => {
    const joined = executed({ askedBy: [LATER_SESSION.id], ...reported(STDIO, { at: NOW }) });
    expect(replay(joined, from(LATER_SESSION, 3), NOW + 23 * HOUR)).toBe(true);
    expect(replay(joined, from(HTTP, 3), NOW + 23 * HOUR)).toBe(true);
    expect(replay(joined, from({ id: "a stranger", transport: "http" }, 3), NOW + 23 * HOUR)).toBe(false);
    expect(replay(joined, from(STDIO, 3), NOW + 23 * HOUR)).toBe(false);
  });

  test("▲6 a failed and a cancelled execution replay as a completed one does", () => {
    expect(replay(executed({ state: "failed" }), from(HTTP, 2))).toBe(true);
    expect(replay(executed({ state: "cancelled" }), from(HTTP, 2))).toBe(true);
  });

  test.each(["mutating", "repeatable"] as const)(
    "▲6 with a key a %s outcome replays for the whole retention, whatever was read or changed",
    (effect) => {
      const record = executed({ effect, keyed: true, ...reported(HTTP, { at: NOW, ...confirmed }) });
      const later = { now: NOW + 23 * HOUR, editors: [editorAt({ mutationSeq: 99 })] };
      expect(replay(record, from(HTTP, 9), later)).toBe(true);
    },
  );

  test("schedule S: nobody ever received the answer, the lid was closed for an hour, the retry hears it", () => {
    expect(replay(executed({ endedAt: NOW - HOUR }), from(LATER_SESSION, 1))).toBe(true);
  });
});

describe("▲7 who has surely read an outcome may want it anew", () => {
  test("▲7 a confirmed delivery frees a later request of that caller", () => {
    expect(replay(executed(reported(HTTP, confirmed)), from(HTTP, 2))).toBe(false);
  });

  test("▲7 a delivery alone proves nothing", () => {
    expect(replay(executed(reported(HTTP)), from(HTTP, 2))).toBe(true);
    expect(replay(executed({ ...byStdio, ...reported(STDIO) }), from(STDIO, 2))).toBe(true);
  });

  test("▲7 another session of the same principal has confirmed nothing", () => {
    expect(replay(executed(reported(HTTP, confirmed)), from(LATER_SESSION, 7))).toBe(true);
  });

  test("▲7 a stateless request can confirm nothing", () => {
    expect(replay(executed(reported(HTTP, confirmed)), from(null, 7))).toBe(true);
  });

  test("▲7 only a request later than the creating and the answered one is a new call", () => {
    const record = executed(reported(HTTP, { requestId: 5, ...confirmed }));
    expect(replay(record, from(HTTP, 6))).toBe(false);
    expect(replay(record, from(HTTP, 5))).toBe(true);
    expect(replay(record, from(HTTP, 3))).toBe(true);
    const created = executed({
      createdBy: { caller: HTTP.id, requestId: 5 },
      ...reported(HTTP, { requestId: 2, ...confirmed }),
    });
    expect(replay(created, from(HTTP, 3))).toBe(true);
    expect(replay(created, from(HTTP, 6))).toBe(false);
  });

  test("▲7 over stdio what had arrived when the answer was written is no later request", () => {
    const record = executed({ ...byStdio, ...reported(STDIO, { tookMs: 100, upTo: 3 }) });
    expect(replay(record, from(STDIO, 3))).toBe(true);
    expect(replay(record, from(STDIO, 4))).toBe(false);
  });

  test("▲7 request ids that are texts have no order, so nothing is later", () => {
    expect(replay(executed(reported(HTTP, confirmed)), from(HTTP, "b"))).toBe(true);
    expect(replay(executed(reported(HTTP, { requestId: "a", ...confirmed })), from(HTTP, 2))).toBe(true);
  });

  test("▲7 over stdio a request that was answered within 10 s was not given up", () => {
    const quick = executed({ ...byStdio, ...reported(STDIO, { tookMs: REPLAY_DEFAULTS.quickAnswerMs - 1 }) });
    expect(replay(quick, from(STDIO, 2))).toBe(false);
  });

  test("W15: another process hears what a quick answer reported to the one that died behind it", () => {
    const quick = executed({ ...byStdio, ...reported(STDIO, { tookMs: 100 }) });
    expect(replay(quick, from({ id: "the next process", transport: "stdio" }, 2))).toBe(true);
  });

  test("W15: what an earlier gateway of the session delivered is proven by naming only", () => {
    const quick = executed({ ...byStdio, ...reported(STDIO, { tookMs: 100, upTo: 5 }) });
    const later = from(STDIO, 9);
    expect(replay(quick, { ...later, since: 6 })).toBe(true);
    expect(replay(quick, { ...later, since: 5 })).toBe(false);
    const named = executed({ ...byStdio, ...reported(STDIO, { tookMs: 100, upTo: 5, ...confirmed }) });
    expect(replay(named, { ...later, since: 6 })).toBe(false);
  });

  test("W16: over HTTP a quick answer proves nothing", () => {
    expect(replay(executed(reported(HTTP, { tookMs: 1 })), from(HTTP, 2))).toBe(true);
  });

  test("W17: over stdio a slow answer is proven by naming only, whatever else the client sends", () => {
    const slow = executed({ ...byStdio, ...reported(STDIO, { tookMs: REPLAY_DEFAULTS.quickAnswerMs }) });
    expect(replay(slow, from(STDIO, 9))).toBe(true);
    const named = executed({ ...byStdio, ...reported(STDIO, { tookMs: 60_000, ...confirmed }) });
    expect(replay(named, from(STDIO, 9))).toBe(false);
  });

  test("▲7 after a change of incarnation no delivery and no proof from before counts", () => {
    const read = executed(reported(HTTP, { at: NOW - 2 * HOUR, ...confirmed }));
    expect(replay(read, from(HTTP, 9))).toBe(false);
    expect(replay(read, from(HTTP, 9), { incarnation: ANOTHER_INCARNATION })).toBe(true);
    expect(replay(read, from(LATER_SESSION, 1), { incarnation: ANOTHER_INCARNATION })).toBe(true);
  });
});

describe("▲8 a forced operation is known by the operation that it supersedes", () => {
  const forced = executed({ supersedes: "op0", ...reported(HTTP, { at: NOW, ...confirmed }) });

  test.each(["mutating", "repeatable"] as const)(
    "▲8 the same forced call again replays, even once it was read (%s)",
    (effect) => {
      const request = { ...from(HTTP, 9), forceNew: "op0" };
      expect(replay({ ...forced, effect }, request, NOW + 23 * HOUR)).toBe(true);
    },
  );

  test("▲8 the plain call after a forced one follows the ordinary rules", () => {
    expect(replay(forced, from(HTTP, 9))).toBe(false);
    expect(replay(executed({ supersedes: "op0" }), from(HTTP, 9))).toBe(true);
  });

  test("▲8 a forced call that never began runs when it is sent again", () => {
    const expired = operation({ state: "expired", supersedes: "op0" });
    expect(replay(expired, { ...from(HTTP, 2), forceNew: "op0" })).toBe(false);
    expect(replay(expired, { ...from(LATER_SESSION, 2), forceNew: "op0" })).toBe(false);
  });
});

describe("▲9 unknown stays unknown", () => {
  test("▲9 an interrupted build answers the same, although it was read long ago", () => {
    const record = operation({ state: "interrupted", ...reported(HTTP, confirmed) });
    expect(replay(record, from(HTTP, 9), NOW + 23 * HOUR)).toBe(true);
  });

  test("schedule N: an automatic client repeats what was interrupted, and hears the same again", () => {
    const record = executed({
      state: "interrupted",
      ...byStdio,
      ...reported(STDIO, { tookMs: 100, ...confirmed }),
    });
    for (let requestId = 2; requestId < 10; requestId += 1) {
      expect(replay(record, from(STDIO, requestId), NOW + requestId * HOUR)).toBe(true);
    }
  });

  test("▲9 an interrupted read, and interrupted tests, run again", () => {
    for (const effect of ["read_only", "repeatable"] as const) {
      expect(replay(operation({ state: "interrupted", effect }), from(HTTP, 2))).toBe(false);
    }
  });
});

test("▲7 an outcome was read by somebody if a delivery is proven by name, in this incarnation of the store", () => {
  const { incarnation } = moment();
  const proven = executed(reported(HTTP, confirmed));
  expect(isConfirmed(proven, incarnation)).toBe(true);
  expect(isConfirmed(proven, ANOTHER_INCARNATION)).toBe(false);
  expect(isConfirmed(executed(reported(HTTP)), incarnation)).toBe(false);
  expect(isConfirmed(executed(), incarnation)).toBe(false);
});
