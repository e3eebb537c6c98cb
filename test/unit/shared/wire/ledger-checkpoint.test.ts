import { describe, expect, test } from "vitest";
import { memoryOf, type ReportedLedger, stillHolds } from "../../../../src/shared/wire/ledger-checkpoint.js";

const seen = { ledgerId: "ledger", editorSessionId: "s2", ledgerSeq: 20 };
const reported = (changes: Partial<ReportedLedger> = {}): ReportedLedger => ({ ...seen, ...changes });
const restarted = (
  ledgerSeq: number,
  before: { editorSessionId: string; ledgerSeq: number },
): ReportedLedger => reported({ editorSessionId: "s3", ledgerSeq, previousSession: before });

describe("▲10 (c) what was seen of a journal, and what it tells now", () => {
  test("an Editor that was never seen cannot have lost anything", () => {
    expect(stillHolds(undefined, reported())).toBe(true);
  });

  test.each([
    ["the same session, as far or further", reported({ ledgerSeq: 21 }), true],
    ["the same session, behind: put back under a running Editor", reported({ ledgerSeq: 19 }), false],
    ["the next session, which holds all", restarted(23, { editorSessionId: "s2", ledgerSeq: 20 }), true],
    ["the next session of an older copy", restarted(23, { editorSessionId: "s2", ledgerSeq: 19 }), false],
    ["a copy from before the session", restarted(90, { editorSessionId: "s1", ledgerSeq: 80 }), false],
    ["a session that nobody saw in between", restarted(30, { editorSessionId: "s2b", ledgerSeq: 25 }), false],
    ["no session before: a new journal under the old id", reported({ editorSessionId: "s3" }), false],
    ["another ledger, whatever it says", reported({ ledgerId: "other", ledgerSeq: 99 }), false],
  ])("%s", (_name, hello, holds) => {
    expect(stillHolds(seen, hello)).toBe(holds);
  });

  test("only the newest is remembered", () => {
    expect(memoryOf(restarted(23, { editorSessionId: "s2", ledgerSeq: 20 }))).toEqual({
      ledgerId: "ledger",
      editorSessionId: "s3",
      ledgerSeq: 23,
    });
  });
});
