import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../src/shared/operation.js";
import { REPLAY_DEFAULTS, type Requester, replays } from "../../src/shared/replay.js";
import { executed, from, HOUR, HTTP, MINUTE, NOW, operation, STDIO, told } from "./record.js";

const byStdio = { createdBy: { caller: STDIO.id, requestId: 1 } };
const confirmed = { confirmed: true };
const LATER_SESSION = { id: "another session", transport: "http" } as const;

const replay = (record: OperationRecord, request: Requester & { forceNew?: string }, now = NOW): boolean =>
  replays(record, request, now);

describe("▲6 what replays, and for how long", () => {
  test("▲6 an outcome that nobody was told replays for the whole retention", () => {
    expect(replay(executed(), from(HTTP, 2), NOW + 23 * HOUR)).toBe(true);
    expect(replay(executed(), from(null, null), NOW + 23 * HOUR)).toBe(true);
  });

  test("▲6 from the first delivery on it replays for 15 minutes", () => {
    const record = executed(told(HTTP, { at: NOW }));
    expect(replay(record, from(HTTP, 2), NOW + 15 * MINUTE - 1)).toBe(true);
    expect(replay(record, from(HTTP, 2), NOW + 15 * MINUTE)).toBe(false);
  });

  test("▲6 the window begins with the delivery, not with the end of the execution", () => {
    const record = executed({ endedAt: NOW - HOUR, ...told(HTTP, { at: NOW }) });
    expect(replay(record, from(HTTP, 2), NOW + 10 * MINUTE)).toBe(true);
  });

  test("▲6 a build of an hour replays for two hours", () => {
    const record = executed({ executionMs: HOUR, ...told(HTTP, { at: NOW }) });
    expect(replay(record, from(HTTP, 2), NOW + 2 * HOUR - 1)).toBe(true);
    expect(replay(record, from(HTTP, 2), NOW + 2 * HOUR)).toBe(false);
  });

  test("▲6 a failed and a cancelled execution replay as a completed one does", () => {
    expect(replay(executed({ state: "failed" }), from(HTTP, 2))).toBe(true);
    expect(replay(executed({ state: "cancelled" }), from(HTTP, 2))).toBe(true);
  });

  test.each(["read_only", "idempotent"] as const)("▲6 a %s tool never replays", (effect) => {
    expect(replay(executed({ effect }), from(HTTP, 1))).toBe(false);
    expect(replay(executed({ effect }), from(LATER_SESSION, 1))).toBe(false);
  });

  test("▲6 with a key the outcome replays for the whole retention, whoever read it", () => {
    const record = executed({ keyed: true, ...told(HTTP, { at: NOW, ...confirmed }) });
    expect(replay(record, from(HTTP, 9), NOW + 23 * HOUR)).toBe(true);
    const read = executed({ keyed: true, effect: "read_only" });
    expect(replay(read, from(HTTP, 9), NOW + 23 * HOUR)).toBe(true);
  });

  test.each(["expired", "cancelled", "failed"] as const)(
    "▲6 %s before it began: a newer request of its caller runs, an older one and everybody else's hears of it",
    (state) => {
      const record = operation({ state });
      expect(replay(record, from(HTTP, 2))).toBe(false);
      expect(replay(record, from(HTTP, 1))).toBe(true);
      expect(replay(record, from(LATER_SESSION, 7))).toBe(true);
    },
  );

  test("schedule S: nobody ever received the answer, the lid was closed for an hour, the retry hears it", () => {
    expect(replay(executed({ endedAt: NOW - HOUR }), from(LATER_SESSION, 1))).toBe(true);
  });
});

describe("▲7 who has read an outcome may wish it again", () => {
  test("▲7 a confirmed delivery frees a newer request of that caller", () => {
    expect(replay(executed(told(HTTP, confirmed)), from(HTTP, 2))).toBe(false);
  });

  test("▲7 a delivery alone proves nothing", () => {
    expect(replay(executed(told(HTTP)), from(HTTP, 2))).toBe(true);
    expect(replay(executed({ ...byStdio, ...told(STDIO) }), from(STDIO, 2))).toBe(true);
  });

  test("▲7 another session of the same principal has confirmed nothing", () => {
    expect(replay(executed(told(HTTP, confirmed)), from(LATER_SESSION, 7))).toBe(true);
  });

  test("▲7 a stateless request can confirm nothing", () => {
    expect(replay(executed(told(HTTP, confirmed)), from(null, 7))).toBe(true);
  });

  test("▲7 only a request newer than the creating and the answered one is a new wish", () => {
    const record = executed(told(HTTP, { requestId: 5, ...confirmed }));
    expect(replay(record, from(HTTP, 6))).toBe(false);
    expect(replay(record, from(HTTP, 5))).toBe(true);
    expect(replay(record, from(HTTP, 3))).toBe(true);
    const created = executed({
      createdBy: { caller: HTTP.id, requestId: 5 },
      ...told(HTTP, { requestId: 2, ...confirmed }),
    });
    expect(replay(created, from(HTTP, 3))).toBe(true);
    expect(replay(created, from(HTTP, 6))).toBe(false);
  });

  test("▲7 request ids that are texts have no order, so nothing is newer", () => {
    expect(replay(executed(told(HTTP, confirmed)), from(HTTP, "b"))).toBe(true);
    expect(replay(executed(told(HTTP, { requestId: "a", ...confirmed })), from(HTTP, 2))).toBe(true);
  });

  test("▲7 on stdio a request that was answered within 10 s was not given up, so its repetition is a wish", () => {
    const quick = executed({ ...byStdio, ...told(STDIO, { tookMs: REPLAY_DEFAULTS.quickAnswerMs - 1 }) });
    const slow = executed({ ...byStdio, ...told(STDIO, { tookMs: REPLAY_DEFAULTS.quickAnswerMs }) });
    expect(replay(quick, from(STDIO, 2))).toBe(false);
    expect(replay(slow, from(STDIO, 2))).toBe(true);
  });

  test("▲7 over HTTP a quick answer proves nothing", () => {
    expect(replay(executed(told(HTTP, { tookMs: 1 })), from(HTTP, 2))).toBe(true);
  });
});

describe("▲8 a forced operation is known by the operation that it supersedes", () => {
  const forced = executed({ supersedes: "op0", ...told(HTTP, { at: NOW, ...confirmed }) });

  test("▲8 the same forced call again replays, even once it was read", () => {
    expect(replay(forced, { ...from(HTTP, 9), forceNew: "op0" }, NOW + 23 * HOUR)).toBe(true);
  });

  test("▲8 the plain call after a forced one follows the ordinary rules", () => {
    expect(replay(forced, from(HTTP, 9))).toBe(false);
    expect(replay(executed({ supersedes: "op0" }), from(HTTP, 9))).toBe(true);
  });

  test("▲8 a forced call that never began may be wished anew by its caller", () => {
    const expired = operation({ state: "expired", supersedes: "op0" });
    expect(replay(expired, { ...from(HTTP, 2), forceNew: "op0" })).toBe(false);
    expect(replay(expired, { ...from(LATER_SESSION, 2), forceNew: "op0" })).toBe(true);
  });
});

describe("▲9 unknown stays unknown", () => {
  test("▲9 an interrupted build answers the same, although it was read long ago", () => {
    const record = operation({ state: "interrupted", ...told(HTTP, confirmed) });
    expect(replay(record, from(HTTP, 9), NOW + 23 * HOUR)).toBe(true);
  });

  test("schedule N: an automatic client repeats what was interrupted, and hears the same again", () => {
    const record = executed({
      state: "interrupted",
      ...byStdio,
      ...told(STDIO, { tookMs: 100, ...confirmed }),
    });
    for (let requestId = 2; requestId < 10; requestId += 1) {
      expect(replay(record, from(STDIO, requestId), NOW + requestId * HOUR)).toBe(true);
    }
  });

  test("▲9 an interrupted read runs again", () => {
    expect(replay(operation({ state: "interrupted", effect: "read_only" }), from(HTTP, 2))).toBe(false);
  });
});
