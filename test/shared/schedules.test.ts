/** The stories that ran something twice in earlier drafts, told to the real decision and the real deliveries. */
import { describe, expect, test } from "vitest";
import { createDeliveries } from "../../src/gateway/deliveries.js";
import { type AdmitLedger, type AdmittedOperation, admit } from "../../src/shared/admit.js";
import { type Decision, decide, type SubmitRequest } from "../../src/shared/decide.js";
import type { Caller, OperationRecord } from "../../src/shared/operation.js";
import { type Recovery, recover } from "../../src/shared/recover.js";
import type { SubmitAnswer, SubmitParams } from "../../src/shared/wire.js";
import { createMemoryStore, operationsOf, readRecord } from "../interleavings/store.js";
import { call, executed, from, HTTP, MINUTE, NOW, operation, STDIO, snapshot } from "./record.js";

/** A gateway with a store of its own, and the hash "h" in it. */
function gateway() {
  let now = NOW;
  const store = createMemoryStore(() => now);
  const operations = operationsOf(store, async () => undefined);
  const deliveries = createDeliveries(operations);
  const enters = async (record: OperationRecord): Promise<void> => {
    const { version } = await operations.chain("h");
    await operations.create({ ...record, order: Number(version) + 1 }, "{}", version);
  };
  return {
    deliveries,
    pass: (ms: number) => {
      now += ms;
    },
    enters,
    /** The build of this caller's request runs to its end. */
    executes: (caller: Caller, requestId: number, changes: Partial<OperationRecord> = {}) =>
      enters(executed({ createdBy: { caller: caller.id, requestId }, ...changes })),
    /** What the identical call becomes now. */
    async calls(caller: Caller | null, requestId: number, changes: Partial<SubmitRequest> = {}) {
      const request = call({ ...from(caller, requestId), ...changes });
      await deliveries.heard(request, request.hash);
      const chain = await operations.chain("h", request.forceNew);
      return kindOf(decide(snapshot(chain.records, { ...chain, now }), request));
    },
    /** An answer with the outcome was written, after the request had been open for so long. */
    answers: (caller: Caller, requestId: number, { tookMs = 60_000, names = false, logId = "op1" } = {}) =>
      deliveries.delivered(from(caller, requestId), logId, { tookMs, names }),
    record: (logId = "op1") => readRecord(store, logId),
  };
}

const kindOf = (decision: Decision): string =>
  "record" in decision ? `${decision.kind} ${decision.record.logId}` : decision.kind;

describe("a retry is not a new wish", () => {
  test("schedule A: over HTTP, answered into a connection that nobody reads; the re-issue hears the outcome", async () => {
    const { executes, answers, calls } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    expect(await calls(HTTP, 2)).toBe("replay op1");
  });

  test("schedule A: over HTTP with an unrelated message in between, which proves nothing", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.heard(from(HTTP, 2));
    await deliveries.heard(from(HTTP, 3), "another call");
    expect(await calls(HTTP, 4)).toBe("replay op1");
  });

  test("schedule A: on stdio, answer, other message, cancel, re-issue", async () => {
    const { executes, answers, calls, deliveries, record } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1);
    await deliveries.heard(from(STDIO, 2));
    expect(record()?.deliveries[STDIO.id]?.confirmed).toBe(true);
    await deliveries.retracted(from(STDIO, 1));
    expect(record()).not.toHaveProperty("firstDeliveredAt");
    expect(await calls(STDIO, 3)).toBe("replay op1");
  });

  test("schedule A: on stdio, the outcome that was given up replays for the whole retention", async () => {
    const { executes, answers, calls, deliveries, pass } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1);
    await deliveries.retracted(from(STDIO, 1));
    pass(60 * MINUTE);
    expect(await calls(STDIO, 2)).toBe("replay op1");
  });

  test("▲7 on stdio without a cancellation the later message confirms, and the next call is a wish", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1);
    expect(await calls(STDIO, 2)).toBe("replay op1");
    await deliveries.heard(from(STDIO, 3));
    expect(await calls(STDIO, 4)).toBe("create");
  });

  test("▲7 over HTTP a message that names the log_id confirms what was told before", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 2), "op1");
    expect(await calls(HTTP, 3)).toBe("create");
  });

  test("▲7 an answer by log_id that was waited for so long that its client may be gone confirms nothing", async () => {
    const { executes, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await deliveries.delivered(from(HTTP, 2), "op1", { tookMs: 10_000, names: true });
    expect(await calls(HTTP, 3)).toBe("replay op1");
    await deliveries.confirm(from(HTTP, 4), "op1");
    expect(await calls(HTTP, 5)).toBe("create");
  });

  test("▲7 giving up one of several answered requests takes back what it confirmed", async () => {
    const { executes, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await deliveries.delivered(from(HTTP, 2), "op1", { tookMs: 1, names: true });
    await deliveries.delivered(from(HTTP, 3), "op1", { tookMs: 1, names: false });
    await deliveries.retracted(from(HTTP, 2));
    expect(await calls(HTTP, 4)).toBe("replay op1");
  });

  test("▲7 naming a log_id before anything was told confirms nothing", async () => {
    const { executes, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await deliveries.confirm(from(HTTP, 2), "op1");
    expect(await calls(HTTP, 3)).toBe("replay op1");
  });

  test("▲7 a cancellation takes back only what the given-up request was told", async () => {
    const { executes, answers, deliveries, record } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1);
    await answers(STDIO, 2);
    await deliveries.retracted(from(STDIO, 1));
    expect(record()?.deliveries[STDIO.id]?.requestId).toBe(2);
    await deliveries.retracted(from(STDIO, 2));
    expect(record()?.deliveries).toEqual({});
  });

  test("▲7 an answer to a stateless request only begins the replay window", async () => {
    const { executes, calls, deliveries, pass } = gateway();
    await executes(HTTP, 1);
    await deliveries.delivered(from(null, null), "op1", { tookMs: 1, names: true });
    expect(await calls(null, 9)).toBe("replay op1");
    pass(15 * MINUTE);
    expect(await calls(null, 9)).toBe("create");
  });

  test("schedule B: #1 is late in a proxy, #2 was answered and confirmed; #1 is no wish when it arrives", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 2);
    await answers(HTTP, 2);
    await deliveries.confirm(from(HTTP, 3), "op1");
    expect(await calls(HTTP, 1)).toBe("replay op1");
    expect(await calls(HTTP, 2)).toBe("replay op1");
  });

  test("schedule B: a late request of another session is no wish either", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 2);
    await answers(HTTP, 2);
    await deliveries.confirm(from(HTTP, 3), "op1");
    expect(await calls({ id: "the session before", transport: "http" }, 99)).toBe("replay op1");
  });

  test("schedule B: what never began frees newer requests only", async () => {
    const { enters, calls } = gateway();
    await enters(operation({ state: "expired", createdBy: { caller: HTTP.id, requestId: 2 } }));
    expect(await calls(HTTP, 1)).toBe("replay op1");
    expect(await calls(HTTP, 3)).toBe("create");
  });

  test("schedule C: a forced call times out and is re-issued as it was", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    const force = { forceNew: "op1", forceNewHash: "h" };
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    expect(await calls(HTTP, 2, force)).toBe("create");
    await executes(HTTP, 2, { logId: "op2", supersedes: "op1", after: "op1" });
    expect(await calls(HTTP, 3, force)).toBe("replay op2");
    await answers(HTTP, 3, { logId: "op2" });
    await deliveries.confirm(from(HTTP, 4), "op2");
    expect(await calls(HTTP, 5, force)).toBe("replay op2");
  });

  test("▲6 an answer that was taken back does not begin the window", async () => {
    const { executes, answers, calls, deliveries, pass } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1);
    pass(14 * MINUTE);
    await answers(HTTP, 1);
    await deliveries.retracted(from(STDIO, 1));
    pass(MINUTE);
    expect(await calls(STDIO, 2)).toBe("replay op1");
  });

  test("▲7 a request that was sent before the naming message, and comes after it, is no wish", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 4), "op1");
    await answers(HTTP, 4, { names: true, tookMs: 1 });
    expect(await calls(HTTP, 3)).toBe("replay op1");
  });

  test("▲7 the same when the answer to the naming message could not be written", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 4), "op1");
    expect(await calls(HTTP, 3)).toBe("replay op1");
  });
});

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
    submit(record: OperationRecord, ancestors: string[] = [], after = record.after): Recovery | "runs" {
      const admitted = admit(ledger, submitted(record, after));
      if (admitted.kind === "run") return "runs";
      if (admitted.kind !== "same_as") throw new Error(admitted.kind);
      const { kind, ...fields } = admitted;
      const answer = { ...fields, state: kind, ledgerSeq: 1 } as SubmitAnswer;
      const around = { session: "s", ancestors, now: NOW, retentionMs: 24 * 60 * MINUTE };
      return recover(record, { asked: "submit", answer }, around);
    },
  };
}

const ran = (operationId: string): AdmittedOperation => ({
  operationId,
  state: "completed",
  argumentsHash: "f",
  outcome: { status: "completed", startedAt: 1, endedAt: NOW - MINUTE },
});

describe("▲10 the store forgot what the Editor ran", () => {
  test("schedule D: op1 comes back into the store before op2 is sent; op2 still says that it knew of nothing", () => {
    const op2 = operation({ logId: "op2", after: null });
    expect(editor(ran("op1")).submit(op2)).toEqual({ kind: "attach", executedAs: "op1" });
  });

  test("schedule D: with `after` computed at sending, op2 would have run", () => {
    const recomputed = operation({ logId: "op2", after: "op1" });
    expect(editor(ran("op1")).submit(recomputed)).toBe("runs");
  });

  test("schedule E: the store remembers only op1, which was revoked; op2 ran after it, so op3 is op2", () => {
    const op3 = operation({ logId: "op3", after: "op1" });
    const revoked: AdmittedOperation = { operationId: "op1", state: "revoked", argumentsHash: "f" };
    expect(editor(revoked, ran("op2")).submit(op3)).toEqual({ kind: "attach", executedAs: "op2" });
  });

  test("schedule F: op1 was lost with the store, op2 expired unsent; op3 after op2 is op1", () => {
    const op3 = operation({ logId: "op3", after: "op2" });
    expect(editor(ran("op1")).submit(op3, [])).toEqual({ kind: "attach", executedAs: "op1" });
  });

  test("schedule F: where the store knows that op2 came after op1, op3 is a wish of its own and runs after op1", () => {
    const op3 = operation({ logId: "op3", after: "op2" });
    const shop = editor(ran("op1"));
    const recovery = shop.submit(op3, ["op1"]);
    expect(recovery).toEqual({ kind: "resubmit", after: "op1" });
    expect(shop.submit(op3, ["op1"], "op1")).toBe("runs");
  });

  test("schedule G: a forced run never takes the outcome of what it supersedes", () => {
    const forced = operation({ logId: "op2", after: null, supersedes: "op1" });
    const shop = editor(ran("op1"));
    expect(shop.submit(forced)).toEqual({ kind: "resubmit", after: "op1" });
    expect(shop.submit(forced, [], "op1")).toBe("runs");
  });

  test("schedule C: the store forgot the forced run op2; the re-issue op3 takes its outcome", () => {
    const reissued = operation({ logId: "op3", after: "op1", supersedes: "op1" });
    expect(editor(ran("op1"), ran("op2")).submit(reissued)).toEqual({ kind: "attach", executedAs: "op2" });
  });
});
