/** When an answer counts as delivered, and as read, whatever carries it. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  createExchanges,
  type Deliveries,
  type Exchange,
  singleRequest,
  type Way,
} from "../../../src/gateway/exchange.js";
import type { Caller } from "../../../src/shared/operation/operation.js";
import { SILENT } from "../../harness/silent.js";

const CALLER: Caller = { id: "c", transport: "http" };
const MUTATING = { logId: "op", effect: "mutating" } as const;
const idOf = (operation: string | { logId: string }): string =>
  typeof operation === "string" ? operation : operation.logId;
const REPEATABLE = { logId: "op", effect: "repeatable" } as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A request, and what was noted of it. */
function stage(
  given: Partial<Way> & { caller?: Caller; isCounted?: () => boolean; saysRead?: boolean } = {},
) {
  const { caller = CALLER, isCounted, saysRead = false, ...way } = given;
  const did: string[] = [];
  const gone = new AbortController();
  let reset: () => void = () => undefined;
  let isStoreAway = false;
  const note = async (what: string): Promise<boolean> => {
    if (isStoreAway) throw new Error("Connection is closed.");
    did.push(what);
    return true;
  };
  const deliveries = {
    delivered: (_caller, operation, { isRead }) =>
      note(`${isRead ? "read" : "delivered"} ${idOf(operation)}`),
    undelivered: async (_caller, logId) => void (await note(`undelivered ${logId}`)),
    named: async ({ principal }, logId) => void (await note(`${principal} named ${logId}`)),
    givenUp: async (_by, { logId, isOwn, isTimeout }) =>
      void (await note(`given up ${logId}${isOwn ? ", own" : ""}${isTimeout ? ", timed out" : ""}`)),
  } as Partial<Deliveries> as Deliveries;
  const onReset = (callback: () => void): void => {
    reset = callback;
  };
  const exchange = createExchanges({ deliveries, log: SILENT }).open({
    principal: "ann",
    caller,
    saysRead,
    way: { gone: gone.signal, isDirect: true, onReset, ...way },
    ...(isCounted ? { isCounted } : {}),
  });
  const written: boolean[] = [];
  return {
    exchange,
    did,
    written,
    gone,
    reset: () => reset(),
    storeAway() {
      isStoreAway = true;
    },
    answer: (isWritten = true) =>
      exchange.answer(async (mayTell) => {
        did.push(mayTell ? "written" : "withheld");
        return isWritten;
      }),
  };
}

/** The process turns as usual, for so long. */
const pass = (ms: number): void => void vi.advanceTimersByTime(ms);
const tell = ({ delivers }: Exchange): void => delivers(MUTATING);

describe("delivered", () => {
  test("not if the connection had ended before the write, though nobody had noticed yet", async () => {
    const changing = stage();
    tell(changing.exchange);
    setImmediate(() => setImmediate(() => changing.gone.abort()));
    expect(await changing.answer()).toBe(false);
    expect(changing.did).toEqual([]);
  });

  test("of a changing tool when the last byte was handed on; of a repeatable one before its first byte", async () => {
    const changing = stage();
    tell(changing.exchange);
    await changing.answer();
    expect(changing.did).toEqual(["written", "read op"]);
    const repeatable = stage();
    repeatable.exchange.delivers(REPEATABLE);
    await repeatable.answer();
    expect(repeatable.did).toEqual(["read op", "written"]);
  });

  test("not what carries no outcome, nor what was not written, nor after the client's input has ended", async () => {
    const plain = stage();
    await plain.answer();
    const failed = stage();
    tell(failed.exchange);
    await failed.answer(false);
    const ended = stage({ isCounted: () => false });
    tell(ended.exchange);
    await ended.answer();
    expect([plain.did, failed.did, ended.did]).toEqual([["written"], ["written"], ["written"]]);
  });

  test.each([undefined, "AbortError", "Request timed out"])(
    "not a request that was cancelled before, which gets no answer (%s)",
    async (reason) => {
      for (const operation of [MUTATING, REPEATABLE]) {
        const { exchange, answer, did } = stage();
        exchange.delivers(operation);
        exchange.cancelled(reason);
        expect(exchange.signal.aborted).toBe(true);
        expect(await answer()).toBe(false);
        expect(did).toEqual([]);
      }
    },
  );

  test("not one that is cancelled, or whose connection is lost, while its answer is being written", async () => {
    for (const end of ["cancelled", "gone"] as const) {
      const { exchange, did, gone } = stage();
      tell(exchange);
      await exchange.answer(async () => {
        if (end === "gone") gone.abort();
        else exchange.cancelled("AbortError");
        return end !== "gone";
      });
      expect(did).toEqual([]);
    }
  });

  test.each([undefined, "AbortError", "AbortError: This operation was aborted", "User cancelled"])(
    "a cancellation that comes later takes nothing back (%s)",
    async (reason) => {
      for (const operation of [MUTATING, REPEATABLE]) {
        const { exchange, answer, did } = stage();
        exchange.delivers(operation);
        exchange.waitsFor("op", true);
        await answer();
        const before = [...did];
        pass(250);
        exchange.cancelled(reason);
        expect(did).toEqual(before);
      }
    },
  );

  test.each(["a reset", "Request timed out", "MCP error -32001: Request timed out", "TimeoutError: aborted"])(
    "of a changing tool, %s within a second of the write takes it back, and later nothing",
    async (evidence) => {
      const shows = ({ exchange, reset }: ReturnType<typeof stage>): void =>
        evidence === "a reset" ? reset() : exchange.cancelled(evidence);
      const soon = stage();
      tell(soon.exchange);
      await soon.answer();
      pass(999);
      shows(soon);
      expect(soon.did).toEqual(["written", "read op", "undelivered op"]);
      const late = stage();
      tell(late.exchange);
      await late.answer();
      pass(1_000);
      shows(late);
      const tests = stage();
      tests.exchange.delivers(REPEATABLE);
      await tests.answer();
      shows(tests);
      expect([late.did, tests.did]).toEqual([
        ["written", "read op"],
        ["read op", "written"],
      ]);
    },
  );

  test("a repeatable tool's outcome whose delivery cannot be noted is withheld", async () => {
    const { exchange, answer, did, storeAway } = stage();
    exchange.delivers(REPEATABLE);
    storeAway();
    await answer();
    expect(did).toEqual(["withheld"]);
  });
});

const WAY: Way = { gone: new AbortController().signal, isDirect: true };

function openExchanges() {
  const did: string[] = [];
  const delivered: Deliveries["delivered"] = async (_caller, operation, { isRead }) =>
    did.push(`${isRead ? "read" : "delivered"} ${idOf(operation)}`) > 0;
  const deliveries = { delivered } as Partial<Deliveries> as Deliveries;
  return { did, exchanges: createExchanges({ deliveries, log: SILENT }) };
}

describe("read", () => {
  const reads = async (given: Parameters<typeof stage>[0], meanwhile: () => void): Promise<boolean> => {
    const { exchange, answer, did } = stage(given);
    tell(exchange);
    meanwhile();
    await answer();
    return did.includes("read op");
  };

  test("within 10 s of its arrival, wherever it had waited before", async () => {
    expect(await reads({}, () => pass(9_999))).toBe(true);
    expect(await reads({}, () => pass(10_000))).toBe(false);
    expect(await reads({ waitedMs: 8_000 }, () => pass(1_999))).toBe(true);
    expect(await reads({ waitedMs: 8_000 }, () => pass(2_000))).toBe(false);
  });

  test("only over a direct connection, not on a stream that was taken up, and not by a client that says itself what it has read", async () => {
    expect(await reads({ isDirect: false }, () => undefined)).toBe(false);
    // It arrived at some time before, and may have been given up since.
    expect(await reads({ isResumed: true }, () => undefined)).toBe(false);
    expect(await reads({ caller: { ...CALLER, readsByName: true } }, () => undefined)).toBe(false);
  });

  test("not if the process stood still with the request in hand, or so shortly before that it may have waited", async () => {
    // Its own ticks do not come.
    vi.useFakeTimers({ toFake: ["performance"] });
    expect(await reads({}, () => pass(1_200))).toBe(true);
    expect(await reads({}, () => pass(1_300))).toBe(false);
    const { exchanges, did } = openExchanges();
    pass(1_300);
    const exchange = exchanges.open({ principal: "ann", caller: CALLER, way: WAY });
    tell(exchange);
    await exchange.answer(async () => true);
    expect(did).toEqual(["delivered op"]);
  });
});

describe("named", () => {
  test("by whoever sends the log_id, but for a client that says itself when it has read", async () => {
    const names = async (given: Parameters<typeof stage>[0]): Promise<string[]> => {
      const { exchange, did } = stage(given);
      await exchange.names("op");
      return did;
    };
    const caller = { ...CALLER, readsByName: true } as const;
    expect(await names({})).toEqual(["ann named op"]);
    expect(await names({ caller })).toEqual([]);
    expect(await names({ caller, saysRead: true })).toEqual(["ann named op"]);
    expect(await names({ isResumed: true })).toEqual([]);
    // It has asked for nothing before.
    expect(await names({ caller: singleRequest("http") })).toEqual([]);
  });
});

describe("given up", () => {
  test("what a cancelled request waited for is noted, before or after it is known, and once", async () => {
    const before = stage();
    before.exchange.waitsFor("op", true);
    before.exchange.cancelled("AbortError");
    before.exchange.cancelled("AbortError");
    const after = stage();
    after.exchange.cancelled("Request timed out");
    after.exchange.waitsFor("op", false);
    await Promise.all([before.answer(), after.answer()]);
    expect(before.did).toEqual(["given up op, own"]);
    expect(after.did).toEqual(["given up op, timed out"]);
  });

  test("not once its answer may have reached the client, nor because its connection was lost", async () => {
    const answered = stage();
    answered.exchange.waitsFor("op", true);
    await answered.answer();
    answered.exchange.cancelled("AbortError");
    const lost = stage();
    lost.exchange.waitsFor("op", true);
    lost.gone.abort();
    await lost.answer();
    expect([answered.did, lost.did]).toEqual([["written"], []]);
  });
});
