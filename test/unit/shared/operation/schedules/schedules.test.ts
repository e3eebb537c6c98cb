/** The stories that ran something twice, or reported an old outcome as new, played with the real decision and deliveries. */
import { describe, expect, test } from "vitest";
import { createDeliveries } from "../../../../../src/gateway/exchange.js";
import { type Decision, decide, type SubmitRequest } from "../../../../../src/shared/operation/decide.js";
import type { Caller, OperationRecord } from "../../../../../src/shared/operation/operation.js";
import { createMemoryStore, operationsOf, readRecord } from "../../../../proofs/interleavings/store.js";
import {
  ANOTHER_INCARNATION,
  call,
  executed,
  HTTP,
  LATER_SESSION,
  MARK,
  MINUTE,
  NOW,
  operation,
  SINGLE,
  STDIO,
  tested,
  testing,
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
    /** The store may have lost something. */
    changesIncarnation: () => {
      store.data.incarnation = ANOTHER_INCARNATION;
    },
    enters,
    /** The build of this caller runs to its end. */
    executes: (caller: Caller, changes: Partial<OperationRecord> = {}) =>
      enters(
        executed({
          createdBy: { caller: caller.id, requestId: 1, transport: caller.transport },
          mutationSeq: 0,
          ...changes,
        }),
      ),
    /** What the identical call becomes now. */
    async calls(caller: Caller, changes: Partial<SubmitRequest> = {}) {
      const request = call({ caller, ...changes });
      const chain = await operations.chain("h", { principal: "local", caller }, request.forceNew);
      return kindOf(decide(chain, request));
    },
    /** An answer with the outcome was delivered; `isRead`: within 10 s, over a direct connection. */
    answers: (caller: Caller, { isRead = false, logId = "op1" }: { isRead?: boolean; logId?: string } = {}) =>
      deliveries.delivered(caller, logId, { isRead }),
    record: (logId = "op1") => readRecord(store, logId),
  };
}

const kindOf = (decision: Decision): string =>
  "record" in decision ? `${decision.kind} ${decision.record.logId}` : decision.kind;

const READ = { isRead: true };

describe("a retry is not a new call", () => {
  test("schedule A: answered into a connection that nobody reads; the re-issue gets the outcome", async () => {
    const { executes, answers, calls, deliveries, enters } = gateway();
    await executes(HTTP);
    await answers(HTTP);
    expect(await calls(HTTP)).toBe("replay op1");
    await enters(executed({ logId: "another call", hash: "other" }));
    await deliveries.named({ principal: "local", caller: HTTP }, "another call");
    expect(await calls(HTTP)).toBe("replay op1");
  });

  test.each([STDIO, HTTP])(
    "a quick answer over a direct connection was read: the same call runs ($transport)",
    async (caller) => {
      const { executes, answers, calls } = gateway();
      await executes(caller);
      await answers(caller, READ);
      expect(await calls(caller)).toBe("create");
      // It is owed to nobody.
      expect(await calls(LATER_SESSION)).toBe("create");
    },
  );

  test("W17: after a slow answer only naming the log_id is proof", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(STDIO);
    await answers(STDIO);
    expect(await calls(STDIO)).toBe("replay op1");
    await deliveries.named({ principal: "local", caller: STDIO }, "op1");
    expect(await calls(STDIO)).toBe("create");
  });

  test("W19: the message that names the log_id is answered into nothing: never proof by its own answer", async () => {
    const { executes, calls, deliveries, answers } = gateway();
    await executes(HTTP);
    await deliveries.named({ principal: "local", caller: HTTP }, "op1");
    await answers(HTTP);
    expect(await calls(HTTP)).toBe("replay op1");
    await deliveries.named({ principal: "local", caller: HTTP }, "op1");
    expect(await calls(HTTP)).toBe("create");
  });

  test("the connection is reset behind the answer: the caller gets it for the whole retention", async () => {
    const { executes, answers, calls, deliveries, pass, record } = gateway();
    await executes(HTTP);
    const noted = answers(HTTP, READ);
    await deliveries.undelivered(HTTP, "op1", noted);
    expect(record()).not.toHaveProperty("firstDeliveredAt");
    pass(60 * MINUTE);
    expect(await calls(HTTP)).toBe("replay op1");
    expect(await calls(LATER_SESSION)).toBe("replay op1");
  });

  test("a reset behind a second answer takes back nothing of the first, which was read", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP);
    await answers(HTTP, READ);
    const noted = answers(HTTP);
    await deliveries.undelivered(HTTP, "op1", noted);
    expect(await calls(HTTP)).toBe("create");
  });

  test("who asks for an operation that another one answers for has asked for that one", async () => {
    const { enters, executes, answers, calls, deliveries, pass } = gateway();
    await executes(HTTP);
    await enters(
      operation({ logId: "op2", executedAs: "op1", createdBy: { caller: HTTP.id, requestId: 2 } }),
    );
    await deliveries.asks(LATER_SESSION, "op2");
    await answers(HTTP, READ);
    pass(60 * MINUTE);
    expect(await calls(LATER_SESSION)).toBe("replay op1");
    expect(await calls(HTTP)).toBe("create");
  });

  test("a caller that has read settles what it asked before, and others keep what they are owed", async () => {
    const { executes, answers, calls, deliveries, pass } = gateway();
    await executes(HTTP);
    await deliveries.asks(LATER_SESSION, "op1");
    await answers(HTTP);
    await answers(HTTP, READ);
    expect(await calls(HTTP)).toBe("create");
    expect(await calls(STDIO)).toBe("replay op1");
    pass(15 * MINUTE);
    expect(await calls(STDIO)).toBe("create");
    expect(await calls(LATER_SESSION)).toBe("replay op1");
  });

  test("a request without a session is a caller of its own, and none that comes later is the same", async () => {
    const { executes, answers, calls, pass } = gateway();
    const other: Caller = { ...SINGLE, id: "request:2" };
    await executes(SINGLE);
    await answers(SINGLE);
    expect(await calls(other)).toBe("replay op1");
    await answers(other, READ);
    expect(await calls({ ...SINGLE, id: "request:3" })).toBe("replay op1");
    pass(15 * MINUTE);
    expect(await calls({ ...SINGLE, id: "request:3" })).toBe("create");
  });

  test("schedule C: a forced call times out and is re-issued as it was", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    const force = { forceNew: "op1", forceNewHash: "h" };
    await executes(HTTP);
    await answers(HTTP);
    expect(await calls(HTTP, force)).toBe("create");
    await executes(HTTP, { logId: "op2", supersedes: "op1", after: "op1" });
    expect(await calls(HTTP, force)).toBe("replay op2");
    await answers(HTTP, { logId: "op2" });
    await deliveries.named({ principal: "local", caller: HTTP }, "op2");
    expect(await calls(HTTP, force)).toBe("replay op2");
  });

  test("what never began keeps nobody from running", async () => {
    const { enters, calls } = gateway();
    await enters(operation({ state: "expired" }));
    for (const caller of [HTTP, LATER_SESSION, SINGLE]) expect(await calls(caller)).toBe("create");
  });

  test("the notes of an operation are stored in their order, and a call that comes after them waits for them", async () => {
    const { executes, calls, deliveries } = gateway();
    await executes(HTTP);
    void deliveries.delivered(HTTP, "op1", { isRead: false });
    void deliveries.named({ principal: "local", caller: HTTP }, "op1");
    await deliveries.noted();
    expect(await calls(HTTP)).toBe("create");
  });

  test("what was delivered and read stays so when the store has lost something else", async () => {
    const { executes, answers, calls, changesIncarnation } = gateway();
    await executes(HTTP);
    changesIncarnation();
    expect(await calls(HTTP)).toBe("replay op1");
    await answers(HTTP, READ);
    expect(await calls(HTTP)).toBe("create");
  });

  test("what another operation answers for is delivered as that one", async () => {
    const { executes, answers, record } = gateway();
    await executes(HTTP);
    await executes(STDIO, { logId: "op2", executedAs: "op1" });
    await answers(STDIO, { ...READ, logId: "op2" });
    expect(record()?.askers).toHaveProperty(STDIO.id);
    expect(record("op2")).not.toHaveProperty("askers");
  });
});

describe("an old outcome is not reported as a new one", () => {
  test("W20: once the tests' outcome is noted as delivered to one caller, everybody's call runs them", async () => {
    const { enters, answers, calls } = gateway();
    await enters(tested({ mutationSeq: 0 }));
    expect(await calls(LATER_SESSION)).toBe("replay op1");
    await answers(HTTP);
    expect(await calls(LATER_SESSION)).toBe("create");
    expect(await calls(HTTP)).toBe("create");
  });

  test("who cancels its request for the tests on purpose is not given that run, in flight or ended", async () => {
    const { enters, calls, deliveries } = gateway();
    const by = { principal: "local", caller: HTTP };
    await enters(testing({ mutationSeq: 0 }));
    await deliveries.givenUp(by, { logId: "op1", isOwn: true, isTimeout: true });
    expect(await calls(HTTP)).toBe("join op1");
    await deliveries.givenUp(by, { logId: "op1", isOwn: true, isTimeout: false });
    expect(await calls(HTTP)).toBe("create");
    expect(await calls(LATER_SESSION)).toBe("join op1");
  });

  test("what another principal names is not read, even by a caller of the same name", async () => {
    const { executes, answers, calls, deliveries } = gateway();
    await executes(HTTP);
    await answers(HTTP);
    await deliveries.named({ principal: "somebody else", caller: HTTP }, "op1");
    expect(await calls(HTTP)).toBe("replay op1");
  });

  test("nobody gives up another principal's run", async () => {
    const { enters, deliveries, record } = gateway();
    await enters(testing({ mutationSeq: 0 }));
    const by = { principal: "somebody else", caller: LATER_SESSION };
    await deliveries.givenUp(by, { logId: "op1", isOwn: false, isTimeout: false });
    expect(record()).not.toHaveProperty("givenUpBy");
  });
});
