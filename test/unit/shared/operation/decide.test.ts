import { describe, expect, test } from "vitest";
import { REPLAY_DEFAULTS } from "../../../../src/shared/operation/again.js";
import {
  type Decision,
  decide,
  lookUp,
  type SubmitRequest,
} from "../../../../src/shared/operation/decide.js";
import type { Caller, OperationRecord } from "../../../../src/shared/operation/operation.js";
import {
  around,
  call,
  candidate,
  editorAt,
  executed,
  HOUR,
  HTTP,
  LATER_SESSION,
  MINUTE,
  NOW,
  operation,
  reported,
  STDIO,
  snapshot,
  tested,
  testing,
} from "../record.js";

const BOTH = [editorAt(), editorAt({ id: "game@2", mutationSeq: 0 })];
const TWO_EDITORS = { editors: BOTH };
const bothKnown = around("shop@1", "game@2");
const named = (editor: string) => ({ target: { kind: "named", editor } as const, ...bothKnown });

const found = (decision: Decision): string =>
  "record" in decision ? `${decision.kind} ${decision.record.logId}` : decision.kind;

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
    expect(decide(snapshot([], { editors: [] }), call(around()))).toEqual({
      kind: "refuse",
      problem: { code: "NO_EDITOR" },
    });
  });

  test("▲4 where the Editor is not clear the caller is told the candidates", () => {
    expect(decide(snapshot([], TWO_EDITORS), call(bothKnown))).toMatchObject({
      kind: "refuse",
      problem: { code: "EDITOR_AMBIGUOUS" },
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
  const onShop = executed({ logId: "on shop", order: 1 });
  const onGame = executed({ logId: "on game", order: 2, editor: "game@2" });

  test("W9: a call without `editor` ran on one Editor; one that names another is not answered by it", () => {
    const chain = snapshot([onShop], TWO_EDITORS);
    expect(decide(chain, call({ caller: LATER_SESSION, ...named("game@2") }))).toEqual({
      kind: "create",
      editor: "game@2",
      editorOpen: false,
      after: "on shop",
    });
  });

  test("▲4 a retry that drops the Editor finds the operation that named it", () => {
    const other = executed({ editorOpen: false });
    expect(decide(snapshot([other], TWO_EDITORS), call(bothKnown))).toEqual({
      kind: "replay",
      record: other,
    });
  });

  test("▲4 a retry that adds the Editor finds the operation that left it open, where that ran there", () => {
    expect(found(decide(snapshot([onShop], TWO_EDITORS), call(named("shop@1"))))).toBe("replay on shop");
  });

  test("▲4 an Editor that is no longer known is asked all the same", () => {
    const chain = snapshot([onGame, onShop], TWO_EDITORS);
    expect(found(decide(chain, call({ ...named("game@2"), ...around() })))).toBe("replay on game");
  });

  test("▲4 of each Editor its newest answers; a call that names none gets the newest of all", () => {
    const second = executed({ logId: "on shop again", order: 3 });
    const chain = snapshot([second, onShop, onGame], TWO_EDITORS);
    expect(found(decide(chain, call(named("game@2"))))).toBe("replay on game");
    expect(found(decide(chain, call(named("shop@1"))))).toBe("replay on shop again");
    expect(found(decide(chain, call(bothKnown)))).toBe("replay on shop again");
  });

  test("▲4 an Editor's older operation does not answer in place of a newer one that does not", () => {
    const unread = tested({ logId: "older", order: 1 });
    const read = tested({ logId: "newer", order: 2, ...reported(HTTP) });
    expect(found(decide(snapshot([unread, read]), call()))).toBe("create");
  });

  test("▲4 one that never began is passed over and the one before it asked", () => {
    const expired = operation({ logId: "expired", order: 3, state: "expired" });
    const chain = snapshot([onShop, expired], TWO_EDITORS);
    expect(found(decide(chain, call({ ...bothKnown, caller: HTTP })))).toBe("replay on shop");
    expect(found(decide(chain, call({ ...named("shop@1"), caller: HTTP })))).toBe("replay on shop");
  });

  test("W21: C1's run on A is unread, C2's on B was delivered, the window ended, C1 retries without `editor`", () => {
    const first = executed({ logId: "C1's", order: 1 });
    const second = executed({
      logId: "C2's",
      order: 2,
      editor: "game@2",
      createdBy: { caller: LATER_SESSION.id, requestId: 1 },
      ...reported(LATER_SESSION, { deliveredAt: NOW - HOUR }),
    });
    const decision = decide(snapshot([first, second], TWO_EDITORS), call({ ...bothKnown, caller: HTTP }));
    expect(decision).toEqual({ kind: "replay", record: first });
  });

  test("schedule Q: Editor 1 died, Editor 2 appeared; the retry without an Editor finds what Editor 1 did", () => {
    const decision = decide(snapshot([onShop], TWO_EDITORS), call({ ...bothKnown, ...around("game@2") }));
    expect(decision).toEqual({ kind: "replay", record: onShop });
  });

  test("▲10 (b) an operation that another one answers for is asked in that one", () => {
    const answered = executed({ logId: "op2", order: 2, executedAs: "op1" });
    expect(found(decide(snapshot([executed(), answered]), call({ caller: HTTP })))).toBe("replay op1");
  });

  test("▲10 (b) also while that is in flight", () => {
    const open = operation({ state: "running" });
    const answered = operation({ logId: "op2", order: 2, state: "dispatched", executedAs: "op1" });
    expect(found(decide(snapshot([open, answered]), call({ caller: HTTP })))).toBe("join op1");
  });
});

describe("▲4 a call without `editor` from a folder of another project", () => {
  const inShop = { target: { kind: "open", elsewhere: ["game@2"] } as const, ...bothKnown };
  const shop = {
    targetContext: { candidates: bothKnown.targetContext.candidates, folders: ["/projects/shop/Assets"] },
  };
  const fromShop = (changes: Partial<SubmitRequest> = {}) =>
    call({ ...inShop, ...shop, caller: LATER_SESSION, ...changes });
  const there = { logId: "there", editor: "game@2" };
  const OPERATIONS: [string, OperationRecord, string][] = [
    ["tests that run", testing({ ...there, mutationSeq: 0 }), "join there"],
    ["tests that ended, unread", tested({ ...there, mutationSeq: 0 }), "replay there"],
    ["a change that waits", operation(there), "join there"],
    ["a change that ended, unread", executed(there), "replay there"],
  ];

  test.each(OPERATIONS)(
    "is not answered by what another project's Editor runs or ran: %s",
    (_what, record) => {
      const decision = decide(snapshot([record], TWO_EDITORS), fromShop());
      expect(decision).toEqual({ kind: "create", editor: "shop@1", editorOpen: true, after: "there" });
    },
  );

  test.each(OPERATIONS)("is answered if this very caller has asked for that: %s", (_what, record, answer) => {
    const mine: OperationRecord = { ...record, createdBy: { caller: LATER_SESSION.id, requestId: 1 } };
    expect(found(decide(snapshot([mine], TWO_EDITORS), fromShop()))).toBe(answer);
    const joined: OperationRecord = { ...record, askers: { [LATER_SESSION.id]: {} } };
    expect(found(decide(snapshot([joined], TWO_EDITORS), fromShop()))).toBe(answer);
  });

  test.each(OPERATIONS)(
    "is not, for a command line, which is one caller in all folders: %s",
    (_what, record) => {
      const typed: Caller = { id: "cli:user", transport: "stdio", readsByName: true };
      const earlier: OperationRecord = { ...record, createdBy: { caller: typed.id, requestId: 1 } };
      const chain = snapshot([earlier], TWO_EDITORS);
      expect(decide(chain, fromShop({ caller: typed }))).toMatchObject({ kind: "create", editor: "shop@1" });
      expect(found(decide(chain, call({ ...bothKnown, caller: typed })))).not.toBe("create");
    },
  );

  test.each(OPERATIONS)("is answered under its key: %s", (_what, record, answer) => {
    const keyed = { ...record, keyed: true };
    expect(found(decide(snapshot([keyed], TWO_EDITORS), fromShop({ keyed: true })))).toBe(answer);
  });

  test("is answered by its own project's older one, and by an Editor that is no longer known", () => {
    const here = executed({ logId: "here", order: 1 });
    const chain = snapshot([here, executed({ ...there, order: 2 })], TWO_EDITORS);
    expect(found(decide(chain, fromShop()))).toBe("replay here");
    const gone = executed({ ...there, editor: "gone@3" });
    expect(found(decide(snapshot([gone], TWO_EDITORS), fromShop()))).toBe("replay there");
  });

  test("nobody is owed the new outcome who asked for the other project's", () => {
    const read = executed({ ...there, askers: { [STDIO.id]: {} } });
    expect(decide(snapshot([read], TWO_EDITORS), fromShop())).not.toHaveProperty("askers");
  });
});

describe("▲4 a call that names a pool", () => {
  const POOL = "pool:android";
  const onPool = { target: { kind: "pool", pool: POOL } as const, ...bothKnown };
  const older = executed({ logId: "older", order: 1, pool: POOL });
  const newer = executed({ logId: "newer", order: 2, editor: "game@2", pool: POOL });
  const ofNone = executed({ logId: "of no pool", order: 3 });

  test("is answered by the newest operation of the pool, whichever Editor ran it, and by no other", () => {
    const chain = snapshot([older, newer, ofNone], TWO_EDITORS);
    expect(found(decide(chain, call(onPool)))).toBe("replay newer");
    const other = { target: { kind: "pool", pool: "pool:ios" } as const, ...bothKnown };
    expect(lookUp(chain, call(other))).toBeUndefined();
  });

  test("an older one does not answer in place of a newer one that does not, as on one Editor", () => {
    const unread = tested({ logId: "older", order: 1, pool: POOL });
    const read = tested({ logId: "newer", order: 2, editor: "game@2", pool: POOL, ...reported(HTTP) });
    expect(lookUp(snapshot([unread, read], TWO_EDITORS), call(onPool))).toBeUndefined();
  });

  test("one that names the Editor, or none, finds what that one ran for the pool", () => {
    const chain = snapshot([older, newer], TWO_EDITORS);
    expect(found(decide(chain, call(named("shop@1"))))).toBe("replay older");
    expect(found(decide(chain, call(bothKnown)))).toBe("replay newer");
  });

  test("a new operation waits for whichever is free", () => {
    const context = { targetContext: { candidates: [candidate("shop@1", { labels: ["android"] })] } };
    expect(decide(snapshot([]), call({ ...onPool, ...context }))).toEqual({
      kind: "create",
      editor: POOL,
      pool: POOL,
      editorOpen: false,
      after: null,
    });
  });
});

describe("▲5 joining what is in flight", () => {
  const at = (record: OperationRecord, mutationSeq: number, callerMutationSeq?: number) =>
    snapshot([record], { editors: [editorAt({ mutationSeq, callerMutationSeq })] });

  test.each(["queued", "dispatched", "running"] as const)(
    "▲5 a mutating call joins what is %s, whatever happened since",
    (state) => {
      const record = operation({ state });
      expect(decide(at(record, 99, 99), call({ caller: HTTP }))).toEqual({ kind: "join", record });
      const cancelled = operation({ state, cancel: { requestedAt: NOW } });
      expect(decide(snapshot([cancelled]), call()).kind).toBe("join");
    },
  );

  test.each([
    ["read_only", "get-hierarchy"],
    ["repeatable", "save-scene"],
  ] as const)("▲5 a %s call joins only while nothing was accepted since that counts", (effect, tool) => {
    const record = operation({ effect, tool, mutationSeq: 4 });
    expect(decide(at(record, 4), call()).kind).toBe("join");
    expect(decide(at(record, 5), call())).toMatchObject({ kind: "create", after: "op1" });
    expect(decide(snapshot([record], { editors: [] }), call()).kind).toBe("create");
  });

  test.each(["run-tests", "compile"])("▲5 %s joins unless this caller changed something since", (tool) => {
    const record = testing({ tool, mutationSeq: 4 });
    expect(decide(at(record, 9), call()).kind).toBe("join");
    expect(decide(at(record, 9, 4), call()).kind).toBe("join");
    expect(decide(at(record, 9, 7), call())).toMatchObject({ kind: "create", after: "op1" });
  });

  test.each(["read_only", "repeatable"] as const)(
    "▲5 a %s call does not join what is being cancelled",
    (effect) => {
      const record = testing({ effect, cancel: { requestedAt: NOW } });
      expect(decide(snapshot([record]), call()).kind).toBe("create");
    },
  );

  test("▲5 a key names one run of a repeatable tool, also while that is being cancelled", () => {
    const record = testing({ keyed: true, cancel: { requestedAt: NOW } });
    expect(decide(snapshot([record]), call({ keyed: true })).kind).toBe("join");
  });

  test("W3: a restored run of the tests is not joined while its outcome is collected: it may have been reported before", () => {
    const restored = testing({ state: "dispatched", rebuilt: true });
    expect(decide(snapshot([restored]), call()).kind).toBe("create");
    const build = operation({ state: "dispatched", rebuilt: true });
    expect(decide(snapshot([build]), call()).kind).toBe("join");
  });

  test("a call joins the run of others' that its own user has cancelled, and not its own", () => {
    const record = testing({ givenUpBy: [HTTP.id] });
    expect(decide(at(record, 1), call()).kind).toBe("create");
    expect(decide(at(record, 1), call({ caller: LATER_SESSION })).kind).toBe("join");
    expect(decide(at(testing({ ...record, keyed: true }), 1), call({ keyed: true })).kind).toBe("join");
  });

  test("W3: restored tests are joined once they are known to run, not while they may have ended and been reported", () => {
    const sent = testing({ rebuilt: true, state: "dispatched" });
    expect(found(decide(snapshot([sent]), call({ caller: LATER_SESSION })))).toBe("create");
    const running = testing({ rebuilt: true });
    expect(found(decide(snapshot([running]), call({ caller: LATER_SESSION })))).toBe("join op1");
  });

  test.each([
    ["no change of its own", {}, "join op1"],
    [
      "its own change before it, or its own compilation",
      { callerMutationSeq: 1, callerChangedAt: NOW },
      "join op1",
    ],
    ["its own change after it", { callerMutationSeq: 1, callerChangedAt: NOW + 1 }, "create"],
  ])("▲5 restored tests that run take their place where they were accepted: %s", (_, own, expected) => {
    const restored = testing({ rebuilt: true, mutationSeq: 9, acceptedAt: NOW });
    const editors = [editorAt({ mutationSeq: 9, ...own })];
    expect(found(decide(snapshot([restored], { editors }), call({ caller: LATER_SESSION })))).toBe(expected);
  });

  test("▲5 a restored read is not joined: when it was counted says nothing", () => {
    const restored = testing({ tool: "get-hierarchy", effect: "read_only", rebuilt: true, mutationSeq: 4 });
    expect(decide(at(restored, 4), call()).kind).toBe("create");
  });

  test("▲5 ▲6 what is repeatable and has a key, or is forced, is joined by its identity", () => {
    const keyed = testing({ tool: "save-scene", keyed: true });
    expect(decide(at(keyed, 5), call({ keyed: true })).kind).toBe("join");
    const forced = testing({ tool: "save-scene", supersedes: "op0" });
    const asked = call({ forceNew: "op0", forceNewHash: "h" });
    expect(decide({ ...at(forced, 5), forced }, asked).kind).toBe("join");
  });

  test("schedule R: set A, set B, set A without waiting: the third does not join the first", () => {
    const setA = operation({ logId: "first-a", tool: "set-active", effect: "repeatable", mutationSeq: 1 });
    expect(decide(at(setA, 2), call())).toMatchObject({ kind: "create", after: "first-a" });
  });
});

describe("▲6 the everyday loop: edit, compile, run-tests", () => {
  const report = tested(reported(HTTP));

  test("▲6 the tests were reported, the next call runs them; unread ones answer a retry in whatever session", () => {
    expect(decide(snapshot([report]), call())).toMatchObject({ kind: "create", after: "op1" });
    const unread = tested();
    expect(decide(snapshot([unread]), call())).toEqual({ kind: "replay", record: unread });
    expect(decide(snapshot([unread]), call({ caller: LATER_SESSION }))).toEqual({
      kind: "replay",
      record: unread,
    });
  });

  test("W5: a compilation between two runs of the tests keeps even an unread report from answering", () => {
    const compiled = { editors: [editorAt({ mutationSeq: 2 })] };
    expect(decide(snapshot([tested()], compiled), call()).kind).toBe("create");
  });

  test("▲5 others' compilations do not keep a retry from joining its tests; its own caller's do", () => {
    const others = { editors: [editorAt({ mutationSeq: 9 })] };
    expect(decide(snapshot([testing()], others), call({ caller: STDIO })).kind).toBe("join");
    const own = { editors: [editorAt({ mutationSeq: 9, callerMutationSeq: 9 })] };
    expect(decide(snapshot([testing()], own), call({ caller: STDIO })).kind).toBe("create");
  });
});

describe("what others are owed", () => {
  const READ = { deliveredAt: NOW, hasRead: true } as const;

  test("a run that its caller means anew is owed to those who have not got the one before", () => {
    const record = executed({ firstDeliveredAt: NOW, askers: { [HTTP.id]: READ, [STDIO.id]: {} } });
    const askers = { [STDIO.id]: { askedAt: NOW } };
    expect(decide(snapshot([record]), call())).toMatchObject({ kind: "create", askers });
    expect(decide(snapshot([executed({ ...record, keyed: true })]), call())).not.toHaveProperty("askers");
  });

  test("and to nobody else, nor that of a tool that is repeatable", () => {
    const read = executed({ firstDeliveredAt: NOW, askers: { [HTTP.id]: READ } });
    expect(decide(snapshot([read]), call())).not.toHaveProperty("askers");
    const report = tested({ firstDeliveredAt: NOW, askers: { [HTTP.id]: READ, [STDIO.id]: {} } });
    expect(decide(snapshot([report]), call())).not.toHaveProperty("askers");
  });
});

describe("▲10 the links of a chain", () => {
  test("▲10 `after` is the newest operation of the hash, also one whose record is gone", () => {
    const decision = decide(snapshot([], { newest: "long-ago" }), call());
    expect(decision).toMatchObject({ kind: "create", after: "long-ago" });
  });

  test("▲6 the window that was configured decides", () => {
    const record = executed(reported(HTTP, { deliveredAt: NOW - 2 * MINUTE }));
    const options = { ...REPLAY_DEFAULTS, replayWindowMs: MINUTE };
    expect(decide(snapshot([record]), call({ caller: LATER_SESSION }), options).kind).toBe("create");
    expect(decide(snapshot([record]), call({ caller: LATER_SESSION })).kind).toBe("replay");
  });
});
