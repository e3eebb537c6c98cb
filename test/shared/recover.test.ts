import { describe, expect, test } from "vitest";
import { type Found, recover, type Surroundings, UNREADABLE } from "../../src/shared/recover.js";
import { EDITOR_CODES, type LedgerState, type Outcome } from "../../src/shared/wire.js";
import { HOUR, NOW, operation } from "./record.js";

const sent = operation({ logId: "op2", state: "dispatched", sentIn: "session-1", after: "op1", order: 2 });
const here: Surroundings = { session: "session-1", ancestors: [], now: NOW, retentionMs: 24 * HOUR };
const restarted: Surroundings = { ...here, session: "session-2" };

const outcome: Outcome = { status: "completed", result: 7, startedAt: 1, endedAt: 2, executionMs: 1 };
const submitted = (state: LedgerState, told?: Outcome): Found => ({
  asked: "submit",
  answer: { state, ledgerSeq: 1, ...(told ? { outcome: told } : {}) },
});
const got = (state: LedgerState | "unknown"): Found => ({ asked: "get", answer: { state, ledgerSeq: 1 } });
const refused = (code: number): Found => ({ asked: "submit", refusal: { code, message: "said the Editor" } });
const sameAs = (operationId: string, stateThere: LedgerState = "completed", endedAt = NOW - HOUR): Found => ({
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
      const told = { ...outcome, status };
      expect(recover(sent, submitted(status, told), restarted)).toEqual({ kind: "settle", outcome: told });
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

  test("▲12 unknown in another session: revoked before it is called interrupted, never `not started`", () => {
    expect(recover(sent, got("unknown"), restarted)).toMatchObject({ kind: "revoke" });
  });

  test("▲12 a read, and what was never sent, may be sent in any session", () => {
    expect(recover({ ...sent, effect: "read_only" }, got("unknown"), restarted)).toEqual({
      kind: "resubmit",
    });
    const { sentIn: _never, ...unsent } = sent;
    expect(recover(unsent, got("unknown"), restarted)).toEqual({ kind: "resubmit" });
  });

  test("▲12 a revoked operation never ran and never will, and nobody claims more", () => {
    expect(recover(sent, got("revoked"), here).kind).toBe("interrupt");
  });
});

describe("▲10 the Editor's journal is the memory", () => {
  test("▲10 another operation of the hash that the store forgot is this call: it is followed", () => {
    for (const state of ["accepted", "running", "completed", "interrupted"] as const) {
      expect(recover(sent, sameAs("lost", state), here)).toEqual({ kind: "attach", executedAs: "lost" });
    }
  });

  test("▲10 an ancestor by the store's own links is no such operation: sent again after it", () => {
    const knowing = { ...here, ancestors: ["op0", "op-older"] };
    expect(recover(sent, sameAs("op0"), knowing)).toEqual({ kind: "resubmit", after: "op0" });
  });

  test("▲10 an outcome older than the retention answers nobody, an open operation always does", () => {
    const old = NOW - 25 * HOUR;
    expect(recover(sent, sameAs("lost", "completed", old), here)).toEqual({
      kind: "resubmit",
      after: "lost",
    });
    expect(recover(sent, sameAs("lost", "running", old), here)).toEqual({
      kind: "attach",
      executedAs: "lost",
    });
  });

  test("▲10 a forced operation never takes the outcome of what it supersedes, nor of anything before it", () => {
    const forced = { ...sent, supersedes: "op1" };
    for (const other of ["op1", "op0"]) {
      const knowing = { ...here, ancestors: ["op0"] };
      expect(recover(forced, sameAs(other), knowing)).toEqual({ kind: "resubmit", after: other });
    }
  });

  test("▲10 a forgotten submit of this call that never began is revoked, and this one runs instead", () => {
    const found = recover(sent, sameAs("lost", "not_started"), here);
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
