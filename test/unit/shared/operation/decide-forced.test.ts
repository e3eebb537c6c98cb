import { describe, expect, test } from "vitest";
import { decide } from "../../../../src/shared/operation/decide.js";
import {
  around,
  call,
  editorAt,
  executed,
  HOUR,
  HTTP,
  NOW,
  operation,
  reported,
  snapshot,
} from "../record.js";

const TWO_EDITORS = { editors: [editorAt(), editorAt({ id: "game@2", mutationSeq: 0 })] };
const named = (editor: string) => ({
  target: { kind: "named", editor } as const,
  ...around("shop@1", "game@2"),
});

describe("▲8 force_new names the operation that it supersedes", () => {
  const first = executed(reported(HTTP));
  const force = { forceNew: "op1", forceNewHash: "h" };

  test("▲8 the first call with it makes an operation after the newest", () => {
    expect(decide(snapshot([first]), call(force))).toEqual({
      kind: "create",
      editor: "shop@1",
      editorOpen: true,
      after: "op1",
      supersedes: "op1",
    });
  });

  test("▲8 the same call again joins it, and replays it when it ended", () => {
    const running = operation({ logId: "op2", state: "running", supersedes: "op1" });
    expect(decide(snapshot([first, running], { forced: running }), call(force))).toEqual({
      kind: "join",
      record: running,
    });
    const ended = executed({ logId: "op2", supersedes: "op1", ...reported(HTTP, { hasRead: true }) });
    const muchLater = snapshot([first, ended], { forced: ended, now: NOW + 20 * HOUR });
    expect(decide(muchLater, call({ ...force, caller: HTTP }))).toEqual({
      kind: "replay",
      record: ended,
    });
  });

  test("▲8 a forced call is not answered by any other operation of the hash", () => {
    const unread = executed({ logId: "op2", order: 2 });
    expect(decide(snapshot([first, unread]), call(force)).kind).toBe("create");
  });

  test("▲8 forcing the forced one is yet another run", () => {
    const second = executed({ logId: "op2", supersedes: "op1", order: 2 });
    const decision = decide(snapshot([first, second]), call({ forceNew: "op2", forceNewHash: "h" }));
    expect(decision).toMatchObject({ kind: "create", after: "op2", supersedes: "op2" });
  });

  test.each([
    ['the text "true"', { forceNew: "true" }],
    ["an unknown UUID", { forceNew: "2c0b7b9e-0000-4000-8000-000000000000" }],
    ["the log_id of another call", { forceNew: "x", forceNewHash: "other" }],
  ])("W2: %s is refused, and nothing runs", (_what, wrong) => {
    expect(decide(snapshot([first]), call(wrong))).toEqual({
      kind: "refuse",
      problem: { code: "FORCE_NEW_MISMATCH", newest: first },
    });
    expect(decide(snapshot([]), call(wrong))).toEqual({
      kind: "refuse",
      problem: { code: "FORCE_NEW_MISMATCH", newest: undefined },
    });
  });

  test("W14: the store forgot what is superseded; the refusal shows the newest operation, so that nobody obeys blindly", () => {
    const restored = executed({ logId: "op2", supersedes: "op1", rebuilt: true });
    const decision = decide(snapshot([restored]), call({ forceNew: "op1" }));
    expect(decision).toEqual({
      kind: "refuse",
      problem: { code: "FORCE_NEW_MISMATCH", newest: restored },
    });
  });

  test("▲8 the refusal shows what ran, not what never began after it; where nothing ran, that", () => {
    const expired = operation({ logId: "op2", order: 2, state: "expired" });
    const wrong = call({ forceNew: "true" });
    expect(decide(snapshot([first, expired]), wrong)).toMatchObject({
      problem: { newest: { logId: "op1" } },
    });
    expect(decide(snapshot([expired]), wrong)).toMatchObject({ problem: { newest: { logId: "op2" } } });
  });

  test("▲8 the refusal shows what the call would find: of the Editor that it names", () => {
    const onGame = executed({ logId: "on game", editor: "game@2", order: 2 });
    const chain = snapshot([first, onGame], TWO_EDITORS);
    const decision = decide(chain, call({ forceNew: "true", ...named("shop@1") }));
    expect(decision).toMatchObject({ problem: { newest: { logId: "op1" } } });
  });
});

describe("▲13 the record of an earlier run alone is lost", () => {
  const lost = [{ target: "shop@9", logId: "op0" }];
  const there = snapshot([], { lost });

  test("▲13 a changing call is not sent to another Editor; one that may run twice is", () => {
    expect(decide(there, call())).toEqual({ kind: "refuse", problem: { code: "RECORD_LOST", logId: "op0" } });
    expect(decide(there, call({ isChange: false }))).toMatchObject({ kind: "create" });
  });

  test("▲13 its own Editor knows what it ran, and a named one is another target", () => {
    const own = snapshot([], { lost: [{ target: "shop@1", logId: "op0" }] });
    expect(decide(own, call())).toMatchObject({ kind: "create", editor: "shop@1" });
    expect(decide(there, call(named("game@2")))).toMatchObject({ kind: "create", editor: "game@2" });
  });

  test("▲13 what another operation answers is not asked for", () => {
    const ran = executed({ keyed: true });
    expect(decide(snapshot([ran], { lost }), call({ keyed: true }))).toEqual({ kind: "replay", record: ran });
  });

  test("▲13 force_new names it, as long as no Editor is missing that may bring it back", () => {
    const forced = call({ forceNew: "op0" });
    expect(decide(there, forced)).toMatchObject({ kind: "create", supersedes: "op0" });
    const targetContext = { ...forced.targetContext, missing: ["shop@9"] };
    expect(decide(there, { ...forced, targetContext })).toEqual({
      kind: "refuse",
      problem: { code: "EDITORS_NOT_BACK", editors: ["shop@9"] },
    });
    expect(decide(snapshot([]), { ...forced, targetContext })).toMatchObject({
      problem: { code: "EDITORS_NOT_BACK" },
    });
  });
});
