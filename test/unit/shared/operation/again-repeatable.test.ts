import { describe, expect, test } from "vitest";
import { type Moment, runsAgain } from "../../../../src/shared/operation/again.js";
import type { Caller, OperationRecord } from "../../../../src/shared/operation/operation.js";
import {
  ANOTHER_INCARNATION,
  editorAt,
  HTTP,
  LATER_SESSION,
  MARK,
  moment,
  NOW,
  reported,
  SINGLE,
  STDIO,
  tested,
} from "../record.js";

const runs = (record: OperationRecord, caller: Caller, at: Partial<Moment> = {}): boolean =>
  runsAgain(record, { caller }, moment(at));

/** It took 20 s, ended a moment ago, and nobody got it. */
const unread = (changes: Partial<OperationRecord> = {}): OperationRecord =>
  tested({ endedAt: NOW - 1_000, ...changes });

describe("tests run, unless", () => {
  test("their outcome was delivered to nobody, is young, and nothing is known to have changed", () => {
    for (const caller of [HTTP, LATER_SESSION, SINGLE]) {
      expect(runs(unread(), caller)).toBe(false);
      expect(runs(unread({ state: "failed" }), caller)).toBe(false);
    }
  });

  test("delivered to anybody, read or not, by a quick answer or a slow one, everybody's call runs", () => {
    for (const record of [unread(reported(HTTP)), unread(reported(STDIO, { hasRead: true }))])
      for (const caller of [HTTP, STDIO, LATER_SESSION, SINGLE]) expect(runs(record, caller)).toBe(true);
  });

  test.each([
    ["less than 10 s", 3_000, 10_000],
    ["longer", 480_000, 480_000],
  ])(
    "an outcome that took %s answers while it is younger than %i ms: than %i",
    (_how, executionMs, until) => {
      const record = unread({ executionMs, endedAt: NOW - until });
      expect(runs(record, HTTP, { now: NOW - 1 })).toBe(false);
      expect(runs(record, HTTP, { now: NOW })).toBe(true);
    },
  );

  test("its caller cancelled its own request for that run; for others it answers", () => {
    const record = unread({ givenUpBy: [HTTP.id] });
    expect(runs(record, HTTP)).toBe(true);
    expect(runs(record, LATER_SESSION)).toBe(false);
  });

  test.each([
    ["another operation was accepted that counts as a change", { mutationSeq: 2 }],
    ["the domain was reloaded", { mark: { ...MARK, generation: 4 } }],
    ["assets were imported", { mark: { ...MARK, assetCounter: 9 } }],
    ["the Editor was restarted", { mark: { ...MARK, editorSessionId: "s2" } }],
    ["nobody knows where the Editor stands", { mark: undefined }],
  ])("nobody read it, and %s since it ended", (_why, change) => {
    expect(runs(unread(), LATER_SESSION, { editors: [editorAt(change)] })).toBe(true);
    expect(runs(unread(), LATER_SESSION)).toBe(false);
  });

  test("an Editor that is not known any more may have changed", () => {
    expect(runs(unread(), LATER_SESSION, { editors: [] })).toBe(true);
  });

  test("the marks are those of its end: what is lower was reported before it", () => {
    const end = { ...MARK, generation: 5, assetCounter: 12 };
    expect(runs(unread({ editorMark: end }), HTTP)).toBe(false);
    const { editorMark: _none, ...unmarked } = unread();
    expect(runs(unmarked, HTTP)).toBe(true);
  });

  test("the reload that a compilation announced does not keep its retry from finding it; a further one does", () => {
    const compiled = unread({ tool: "compile", editorMark: { ...MARK, reloadAnnounced: true } });
    const at = (generation: number) => ({ editors: [editorAt({ mark: { ...MARK, generation } })] });
    expect(runs(compiled, HTTP, at(4))).toBe(false);
    expect(runs(compiled, HTTP, at(5))).toBe(true);
    expect(runs(unread(), HTTP, at(4))).toBe(true);
  });

  test.each(["cancelled", "interrupted"] as const)("a %s one answers nobody", (state) => {
    expect(runs(unread({ state }), HTTP)).toBe(true);
  });

  test("a restored one, and one from before a change of the store's incarnation, answers nobody", () => {
    expect(runs(unread({ rebuilt: true }), HTTP)).toBe(true);
    expect(runs(unread(), HTTP, { incarnation: ANOTHER_INCARNATION })).toBe(true);
  });
});
