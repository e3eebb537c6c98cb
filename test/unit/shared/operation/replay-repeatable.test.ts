import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import { type Moment, type Requester, replays } from "../../../../src/shared/operation/replay.js";
import {
  ANOTHER_INCARNATION,
  editorAt,
  from,
  HOUR,
  HTTP,
  LATER_SESSION,
  MARK,
  moment,
  NOW,
  reported,
  STDIO,
  tested,
} from "../record.js";

const byStdio = { createdBy: { caller: STDIO.id, requestId: 1, transport: "stdio" } } as const;

const replay = (record: OperationRecord, request: Requester, at: Partial<Moment> = {}): boolean =>
  replays(record, request, moment(at));

describe("▲6 repeatable: until it was told to anybody, while nothing has changed", () => {
  test("▲6 an outcome that nobody was told answers the retry, in whatever session", () => {
    expect(replay(tested(), from(HTTP, 2))).toBe(true);
    expect(replay(tested(), from(LATER_SESSION, 1))).toBe(true);
    expect(replay(tested(), from(null, null))).toBe(true);
    expect(replay(tested({ state: "failed" }), from(HTTP, 2))).toBe(true);
  });

  test("▲6 once it was told to anybody, everybody's call runs", () => {
    const record = tested(reported(HTTP, { at: NOW }));
    expect(replay(record, from(HTTP, 2))).toBe(false);
    expect(replay(record, from(LATER_SESSION, 1))).toBe(false);
    expect(replay(record, from(null, null))).toBe(false);
  });

  test("▲5 the same request again reads its operation, whatever changed and was delivered", () => {
    const record = tested(reported(HTTP));
    expect(replay(record, from(HTTP, 1), { editors: [editorAt({ mutationSeq: 99 })] })).toBe(true);
  });

  test("W5: run-tests, compile, run-tests over HTTP: the second report is a new one", () => {
    const report = tested(reported(HTTP));
    const compiled = { editors: [editorAt({ mutationSeq: 2 })] };
    expect(replay(report, from(HTTP, 3), compiled)).toBe(false);
    // Read or not, in this session or another: the compilation is known to have come between.
    expect(replay(tested(), from(LATER_SESSION, 1), compiled)).toBe(false);
  });

  test.each([1_000, 12_000, 600_000])(
    "W5: over stdio, and by another process, whether the answer took long or not (%i ms)",
    (tookMs) => {
      const report = tested({ ...byStdio, ...reported(STDIO, { tookMs }) });
      expect(replay(report, from(STDIO, 2))).toBe(false);
      expect(replay(report, from({ id: "another process", transport: "stdio" }, 1))).toBe(false);
    },
  );

  test.each([
    ["another operation was accepted that counts as a change", { mutationSeq: 2 }],
    ["the domain was reloaded", { mark: { ...MARK, generation: 4 } }],
    ["assets were imported", { mark: { ...MARK, assetCounter: 9 } }],
    ["the Editor was restarted", { mark: { ...MARK, editorSessionId: "s2" } }],
    ["nobody knows where the Editor stands", { mark: undefined }],
  ])("W6: nobody read it, and %s since it ended: hours later it is run again", (_why, change) => {
    const changed = { now: NOW + 5 * HOUR, editors: [editorAt(change)] };
    expect(replay(tested(), from(LATER_SESSION, 1), changed)).toBe(false);
    expect(replay(tested(), from(LATER_SESSION, 1), { now: NOW + 5 * HOUR })).toBe(true);
  });

  test("W6: an Editor that is not known any more may have changed", () => {
    expect(replay(tested(), from(LATER_SESSION, 1), { editors: [] })).toBe(false);
  });

  test("▲6 the marks are those of its end: what is lower was reported before it", () => {
    const end = { ...MARK, generation: 5, assetCounter: 12 };
    expect(replay(tested({ editorMark: end }), from(HTTP, 2))).toBe(true);
    const { editorMark: _none, ...unmarked } = tested();
    expect(replay(unmarked, from(HTTP, 2))).toBe(false);
  });

  test("▲6 the reload that a compilation announced does not keep its retry from finding it; a further one does", () => {
    const compiled = tested({ tool: "compile", editorMark: { ...MARK, reloadAnnounced: true } });
    const at = (generation: number) => ({ editors: [editorAt({ mark: { ...MARK, generation } })] });
    expect(replay(compiled, from(HTTP, 2), at(4))).toBe(true);
    expect(replay(compiled, from(HTTP, 2), at(5))).toBe(false);
    expect(replay(tested(), from(HTTP, 2), at(4))).toBe(false);
  });

  test.each(["cancelled", "interrupted"] as const)("▲6 a %s one answers nobody", (state) => {
    expect(replay(tested({ state }), from(HTTP, 2))).toBe(false);
  });

  test("▲6 a restored one, and one from before a change of the store's incarnation, answers nobody", () => {
    expect(replay(tested({ rebuilt: true }), from(HTTP, 2))).toBe(false);
    expect(replay(tested(), from(HTTP, 2), { incarnation: ANOTHER_INCARNATION })).toBe(false);
  });
});
