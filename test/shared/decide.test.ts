import { describe, expect, test } from "vitest";
import { decide } from "../../src/shared/decide.js";
import { call, candidate, executed, from, HOUR, HTTP, NOW, operation, snapshot, told } from "./record.js";

const TWO_EDITORS = [
  { id: "shop@1", mutationSeq: 1 },
  { id: "game@2", mutationSeq: 0 },
];
const BOTH = { candidates: [candidate("shop@1"), candidate("game@2")] };
const toEditor = (editor: string) => ({ target: { kind: "named", editor } as const });

describe("a call that nobody made before", () => {
  test("is created for the only known Editor, with nothing before it", () => {
    expect(decide(snapshot(), call())).toEqual({
      kind: "create",
      editor: "shop@1",
      editorOpen: true,
      after: null,
    });
  });

  test("▲4 without any Editor ever seen there is no operation", () => {
    expect(decide(snapshot([], { editors: [] }), call({ around: { candidates: [] } }))).toEqual({
      kind: "refuse",
      problem: { code: "NO_EDITOR" },
    });
  });

  test("▲4 with several Editors the caller is told the candidates", () => {
    expect(decide(snapshot([], { editors: TWO_EDITORS }), call({ around: BOTH }))).toEqual({
      kind: "refuse",
      problem: { code: "EDITOR_AMBIGUOUS", candidates: BOTH.candidates },
    });
  });
});

describe("▲3 a key names one call for good", () => {
  const first = executed({ keyed: true });

  test("▲3 the same call under the key replays; another call under it is refused", () => {
    expect(decide(snapshot([first]), call({ keyed: true })).kind).toBe("replay");
    expect(decide(snapshot([first]), call({ keyed: true, fingerprint: "other" }))).toEqual({
      kind: "refuse",
      problem: { code: "IDEMPOTENCY_CONFLICT" },
    });
  });

  test("▲3 another call under a key is refused whatever became of the first", () => {
    const failed = operation({ keyed: true, state: "expired" });
    expect(decide(snapshot([failed]), call({ keyed: true, fingerprint: "other" })).kind).toBe("refuse");
  });
});

describe("▲4 the operation that a call repeats", () => {
  const opened = executed({ editor: "shop@1", editorOpen: true });
  const named = executed({ editor: "shop@1", editorOpen: false });

  test("▲4 a retry that adds the Editor finds the operation that left it open", () => {
    const decision = decide(snapshot([opened], { editors: TWO_EDITORS }), call(toEditor("game@2")));
    expect(decision).toEqual({ kind: "replay", record: opened });
  });

  test("▲4 a retry that drops the Editor finds the operation that named it", () => {
    const decision = decide(snapshot([named], { editors: TWO_EDITORS }), call());
    expect(decision).toEqual({ kind: "replay", record: named });
  });

  test("▲4 the same call for another named Editor is another wish", () => {
    const decision = decide(snapshot([named], { editors: TWO_EDITORS }), call(toEditor("game@2")));
    expect(decision).toEqual({ kind: "create", editor: "game@2", editorOpen: false, after: "op1" });
  });

  test("▲4 of several the newest for that Editor answers", () => {
    const first = executed({ logId: "op1", order: 1, editorOpen: false });
    const elsewhere = executed({ logId: "op2", order: 2, editorOpen: false, editor: "game@2" });
    const second = executed({ logId: "op3", order: 3, editorOpen: false });
    const chain = snapshot([second, first, elsewhere], { editors: TWO_EDITORS });
    expect(decide(chain, call(toEditor("game@2")))).toEqual({ kind: "replay", record: elsewhere });
    expect(decide(chain, call(toEditor("shop@1")))).toEqual({ kind: "replay", record: second });
    expect(decide(chain, call())).toEqual({ kind: "replay", record: second });
  });

  test("schedule Q: Editor 1 died, Editor 2 appeared; the retry without an Editor finds what Editor 1 did", () => {
    const decision = decide(snapshot([opened], { editors: TWO_EDITORS }), call(from(HTTP, 2)));
    expect(decision).toEqual({ kind: "replay", record: opened });
  });
});

describe("▲5 joining what is in flight", () => {
  test.each(["accepted", "queued", "dispatched", "running"] as const)(
    "▲5 a mutating call joins what is %s, whatever happened since",
    (state) => {
      const record = operation({ state });
      const later = snapshot([record], { editors: [{ id: "shop@1", mutationSeq: 99 }] });
      expect(decide(later, call({ ...from(HTTP, 99) }))).toEqual({ kind: "join", record });
    },
  );

  test.each(["read_only", "idempotent"] as const)(
    "▲5 a %s call joins only while no mutating operation was accepted since",
    (effect) => {
      const record = operation({ effect, mutationSeq: 4 });
      const at = (mutationSeq: number) => snapshot([record], { editors: [{ id: "shop@1", mutationSeq }] });
      expect(decide(at(4), call({ effect })).kind).toBe("join");
      expect(decide(at(5), call({ effect }))).toMatchObject({ kind: "create", after: "op1" });
    },
  );

  test("▲5 a read with a key joins its operation: the key is its identity", () => {
    const record = operation({ effect: "read_only", keyed: true, mutationSeq: 4 });
    const later = snapshot([record], { editors: [{ id: "shop@1", mutationSeq: 5 }] });
    expect(decide(later, call({ effect: "read_only", keyed: true })).kind).toBe("join");
  });

  test("schedule R: set A, set B, set A without waiting: the third does not join the first", () => {
    const setA = operation({ logId: "first-a", effect: "idempotent", mutationSeq: 1 });
    const afterSetB = snapshot([setA], { editors: [{ id: "shop@1", mutationSeq: 2 }] });
    expect(decide(afterSetB, call({ effect: "idempotent" }))).toMatchObject({
      kind: "create",
      after: "first-a",
    });
  });
});

describe("▲8 force_new names the operation that it supersedes", () => {
  const first = executed(told(HTTP));
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
    const ended = executed({ logId: "op2", supersedes: "op1", ...told(HTTP, { confirmed: true }) });
    const muchLater = snapshot([first, ended], { forced: ended, now: NOW + 20 * HOUR });
    expect(decide(muchLater, call({ ...force, ...from(HTTP, 50) }))).toEqual({
      kind: "replay",
      record: ended,
    });
  });

  test("▲8 forcing the forced one is yet another run", () => {
    const second = executed({ logId: "op2", supersedes: "op1", order: 2 });
    const decision = decide(snapshot([first, second]), call({ forceNew: "op2", forceNewHash: "h" }));
    expect(decision).toMatchObject({ kind: "create", after: "op2", supersedes: "op2" });
  });

  test("▲8 a log_id that the store does not know is kept as `after` as it stands", () => {
    const decision = decide(snapshot([]), call({ forceNew: "forgotten" }));
    expect(decision).toMatchObject({ kind: "create", after: "forgotten", supersedes: "forgotten" });
  });

  test("▲8 the log_id of another call is refused", () => {
    expect(decide(snapshot([first]), call({ forceNew: "x", forceNewHash: "other" }))).toEqual({
      kind: "refuse",
      problem: { code: "FORCE_NEW_MISMATCH" },
    });
  });
});

describe("▲10 the links of a chain", () => {
  test("▲10 `after` is the newest operation of the hash, also one whose record is gone", () => {
    const decision = decide(snapshot([], { newest: "long-ago" }), call());
    expect(decision).toMatchObject({ kind: "create", after: "long-ago" });
  });
});
