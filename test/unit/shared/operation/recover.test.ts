import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import {
  type EditorReply,
  type OtherOperation,
  type RecoveryContext,
  recover,
  UNREADABLE,
} from "../../../../src/shared/operation/recover.js";
import { EDITOR_CODES, type LedgerState, type Outcome } from "../../../../src/shared/wire/wire.js";
import {
  editorAt,
  executed,
  HOUR,
  HTTP,
  LATER_SESSION,
  moment,
  NOW,
  operation,
  reported,
  tested,
  testing,
} from "../record.js";

const sent = operation({
  logId: "op2",
  state: "dispatched",
  sentIn: "session-1",
  after: "op1",
  order: 2,
  entered: 5,
  acceptedAt: NOW - 10_000,
  createdBy: { caller: HTTP.id, requestId: 2, transport: "http" },
});
const here: RecoveryContext = { session: "session-1", incarnation: "i" };
const restarted: RecoveryContext = { ...here, session: "session-2" };

const outcome: Outcome = { status: "completed", result: 7, startedAt: 1, endedAt: 2, executionMs: 1 };
const submitted = (state: LedgerState, reported?: Outcome): EditorReply => ({
  asked: "submit",
  answer: { state, ledgerSeq: 1, ...(reported ? { outcome: reported } : {}) },
});
const got = (state: LedgerState | "unknown"): EditorReply => ({
  asked: "get",
  answer: { state, ledgerSeq: 1 },
});
const refused = (code: number): EditorReply => ({
  asked: "submit",
  refusal: { code, message: "said the Editor" },
});
const sameAs = (
  operationId: string,
  stateThere: LedgerState = "completed",
  endedAt = NOW - HOUR,
): EditorReply => ({
  asked: "submit",
  answer: { state: "same_as", operationId, stateThere, endedAt, ledgerSeq: 1 },
});

describe("▲12 sending again", () => {
  test.each(["accepted", "running"] as const)("▲12 what is %s in the Editor is attached to", (state) => {
    expect(recover(sent, submitted(state), here)).toEqual({ kind: "attach" });
    expect(recover(sent, got(state), restarted)).toEqual({ kind: "attach" });
  });

  test.each(["completed", "failed", "cancelled", "interrupted"] as const)(
    "▲12 an outcome that the ledger has is collected (%s)",
    (status) => {
      const reported = { ...outcome, status };
      expect(recover(sent, submitted(status, reported), restarted)).toEqual({
        kind: "settle",
        outcome: reported,
      });
    },
  );

  test("▲12 what ended without a recorded outcome is unknown, not guessed", () => {
    expect(recover(sent, submitted("completed"), here).kind).toBe("interrupt");
  });

  test("▲12 what the Editor journalled and never began goes back, and is sent again under its id", () => {
    expect(recover(sent, got("not_started"), restarted)).toEqual({ kind: "resubmit", returned: true });
  });

  test("▲12 unknown in the session that it was sent in: not arrived, the same id may follow", () => {
    expect(recover(sent, got("unknown"), here)).toEqual({ kind: "resubmit" });
  });

  describe("▲13 of a pool, accepted before the store lost something", () => {
    const pooled = { ...sent, pool: "pool:android", incarnation: "before" };

    test("unknown in the session that it was sent in: another Editor of the pool may have run it", () => {
      expect(recover(pooled, got("unknown"), here)).toMatchObject({
        kind: "revoke",
        why: expect.stringContaining("another Editor of its pool may have run it"),
      });
      expect(recover({ ...pooled, incarnation: "i" }, got("unknown"), here)).toEqual({ kind: "resubmit" });
    });

    test("a read may run twice, and what the ledger knows is no other Editor's", () => {
      expect(recover({ ...pooled, effect: "read_only" }, got("unknown"), here)).toEqual({ kind: "resubmit" });
      expect(recover(pooled, got("running"), here)).toEqual({ kind: "attach" });
      expect(recover(pooled, got("not_started"), here)).toEqual({ kind: "resubmit", returned: true });
    });
  });

  test("▲12 unknown in another session: revoked before it is called interrupted, never `not started`", () => {
    expect(recover(sent, got("unknown"), restarted)).toMatchObject({ kind: "revoke" });
  });

  test("▲12 a read, and what was never sent, may be sent in any session", () => {
    expect(recover({ ...sent, effect: "read_only" }, got("unknown"), restarted)).toEqual({
      kind: "resubmit",
    });
    // Its arguments are lost.
    const rebuilt = { ...sent, effect: "read_only" as const, rebuilt: true as const };
    expect(recover(rebuilt, got("unknown"), restarted).kind).toBe("fail");
    const { sentIn: _never, ...unsent } = sent;
    expect(recover(unsent, got("unknown"), restarted)).toEqual({ kind: "resubmit" });
  });

  test("▲12 a revoked operation never ran and never will, and nobody claims more", () => {
    expect(recover(sent, got("revoked"), here).kind).toBe("interrupt");
  });
});

describe("▲10 the Editor's journal is the memory", () => {
  /** The other operation as the store knows it: restored just now unless said otherwise. */
  const knowing = (
    record: OtherOperation["record"],
    changes: Partial<OtherOperation> = {},
  ): RecoveryContext => ({
    ...here,
    other: { ...moment(), record, isOver: false, ...changes },
  });
  const again = (after: string) => ({ kind: "resubmit", after });
  const answeredBy = (executedAs: string) => ({ kind: "attach", executedAs });
  const restored = (changes = {}) => executed({ logId: "lost", entered: 7, rebuilt: true, ...changes });

  test.each(["dispatched", "running", "completed", "failed", "cancelled", "interrupted"] as const)(
    "▲10 (b) what the store had forgotten answers the call when it is %s there, as it would answer it now",
    (state) => {
      const there = state === "dispatched" ? "accepted" : state;
      expect(recover(sent, sameAs("lost", there), knowing(restored({ state })))).toEqual(answeredBy("lost"));
    },
  );

  describe("▲5 a changing call that came while what the store had lost was open is that one", () => {
    // Read by its caller, so that the call would run anew now.
    const lost = executed({
      logId: "other",
      entered: 7,
      order: 1,
      rebuilt: true,
      endedAt: sent.acceptedAt + 1,
      ...reported(HTTP, { hasRead: true }),
    });
    const found = (changes: Partial<OperationRecord>, record = sent, stateThere?: "cancelled") =>
      recover(record, sameAs("other", stateThere), knowing({ ...lost, ...changes }));

    test("it takes its outcome, whoever has read it", () => {
      expect(found({})).toEqual(answeredBy("other"));
    });

    test.each([
      ["running", answeredBy("other")],
      ["not_started", { kind: "resubmit", instead: "other" }],
    ] as const)("of one that is %s there", (stateThere, becomes) => {
      const unended = knowing(operation({ logId: "other", entered: 7, state: "dispatched" }));
      const answer = { state: "same_as" as const, operationId: "other", stateThere, ledgerSeq: 1 };
      expect(recover(sent, { asked: "submit", answer }, unended)).toEqual(becomes);
    });

    test("unless it had ended by then, was known, came later, was cancelled or forced apart, or it is tests", () => {
      expect(found({ endedAt: sent.acceptedAt })).toEqual(again("other"));
      expect(found({ entered: sent.entered - 1 })).toEqual(again("other"));
      expect(found({ acceptedAt: sent.acceptedAt + 1, endedAt: sent.acceptedAt + 2 })).toEqual(
        again("other"),
      );
      expect(found({}, sent, "cancelled")).toEqual(again("other"));
      expect(found({}, { ...sent, supersedes: "op0" })).toEqual(again("other"));
      expect(found({ effect: "repeatable" }, { ...sent, effect: "repeatable" })).toEqual(again("other"));
    });
  });

  test("▲10 (b) what entered the store before this operation was known then: sent again after it", () => {
    const before = executed({ logId: "op0", entered: 3 });
    expect(recover(sent, sameAs("op0"), knowing(before))).toEqual(again("op0"));
  });

  test("W1: however many operations of the hash expired in between, what entered before is no answer", () => {
    const longAgo = executed({ logId: "op0", entered: 1 });
    const fourteenth = { ...sent, logId: "op15", order: 15, entered: 1 + 14 * 3, after: "op14" };
    expect(recover(fourteenth, sameAs("op0"), knowing(longAgo))).toEqual(again("op0"));
  });

  test("▲10 (b) a tombstone entered before", () => {
    const around = knowing(undefined, { isOver: true });
    expect(recover(sent, sameAs("retired"), around)).toEqual(again("retired"));
  });

  test("W12: op1 ran, flush, the retry makes op2, a hello restores op1: it entered after op2, and answers it", () => {
    const op2 = { ...sent, after: null, order: 1, entered: 1 };
    const op1 = executed({ logId: "op1", order: 0, entered: 4, rebuilt: true });
    expect(recover(op2, sameAs("op1"), knowing(op1))).toEqual(answeredBy("op1"));
  });

  test("W3: the outcome of tests that was read before the flush answers no call after it", () => {
    const call = { ...sent, tool: "run-tests", effect: "repeatable" as const, after: null, entered: 1 };
    const lost = tested({ logId: "op1", order: 0, entered: 4, rebuilt: true });
    expect(recover(call, sameAs("op1"), knowing(lost))).toEqual(again("op1"));
    const unread = tested({ logId: "op1", entered: 4 });
    expect(recover(call, sameAs("op1"), knowing(unread))).toEqual(answeredBy("op1"));
  });

  test("W3: restored as sent, and ended there: it is not joined as if it were in flight", () => {
    const call = { ...sent, tool: "run-tests", effect: "repeatable" as const, after: null, entered: 1 };
    const lost = testing({ logId: "op1", order: 0, entered: 4, rebuilt: true, state: "dispatched" });
    expect(recover(call, sameAs("op1"), knowing(lost))).toEqual(again("op1"));
    expect(recover(call, sameAs("op1", "failed"), knowing(lost))).toEqual(again("op1"));
    // What runs there nobody has been told.
    expect(recover(call, sameAs("op1", "running"), knowing(lost))).toEqual(answeredBy("op1"));
    expect(recover(call, sameAs("op1", "accepted"), knowing(lost))).toEqual(answeredBy("op1"));
    const keyed = { ...lost, keyed: true };
    expect(recover({ ...call, keyed: true }, sameAs("op1"), knowing(keyed))).toEqual(answeredBy("op1"));
  });

  test("W4: key K was of another call before the flush: the call is refused, never begun", () => {
    const keyed = { ...sent, keyed: true, fingerprint: "one tool" };
    const lost = restored({ keyed: true, fingerprint: "another tool" });
    expect(recover(keyed, sameAs("lost"), knowing(lost))).toMatchObject({
      kind: "fail",
      type: "idempotency_conflict",
    });
    const same = restored({ keyed: true, fingerprint: "one tool" });
    expect(recover(keyed, sameAs("lost"), knowing(same))).toEqual(answeredBy("lost"));
  });

  test("▲10 (b) decide is asked for the creating request: what it would run anew is sent again after that one", () => {
    const read = restored({ ...reported(HTTP, { hasRead: true }) });
    expect(recover(sent, sameAs("lost"), knowing(read))).toEqual(again("lost"));
    const readByAnother = restored({ ...reported(LATER_SESSION, { hasRead: true }) });
    expect(recover(sent, sameAs("lost"), knowing(readByAnother))).toEqual(answeredBy("lost"));
    const running = { ...sent, tool: "set-active", effect: "repeatable" as const };
    const open = restored({ tool: "set-active", effect: "repeatable", state: "running" });
    const changed = knowing(open, { editors: [editorAt({ mutationSeq: 9 })] });
    expect(recover(running, sameAs("lost", "running"), changed)).toEqual(again("lost"));
  });

  test("▲10 (b) without origin tests run again behind it, unless a key names one run", () => {
    const tests = { ...sent, effect: "repeatable" } as const;
    expect(recover(tests, sameAs("whose"), knowing(undefined))).toEqual({ kind: "resubmit", after: "whose" });
    for (const one of [{ keyed: true }, { supersedes: "op0" }])
      expect(recover({ ...tests, ...one }, sameAs("whose"), knowing(undefined)).kind).toBe("interrupt");
  });

  test("▲10 (b) without origin nobody knows whose outcome it is: interrupted, and never shown", () => {
    expect(recover(sent, sameAs("whose"), knowing(undefined)).kind).toBe("interrupt");
  });

  test("▲10 (b) an outcome older than the retention answers nobody, an open operation always does", () => {
    const over = knowing(restored(), { isOver: true });
    expect(recover(sent, sameAs("lost", "completed"), over)).toEqual(again("lost"));
    const running = knowing(restored({ state: "running" }));
    expect(recover(sent, sameAs("lost", "running"), running)).toEqual(answeredBy("lost"));
  });

  test("schedule G: a forced operation takes the outcome neither of what it supersedes nor of what entered before", () => {
    const forced = { ...sent, supersedes: "op1" };
    const superseded = restored({ logId: "op1" });
    expect(recover(forced, sameAs("op1"), knowing(superseded))).toEqual(again("op1"));
    expect(recover(forced, sameAs("op1"), knowing(undefined))).toEqual(again("op1"));
    expect(recover(forced, sameAs("op0"), knowing(executed({ logId: "op0", entered: 3 })))).toEqual(
      again("op0"),
    );
    expect(recover(forced, sameAs("lost"), knowing(restored()))).toEqual(again("lost"));
  });

  test("W13: the store forgot the forced run; its re-issue is answered by it, not sent again", () => {
    const reissued = { ...sent, supersedes: "op1" };
    const lost = restored({ supersedes: "op1", ...reported(HTTP, { hasRead: true }) });
    expect(recover(reissued, sameAs("lost"), knowing(lost))).toEqual(answeredBy("lost"));
  });

  test("▲10 (b) a forgotten submit of this call that never began is revoked, and this one runs instead", () => {
    const unbegun = restored({ state: "failed", startedAt: undefined });
    const found = recover(sent, sameAs("lost", "not_started"), knowing(unbegun));
    expect(found).toEqual({ kind: "resubmit", instead: "lost" });
  });

  describe.each([
    ["a ledger that lost what was seen of it", { ...sent, ledgerLost: true as const }],
    ["a record that says running, which the ledger does not", { ...sent, state: "running" as const }],
  ])("▲10 (c) %s", (_name, record) => {
    test.each(["unknown", "accepted", "not_started"] as const)(
      "its `%s` proves nothing: revoked, then unknown for good",
      (state) => {
        for (const around of [here, restarted]) {
          expect(recover(record, got(state), around)).toMatchObject({ kind: "revoke", type: "ledger_lost" });
        }
      },
    );

    test("what it holds of the end, or still runs, is believed", () => {
      expect(recover(record, got("running"), restarted)).toEqual({ kind: "attach" });
      expect(recover(record, submitted("completed", outcome), restarted)).toEqual({
        kind: "settle",
        outcome,
      });
    });

    test("a read is asked again", () => {
      const read = { ...record, effect: "read_only" as const };
      expect(recover(read, got("unknown"), restarted)).toEqual({ kind: "resubmit" });
    });
  });

  test("▲10 (d) what never began and lost its arguments with the store has failed, and says so", () => {
    const rebuilt = { ...sent, rebuilt: true as const };
    expect(recover(rebuilt, got("not_started"), restarted)).toMatchObject({
      kind: "fail",
      type: "not_started",
    });
    expect(recover(rebuilt, got("running"), restarted)).toEqual({ kind: "attach" });
  });

  test("▲10 (c) a lost ledger makes the outcome unknown", () => {
    expect(recover(sent, refused(EDITOR_CODES.LEDGER_LOST), here)).toEqual({
      kind: "interrupt",
      why: "said the Editor",
    });
  });
});

describe("what the Editor refuses", () => {
  test.each([
    ["RETIRED", EDITOR_CODES.RETIRED],
    ["REVOKED", EDITOR_CODES.REVOKED],
    ["OPERATION_ID_CONFLICT", EDITOR_CODES.OPERATION_ID_CONFLICT],
    ["an answer that cannot be read", UNREADABLE],
  ])("%s: it may have run, so the outcome is unknown", (_name, code) => {
    expect(recover(sent, refused(code), here)).toEqual({ kind: "interrupt", why: "said the Editor" });
  });

  test.each([
    ["unknown_tool", EDITOR_CODES.UNKNOWN_TOOL],
    ["ledger_unavailable", EDITOR_CODES.LEDGER_UNAVAILABLE],
    ["frame_too_large", EDITOR_CODES.FRAME_TOO_LARGE],
    ["refused", -32603],
  ])("%s: it did not begin, and says why", (type, code) => {
    expect(recover(sent, refused(code), here)).toEqual({ kind: "fail", type, message: "said the Editor" });
  });
});
