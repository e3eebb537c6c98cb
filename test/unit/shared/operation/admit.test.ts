import { describe, expect, test } from "vitest";
import { type AdmitLedger, type AdmittedOperation, admit } from "../../../../src/shared/operation/decide.js";
import type { SubmitParams } from "../../../../src/shared/wire/wire.js";

const submit: SubmitParams = {
  operationId: "op1",
  hash: "h",
  after: null,
  origin: { principal: "local", tool: "build-player", fingerprint: "f" },
  tool: "build-player",
  arguments: {},
  argumentsHash: "f",
  acceptedAt: 100,
  epoch: 2,
  ownerNonce: "worker-2",
  ledgerId: "l",
};

/** The ledger of an Editor whose owner is worker 2; it knows at most this one operation. */
const ledger = (known?: AdmittedOperation, changes: Partial<AdmitLedger> = {}): AdmitLedger => ({
  ledgerId: "l",
  fence: { epoch: 2, ownerNonce: "worker-2" },
  forgetHorizon: 0,
  get: (id) => (known?.operationId === id ? known : undefined),
  latestOfHash: () => (known?.state === "revoked" ? undefined : known),
  hasTool: () => true,
  isReadOnly: () => false,
  securityRefusal: () => undefined,
  ...changes,
});
const op1 = (state: AdmittedOperation["state"]): AdmittedOperation => ({
  operationId: "op1",
  state,
  argumentsHash: "f",
});

describe("▲11 the fence", () => {
  test("▲11 a lower epoch, and an equal one of another owner, are told the highest and learn nothing else", () => {
    for (const fence of [{ epoch: 1 }, { ownerNonce: "worker-1" }]) {
      const admitted = admit(ledger(op1("completed")), { ...submit, ...fence });
      expect(admitted).toMatchObject({ kind: "refuse", code: "FENCED", highestEpoch: 2 });
    }
  });

  test("▲11 nobody submits before hello, not even with a higher epoch", () => {
    expect(admit(ledger(undefined, { fence: undefined }), submit)).toMatchObject({ code: "FENCED" });
    expect(admit(ledger(), { ...submit, epoch: 3 })).toMatchObject({ code: "FENCED" });
  });
});

describe("▲12 the same id again", () => {
  test.each(["accepted", "running", "completed", "failed", "cancelled", "interrupted"] as const)(
    "▲12 what is %s is attached to, never run",
    (state) => {
      expect(admit(ledger(op1(state)), submit)).toEqual({ kind: "attach", state });
    },
  );

  test("▲12 what a new Editor process found not started runs", () => {
    expect(admit(ledger(op1("not_started")), submit)).toEqual({ kind: "run" });
  });

  test("schedule J: the frame that is read after the revocation is refused", () => {
    expect(admit(ledger(op1("revoked")), submit)).toMatchObject({ kind: "refuse", code: "REVOKED" });
  });

  test("▲12 an operation from before what the ledger has forgotten may have run", () => {
    const forgetful = ledger(undefined, { forgetHorizon: 101 });
    expect(admit(forgetful, submit)).toMatchObject({ kind: "refuse", code: "RETIRED" });
  });
});

describe("▲10 the chain of a hash", () => {
  const other: AdmittedOperation = { ...op1("running"), operationId: "op0" };

  test("▲10 another latest operation than `after` is named, and nothing is queued", () => {
    expect(admit(ledger(other), submit)).toEqual({
      kind: "same_as",
      operationId: "op0",
      stateThere: "running",
    });
    expect(admit(ledger(other), { ...submit, after: "op0" })).toEqual({ kind: "run" });
  });

  test("▲10 reads have no chain", () => {
    expect(admit(ledger(other, { isReadOnly: () => true }), submit)).toEqual({ kind: "run" });
  });

  test("▲10 (c) a submit for another ledger is refused before anything is looked up", () => {
    expect(admit(ledger(op1("completed")), { ...submit, ledgerId: "older" })).toMatchObject({
      code: "LEDGER_LOST",
    });
  });
});
