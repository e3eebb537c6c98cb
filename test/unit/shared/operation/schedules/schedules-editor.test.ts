/** The schedules that a store which forgets brings about, told to the real admission and the real recovery. */
import { describe, expect, test } from "vitest";
import {
  type AdmitLedger,
  type AdmittedOperation,
  admit,
} from "../../../../../src/shared/operation/decide.js";
import type { OperationRecord } from "../../../../../src/shared/operation/operation.js";
import { type OtherOperation, type Recovery, recover } from "../../../../../src/shared/operation/recover.js";
import type { SubmitAnswer, SubmitParams } from "../../../../../src/shared/wire/wire.js";
import { executed, MINUTE, moment, NOW, operation } from "../../record.js";

/** An Editor whose journal holds these operations of the hash, oldest first. */
function editor(...operations: AdmittedOperation[]) {
  const ledger: AdmitLedger = {
    ledgerId: "l",
    fence: { epoch: 1, ownerNonce: "n" },
    forgetHorizon: 0,
    get: (id) => operations.find(({ operationId }) => operationId === id),
    latestOfHash: () => operations.findLast(({ state }) => state !== "revoked"),
    hasTool: () => true,
    isReadOnly: () => false,
    securityRefusal: () => undefined,
  };
  const submitted = (record: OperationRecord, after: string | null): SubmitParams => ({
    operationId: record.logId,
    hash: record.hash,
    after,
    origin: { principal: record.principal, tool: record.tool, fingerprint: record.fingerprint },
    tool: record.tool,
    arguments: {},
    argumentsHash: record.fingerprint,
    acceptedAt: record.acceptedAt,
    epoch: 1,
    ownerNonce: "n",
    ledgerId: "l",
  });
  return {
    /** What the owner does after this submit; "runs" when the Editor ran it. */
    submit(
      record: OperationRecord,
      other?: Partial<OtherOperation>,
      after = record.after,
    ): Recovery | "runs" {
      const admitted = admit(ledger, submitted(record, after));
      if (admitted.kind === "run") return "runs";
      if (admitted.kind !== "same_as") throw new Error(admitted.kind);
      const { kind, ...fields } = admitted;
      const answer = { ...fields, state: kind, ledgerSeq: 1 } as SubmitAnswer;
      const around = { session: "s", incarnation: "i" };
      const known = { ...moment(), record: undefined, isOver: false, ...other };
      return recover(record, { asked: "submit", answer }, { ...around, other: known });
    },
  };
}

/** As the owner restores it when the Editor names it: it enters the store behind everything that is there. */
const restored = (logId: string, changes: Partial<OperationRecord> = {}): Partial<OtherOperation> => ({
  record: executed({ logId, order: 0, entered: 90, rebuilt: true, ...changes }),
});
const submitted = (logId: string, changes: Partial<OperationRecord> = {}): OperationRecord =>
  operation({ logId, entered: 50, acceptedAt: NOW, ...changes });

const ran = (operationId: string): AdmittedOperation => ({
  operationId,
  state: "completed",
  argumentsHash: "f",
  outcome: { status: "completed", startedAt: 1, endedAt: NOW - MINUTE },
});

describe("▲10 the store forgot what the Editor ran", () => {
  test("schedule D: op1 comes back into the store before op2 is sent; op2 still says that it knew of nothing", () => {
    const op2 = submitted("op2", { after: null });
    expect(editor(ran("op1")).submit(op2, restored("op1"))).toEqual({ kind: "attach", executedAs: "op1" });
  });

  test("schedule D: with `after` computed at sending, op2 would have run", () => {
    expect(editor(ran("op1")).submit(submitted("op2", { after: "op1" }))).toBe("runs");
  });

  test("schedule E: the store remembers only op1, which was revoked; op2 ran after it, so op3 is op2", () => {
    const op3 = submitted("op3", { after: "op1" });
    const revoked: AdmittedOperation = { operationId: "op1", state: "revoked", argumentsHash: "f" };
    expect(editor(revoked, ran("op2")).submit(op3, restored("op2"))).toEqual({
      kind: "attach",
      executedAs: "op2",
    });
  });

  test("schedule F: op1 was lost with the store, op2 expired unsent; op3 after op2 is op1", () => {
    const op3 = submitted("op3", { after: "op2" });
    expect(editor(ran("op1")).submit(op3, restored("op1"))).toEqual({ kind: "attach", executedAs: "op1" });
  });

  test("schedule F: where op1 was in the store when op3 was accepted, op3 is a call of its own and runs after op1", () => {
    const op3 = submitted("op3", { after: "op2" });
    const known = restored("op1", { entered: 2 });
    const shop = editor(ran("op1"));
    expect(shop.submit(op3, known)).toEqual({ kind: "resubmit", after: "op1" });
    expect(shop.submit(op3, known, "op1")).toBe("runs");
  });

  test("schedule G: a forced run never takes the outcome of what it supersedes", () => {
    const forced = submitted("op2", { after: null, supersedes: "op1" });
    const shop = editor(ran("op1"));
    expect(shop.submit(forced, restored("op1"))).toEqual({ kind: "resubmit", after: "op1" });
    expect(shop.submit(forced, restored("op1"), "op1")).toBe("runs");
  });

  test("schedule C: the store forgot the forced run op2; the re-issue op3 takes its outcome", () => {
    const reissued = submitted("op3", { after: "op1", supersedes: "op1" });
    const lost = restored("op2", { supersedes: "op1" });
    expect(editor(ran("op1"), ran("op2")).submit(reissued, lost)).toEqual({
      kind: "attach",
      executedAs: "op2",
    });
  });
});
