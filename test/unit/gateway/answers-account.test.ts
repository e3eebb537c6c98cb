/** The account of answers by which chaos and never-twice judge: what it must notice, and what is in order. */
import { describe, expect, test } from "vitest";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { type Began, wrongAnswers } from "../../proofs/engine/judge/answers.js";
import type { Heard } from "../../proofs/engine/listener.js";

const AT = Date.parse("2026-01-01T00:00:00Z");
const time = (ms: number): string => new Date(AT + ms).toISOString();

const began = (operationId: string, at: number): Began => ({ operationId, call: "tests", at: AT + at });

/** Answered 10 ms after it was asked. */
function heard(
  log_id: string,
  askedAt: number,
  reported: Partial<CallAnswer> = {},
  changes: Partial<Heard> = {},
): Heard {
  return {
    request: `at ${askedAt}`,
    askedAt: AT + askedAt,
    answeredAt: AT + askedAt + 10,
    call: "tests",
    namesOne: false,
    reported: { status: "completed", tool: "run-tests", log_id, accepted_at: time(askedAt), ...reported },
    ...changes,
  };
}

const INTERRUPTED = { status: "error", error_code: "OUTCOME_UNKNOWN", deduplicated: true };

const whats = (answers: Heard[], executions: Began[]): string[] =>
  wrongAnswers(answers, executions).map(({ what }) => what);

describe("an answer of a repeatable tool", () => {
  const again = { deduplicated: true, executed_at: time(3) };

  test("that was delivered answers no later call, also under another log_id", () => {
    const reported = [heard("op1", 0), heard("op1", 50, again)];
    expect(whats(reported, [began("op1", 3)])).toEqual([expect.stringContaining("was told 40 ms before")]);
    const others = [heard("op1", 0), heard("op2", 50, again)];
    expect(whats(others, [began("op1", 3)])).toEqual([expect.stringContaining("was told 40 ms before")]);
  });

  test("answers the same request, and one that was sent before", () => {
    const ran = [began("op1", 3)];
    expect(whats([heard("op1", 0), heard("op1", 50, again, { request: "at 0" })], ran)).toEqual([]);
    expect(whats([heard("op1", 0), heard("op1", 5, again)], ran)).toEqual([]);
  });

  test("that was interrupted before its Editor had counted it is not the execution of a later call", () => {
    const interrupted = { ...INTERRUPTED, executed_at: time(3) };
    const ran = [began("op2", 10_000)];
    expect(whats([heard("op1", 0, interrupted), heard("op2", 9_990)], ran)).toEqual([]);
    const again = [heard("op1", 0, interrupted), heard("op1", 50, interrupted)];
    expect(whats(again, ran)).toEqual([expect.stringContaining("was told 40 ms before")]);
  });

  test("nor that of an earlier one", () => {
    const interrupted = { ...INTERRUPTED, executed_at: time(1_003), accepted_at: time(1_000) };
    const answers = [heard("op1", 0), heard("op2", 1_005, interrupted)];
    expect(whats(answers, [began("op1", 3)])).toEqual([]);
  });

  test("that was cancelled unsent is no execution of its call", () => {
    const cancelled = { status: "cancelled", deduplicated: true };
    const reported = [heard("op0", -50, cancelled), heard("op1", 0), heard("op2", 50, cancelled)];
    expect(whats(reported, [began("op1", 3)])).toEqual([]);
  });
});

describe("an answer without `deduplicated`", () => {
  test("was executed, and after its call was accepted", () => {
    expect(whats([heard("op1", 0)], [began("op1", 3)])).toEqual([]);
    expect(whats([heard("op1", 0)], [])).toEqual([expect.stringContaining("never executed")]);
    expect(whats([heard("op1", 0)], [began("op1", -50)])).toEqual([
      expect.stringContaining("executed before it was accepted"),
    ]);
    const old = heard("op1", 0, { accepted_at: time(-60) });
    expect(whats([old], [began("op1", -50)])).toEqual([
      expect.stringContaining("accepted 60 ms before the call was sent"),
    ]);
  });
});

test("another's execution is reported with its true time", () => {
  const late = heard("op2", 0, { deduplicated: true, executed_at: time(-5_000) });
  expect(whats([late], [began("op1", 3)])).toEqual([expect.stringContaining("before it was")]);
  const nameless = heard("op1", 0, { deduplicated: true });
  expect(whats([nameless], [began("op1", 3)])).toEqual([
    expect.stringContaining("said to have been executed"),
  ]);
});
