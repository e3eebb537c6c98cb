/** The stories that ran something twice, or reported an old outcome as new, played with the real decision and deliveries. */
import { describe, expect, test } from "vitest";
import { createDeliveries } from "../../../../../src/gateway/deliveries.js";
import { type Decision, decide, type SubmitRequest } from "../../../../../src/shared/operation/decide.js";
import type { Caller, OperationRecord } from "../../../../../src/shared/operation/operation.js";
import { createMemoryStore, operationsOf, readRecord } from "../../../../proofs/interleavings/store.js";
import {
  ANOTHER_INCARNATION,
  call,
  executed,
  from,
  HTTP,
  LATER_SESSION,
  MARK,
  MINUTE,
  NOW,
  operation,
  STDIO,
  tested,
} from "../../record.js";

/** A gateway with a store of its own, and the hash "h" in it. */
function gateway() {
  let now = NOW;
  const store = createMemoryStore(() => now);
  store.markOf = () => MARK;
  const operations = operationsOf(store, async () => undefined);
  const deliveries = createDeliveries(operations);
  const asker = { principal: "local", caller: HTTP };
  const enters = async (record: OperationRecord): Promise<void> => {
    const { version } = await operations.chain("h", asker);
    await operations.create({ ...record, order: Number(version) + 1 }, "{}", version);
  };
  return {
    deliveries,
    pass: (ms: number) => {
      now += ms;
    },
    /** ▲13 The store may have lost something: what was noted of deliveries proves nothing any more. */
    changesIncarnation: () => {
      store.data.incarnation = ANOTHER_INCARNATION;
    },
    enters,
    /** The build of this caller's request runs to its end. */
    executes: (caller: Caller, requestId: number, changes: Partial<OperationRecord> = {}) =>
      enters(
        executed({
          createdBy: { caller: caller.id, requestId, transport: caller.transport },
          mutationSeq: 0,
          ...changes,
        }),
      ),
    /** What the identical call becomes now. Over stdio the number is that of the arrival. */
    async calls(caller: Caller | null, requestId: number, changes: Partial<SubmitRequest> = {}) {
      const request = call({ ...from(caller, requestId), ...changes });
      const chain = await operations.chain("h", { principal: "local", caller }, request.forceNew);
      return kindOf(decide(chain, request));
    },
    /** An answer with the outcome was written, after the request had been open for so long. */
    answers: (
      caller: Caller,
      requestId: number,
      { tookMs = 60_000, upTo, logId = "op1" }: { tookMs?: number; upTo?: number; logId?: string } = {},
    ) => deliveries.delivered(from(caller, requestId), logId, { tookMs, upTo }),
    record: (logId = "op1") => readRecord(store, logId),
  };
}

const kindOf = (decision: Decision): string =>
  "record" in decision ? `${decision.kind} ${decision.record.logId}` : decision.kind;

describe("a retry is not a new call", () => {
  test("schedule A: over HTTP, answered into a connection that nobody reads; the re-issue hears the outcome", async () => {
    const { executes, answers, calls } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    expect(await calls(HTTP, 2)).toBe("replay op1");
  });

  test("schedule A: over HTTP with other messages in between, which prove nothing", async () => {
    const { executes, answers, calls, deliveries, enters } = gateway();
    await executes(HTTP, 1);
    await enters(executed({ logId: "another call", hash: "other" }));
    await answers(HTTP, 1, { tookMs: 5 });
    await deliveries.confirm(from(HTTP, 3), "another call");
    expect(await calls(HTTP, 4)).toBe("replay op1");
  });

  test("schedule A: on stdio, answer, other message, cancel, re-issue", async () => {
    const { executes, answers, calls, deliveries, record } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1, { tookMs: 9_000 });
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

  test("▲7 on stdio a later message after a quick answer is proof; one that had arrived before the answer is not", async () => {
    const { executes, answers, calls } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1, { tookMs: 9_999, upTo: 2 });
    expect(await calls(STDIO, 2)).toBe("replay op1");
    expect(await calls(STDIO, 3)).toBe("create");
  });

  test("W17: on stdio a slow answer, a ping and the call again: only naming the log_id is proof", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1, { tookMs: 10_000 });
    expect(await calls(STDIO, 3)).toBe("replay op1");
    await deliveries.confirm(from(STDIO, 4), "op1");
    expect(await calls(STDIO, 5)).toBe("create");
  });

  test("W16: over HTTP the re-issue overtakes the cancellation of a quick answer, or a tunnel loses it", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1, { tookMs: 5 });
    expect(await calls(HTTP, 2)).toBe("replay op1");
    await deliveries.retracted(from(HTTP, 1));
    expect(await calls(HTTP, 3)).toBe("replay op1");
  });

  test("▲7 over HTTP a message that names the log_id proves that what was delivered before is read", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 2), "op1");
    expect(await calls(HTTP, 3)).toBe("create");
  });

  test("W19: the message that names the log_id is answered into nothing: never proof by its own answer", async () => {
    const { executes, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await deliveries.confirm(from(HTTP, 2), "op1");
    await deliveries.delivered(from(HTTP, 2), "op1", { tookMs: 1 });
    expect(await calls(HTTP, 3)).toBe("replay op1");
    await deliveries.confirm(from(HTTP, 4), "op1");
    expect(await calls(HTTP, 5)).toBe("create");
  });

  test("▲7 giving up one of several answered requests takes proof back", async () => {
    const { executes, calls, deliveries, answers } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 2), "op1");
    await answers(HTTP, 3);
    await deliveries.retracted(from(HTTP, 1));
    expect(await calls(HTTP, 4)).toBe("replay op1");
  });

  test("▲7 a cancellation takes back only what was delivered to the given-up request", async () => {
    const { executes, answers, deliveries, record } = gateway();
    await executes(STDIO, 1);
    await answers(STDIO, 1);
    await answers(STDIO, 2);
    await deliveries.retracted(from(STDIO, 1));
    expect(record()?.deliveries[STDIO.id]?.requestId).toBe(2);
    await deliveries.retracted(from(STDIO, 2));
    expect(record()?.deliveries).toEqual({});
  });

  test("▲7 a cancellation of the latest answer leaves the earlier ones reported, of which none is proven", async () => {
    const { executes, answers, calls, deliveries, pass, record } = gateway();
    await executes(STDIO, 1);
    for (const requestId of [1, 3, 5]) await answers(STDIO, requestId, { tookMs: 5 });
    await deliveries.retracted(from(STDIO, 5));
    await deliveries.retracted(from(STDIO, 3));
    expect(record()?.deliveries[STDIO.id]).toMatchObject({ requestId: 1, confirmed: false });
    expect(await calls(STDIO, 7)).toBe("replay op1");
    pass(15 * MINUTE);
    expect(await calls(STDIO, 7)).toBe("create");
    await deliveries.retracted(from(STDIO, 1));
    expect(await calls(STDIO, 7)).toBe("replay op1");
  });

  test("▲7 an answer to a stateless request only begins the replay window", async () => {
    const { executes, calls, deliveries, pass } = gateway();
    await executes(HTTP, 1);
    await deliveries.delivered(from(null, null), "op1", { tookMs: 1 });
    expect(await calls(null, 9)).toBe("replay op1");
    pass(15 * MINUTE);
    expect(await calls(null, 9)).toBe("create");
  });

  test("schedule B: #1 is late in a proxy, #2 was answered and confirmed; #1 is no new call when it arrives", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 2);
    await answers(HTTP, 2);
    await deliveries.confirm(from(HTTP, 3), "op1");
    expect(await calls(HTTP, 1)).toBe("replay op1");
    expect(await calls(HTTP, 2)).toBe("replay op1");
  });

  test("schedule B: a late request of another session is no new call either", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 2);
    await answers(HTTP, 2);
    await deliveries.confirm(from(HTTP, 3), "op1");
    expect(await calls({ id: "the session before", transport: "http" }, 99)).toBe("replay op1");
  });

  test("schedule B: what never began answers its own request, and what its caller sent before", async () => {
    const { enters, calls } = gateway();
    await enters(operation({ state: "expired", createdBy: { caller: HTTP.id, requestId: 2 } }));
    expect(await calls(HTTP, 1)).toBe("replay op1");
    expect(await calls(HTTP, 2)).toBe("replay op1");
    expect(await calls(HTTP, 3)).toBe("create");
    expect(await calls(LATER_SESSION, 1)).toBe("create");
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
    expect(await calls(LATER_SESSION, 2)).toBe("replay op1");
  });

  test("▲7 a request that was sent before the naming message, and comes after it, is no new call", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 4), "op1");
    expect(await calls(HTTP, 3)).toBe("replay op1");
    expect(await calls(HTTP, 5)).toBe("create");
  });

  test("▲7 after a change of incarnation an answer from before is no answer, and naming it no proof", async () => {
    const { executes, answers, calls, deliveries, changesIncarnation, pass, record } = gateway();
    await executes(HTTP, 1);
    await answers(HTTP, 1);
    await deliveries.confirm(from(HTTP, 2), "op1");
    changesIncarnation();
    await deliveries.confirm(from(HTTP, 3), "op1");
    pass(60 * MINUTE);
    expect(await calls(HTTP, 4)).toBe("replay op1");
    await answers(HTTP, 4);
    expect(record()).toMatchObject({
      deliveredIn: ANOTHER_INCARNATION,
      deliveries: { [HTTP.id]: { requestId: 4 } },
    });
  });
});

describe("an old outcome is not reported as a new one", () => {
  test("W20: once the tests' outcome is noted as reported to one caller, another's call runs them", async () => {
    const { enters, answers, calls } = gateway();
    await enters(tested({ mutationSeq: 0 }));
    expect(await calls(LATER_SESSION, 1)).toBe("replay op1");
    await answers(HTTP, 1, { tookMs: 1 });
    expect(await calls(LATER_SESSION, 1)).toBe("create");
    expect(await calls(HTTP, 2)).toBe("create");
  });

  test("▲6 only a cancellation takes it back that the tests' outcome was reported", async () => {
    const { enters, answers, calls, deliveries } = gateway();
    await enters(tested({ mutationSeq: 0 }));
    await answers(HTTP, 1);
    await deliveries.retracted(from(HTTP, 1));
    expect(await calls(HTTP, 2)).toBe("replay op1");
  });

  test.each([
    [3, 1],
    [1, 3],
  ])(
    "▲6 told twice, the tests' outcome is untold once request %d and %d are both given up",
    async (first, second) => {
      const { enters, answers, calls, deliveries } = gateway();
      await enters(tested({ mutationSeq: 0 }));
      for (const requestId of [1, 3]) await answers(HTTP, requestId);
      await deliveries.retracted(from(HTTP, first));
      expect(await calls(HTTP, 5)).toBe("create");
      await deliveries.retracted(from(HTTP, second));
      expect(await calls(HTTP, 5)).toBe("replay op1");
    },
  );
});
