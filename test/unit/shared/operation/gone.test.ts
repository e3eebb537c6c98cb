import { describe, expect, test } from "vitest";
import { type EditorTrace, goneOf, interruptAsGone } from "../../../../src/shared/operation/gone.js";
import { markAsSent } from "../../../../src/shared/operation/operation.js";
import { NOW, operation } from "../record.js";

const sent = operation({ state: "running", sentIn: "s1", dispatchedAt: NOW });
const editor = (changes: Partial<EditorTrace> = {}): EditorTrace => ({
  profile: { editorSessionId: "s1" },
  lastSeenAt: NOW + 1_000,
  ...changes,
});
const ended = { editorSessionId: "s1", at: NOW + 5_000 };

describe("an Editor session is gone for good", () => {
  test("when its process is proven to be gone, not when it is only unreachable", () => {
    expect(goneOf(sent, editor(), false)).toBeUndefined();
    expect(goneOf(sent, editor({ ended }), false)).toBe("closed");
    expect(goneOf(sent, editor({ ended: { ...ended, editorSessionId: "s0" } }), false)).toBeUndefined();
  });

  test("when another session said hello since, and went away before it reported", () => {
    const profile = { editorSessionId: "s2" };
    expect(goneOf(sent, editor({ profile }), false)).toBe("newer_session");
    expect(goneOf(sent, editor({ profile, lastSeenAt: NOW - 1 }), false)).toBeUndefined();
    expect(goneOf({ ...sent, rebuilt: true }, editor({ profile }), false)).toBeUndefined();
  });

  test("but not of one that only the ledger says was sent: in which session is not known", () => {
    const known = markAsSent(operation({ state: "queued" }));
    const profile = { editorSessionId: "s2" };
    expect(known && goneOf(known, editor({ profile }), false)).toBeUndefined();
    expect(known && goneOf(known, undefined, false)).toBe("forgotten");
  });

  test("when a person had it forgotten", () => {
    expect(goneOf(sent, undefined, false)).toBe("forgotten");
  });

  test("never while it is here, and never for what was not sent or has ended", () => {
    expect(goneOf(sent, editor({ ended, profile: { editorSessionId: "s2" } }), true)).toBeUndefined();
    for (const state of ["queued", "completed", "interrupted"] as const) {
      expect(goneOf({ ...sent, state }, undefined, false)).toBeUndefined();
    }
  });
});

test("what is given up is interrupted, says why, and how the Editor was last heard", () => {
  const last = { at: NOW + 900, phase: "ready", mainThreadStallMs: 5, runningOperationId: sent.logId };
  const record = interruptAsGone(sent, "closed", editor({ ended, last }), NOW + 9_000);
  expect(record).toMatchObject({
    state: "interrupted",
    endedAt: NOW + 9_000,
    cancel: { requestedAt: NOW + 9_000 },
    error: { code: "OUTCOME_UNKNOWN", type: "editor_gone", message: expect.stringContaining("closed") },
    evidence: { lastHeartbeatAt: NOW + 900, wasRunning: true },
  });
  expect(interruptAsGone({ ...sent, state: "completed" }, "closed", undefined, NOW)).toBeUndefined();
});
