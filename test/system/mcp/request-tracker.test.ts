import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import type { Channel } from "../../../src/gateway/mcp/open-request.js";
import { trackRequests } from "../../../src/gateway/mcp/request-tracker.js";
import { toolResult } from "../../../src/gateway/mcp/tools/tool-answer.js";
import { answerOf, type OperationView } from "../../../src/shared/operation/answer.js";
import type { Caller } from "../../../src/shared/operation/operation.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";

const MUTATING = { logId: "op", effect: "mutating" } as const;
const REPEATABLE = { logId: "op", effect: "repeatable" } as const;

/** A transport in the test's hand: it plays the client, the SDK's server and the store. */
function stage(transport: Caller["transport"] = "stdio") {
  const log = createHeardLog();
  const did: string[] = [];
  const handled: { id?: RequestId | undefined }[] = [];
  const written: unknown[] = [];
  /** Messages handled, answers written and what was stored, as it came. */
  const order: string[] = [];
  const resets: (() => void)[] = [];
  let storeIsAway = false;
  const store = async (what: string): Promise<void> => {
    if (storeIsAway) throw new Error("Connection is closed.");
    did.push(what);
    order.push(what);
  };
  const inner: Transport = {
    start: async () => undefined,
    send: async () => undefined,
    close: async () => inner.onclose?.(),
  };
  let writes: (() => void)[] = [];
  let holdsWrites = false;
  const channel: Channel = {
    gone: new AbortController().signal,
    discard: async () => undefined,
    async write(answer) {
      written.push(answer);
      order.push(`written ${(answer as { id: RequestId }).id}`);
      if (holdsWrites) await new Promise<void>((resolve) => writes.push(resolve));
      return true;
    },
    onReset: (callback) => void resets.push(callback),
  };
  const tracker = trackRequests(
    { transport: inner, notify: async () => undefined, channelOf: () => channel },
    {
      caller: { id: "c", transport },
      log,
      deliveries: {
        delivered: ({ requestId }, logId, { upTo }) =>
          store(`delivered ${requestId} ${logId}${upTo === undefined ? "" : `, up to ${upTo}`}`),
        retracted: ({ requestId }) => store(`retracted ${requestId}`),
      },
    },
  );
  tracker.transport.onmessage = (message) => {
    handled.push(message as { id?: RequestId });
    order.push(`handled ${(message as { method: string }).method}`);
  };
  void tracker.transport.start();
  return {
    tracker,
    log,
    did,
    handled,
    written,
    order,
    reset: () => {
      for (const callback of resets) callback();
    },
    storeAway: (is: boolean) => {
      storeIsAway = is;
    },
    holdWrites: (holds: boolean) => {
      holdsWrites = holds;
      for (const resolve of writes) resolve();
      writes = [];
    },
    say: (message: object) => inner.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage),
    call: (id: number, name = "work") =>
      inner.onmessage?.({ jsonrpc: "2.0", id, method: "tools/call", params: { name } }),
    cancel: (requestId: number) =>
      inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }),
    answer: (id: RequestId) => tracker.transport.send({ jsonrpc: "2.0", id, result: {} }),
  };
}

/** Everything that was said so far has been handled, except calls that are not accepted yet. */
const turns = async (): Promise<void> => {
  for (let at = 0; at < 5; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("the request tracker", () => {
  test("a call takes its turn until it is accepted, not until it is answered", async () => {
    const { tracker, call, handled, answer } = stage();
    call(7);
    call(8);
    await turns();
    expect(handled).toHaveLength(1);
    const [first] = handled;
    tracker.request(first?.id ?? 0).accepted();
    await turns();
    expect(handled).toHaveLength(2);
    for (const { id } of handled) await answer(id ?? 0);
    await tracker.idle();
  });

  test.for([
    ["stdio", "by its arrival", 2],
    ["http", "by the client's own id", 8],
  ] as const)("over %s a request is ordered %s", async ([transport, , requestId]) => {
    const { tracker, call, handled, answer } = stage(transport);
    call(9);
    await turns();
    tracker.request(handled[0]?.id ?? 0).accepted();
    call(8);
    await turns();
    expect(tracker.request(handled[1]?.id ?? 0).requester).toMatchObject({ requestId });
    for (const { id } of handled) await answer(id ?? 0);
    await tracker.idle();
  });

  test("an answer that is given up while it is being written does not count", async () => {
    const { tracker, call, cancel, handled, answer, did, written, holdWrites } = stage();
    holdWrites(true);
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(MUTATING);
    const answered = answer(handled[0]?.id ?? 0);
    await turns();
    expect(written).toMatchObject([{ id: 7 }]);
    cancel(7);
    holdWrites(false);
    await answered;
    await tracker.idle();
    expect(did).toEqual(["retracted 1"]);
  });

  test.for([
    ["a mutating", "does not count", MUTATING, []],
    ["a repeatable", "counts: it may be read", REPEATABLE, ["delivered 1 op, up to 1"]],
  ] as const)(
    "▲6 what %s tool tells after the client has said its last word %s",
    async ([, , reported, stored]) => {
      const { tracker, call, handled, answer, did, written } = stage();
      call(7);
      await turns();
      tracker.request(handled[0]?.id ?? 0).delivers(reported);
      tracker.inputEnded();
      await answer(handled[0]?.id ?? 0);
      await tracker.idle();
      expect(written).toMatchObject([{ id: 7 }]);
      expect(did).toEqual(stored);
    },
  );

  test("▲6 what a mutating tool's answer tells is stored after the write, before the next message", async () => {
    const { tracker, call, handled, answer, order, say } = stage();
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(MUTATING);
    const answered = answer(handled[0]?.id ?? 0);
    say({ id: 8, method: "ping" });
    await answered;
    await turns();
    // The ping had arrived when the answer was written: it may have been sent before that was read.
    expect(order).toEqual(["handled tools/call", "written 7", "delivered 1 op, up to 2", "handled ping"]);
    await answer(handled[1]?.id ?? 0);
    await tracker.idle();
  });

  test("▲6 what a repeatable tool's answer tells is stored before its first byte", async () => {
    const { tracker, call, handled, answer, order } = stage();
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(REPEATABLE);
    await answer(handled[0]?.id ?? 0);
    await tracker.idle();
    expect(order).toEqual(["handled tools/call", "delivered 1 op, up to 1", "written 7"]);
  });

  test("▲6 a repeatable tool's outcome whose telling cannot be stored is not reported", async () => {
    const { tracker, call, handled, answer, did, written, storeAway } = stage();
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(REPEATABLE);
    storeAway(true);
    await answer(handled[0]?.id ?? 0);
    expect(written).toMatchObject([{ id: 7, error: { data: { error_code: "STORE_UNAVAILABLE" } } }]);
    expect(did).toEqual([]);
    await tracker.idle();
  });

  test.for([
    ["a mutating", MUTATING, ["delivered 7 op", "retracted 7"]],
    ["a repeatable", REPEATABLE, ["delivered 7 op"]],
  ] as const)("▲6 a reset right behind the answer of %s tool", async ([, reported, stored]) => {
    const { tracker, call, handled, answer, did, reset } = stage("http");
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(reported);
    await answer(handled[0]?.id ?? 0);
    reset();
    await tracker.idle();
    expect(did).toEqual(stored);
  });

  test("no call is accepted while a retraction is not stored", async () => {
    const { tracker, call, cancel, handled, answer, did, written, storeAway } = stage();
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(MUTATING);
    await answer(handled[0]?.id ?? 0);
    await tracker.idle();
    storeAway(true);
    cancel(7);
    call(8);
    await turns();
    expect(handled).toHaveLength(1);
    expect(written.at(-1)).toMatchObject({ id: 8, error: { data: { error_code: "STORE_UNAVAILABLE" } } });
    storeAway(false);
    call(9);
    await turns();
    expect(did).toEqual(["delivered 1 op, up to 1", "retracted 1"]);
    expect(handled).toHaveLength(2);
    await answer(handled[1]?.id ?? 0);
    await tracker.idle();
  });

  test("a request with an id that is too long to be remembered is refused, and leaves nothing behind", async () => {
    const { tracker, say, handled, written, did } = stage("http");
    const id = "x".repeat(201);
    say({ id, method: "tools/call", params: { name: "work" } });
    say({ method: "notifications/cancelled", params: { requestId: id } });
    await turns();
    expect(handled).toEqual([]);
    expect(written).toEqual([
      { jsonrpc: "2.0", id, error: { code: -32600, message: expect.stringContaining("200") } },
    ]);
    say({ id: "x".repeat(200), method: "ping" });
    await turns();
    expect(handled).toHaveLength(1);
    await tracker.transport.send({ jsonrpc: "2.0", id: handled[0]?.id ?? 0, result: {} });
    await tracker.idle();
    expect(did).toEqual([]);
  });

  test("a request id of 0 can be given up", async () => {
    const { tracker, call, cancel, handled, answer, written } = stage();
    call(0);
    await turns();
    const { signal } = tracker.request(handled[0]?.id ?? 0);
    cancel(0);
    expect(signal.aborted).toBe(true);
    await answer(handled[0]?.id ?? 0);
    expect(written).toEqual([]);
    await tracker.idle();
  });
});

describe("the size of an answer", () => {
  const view = (result: string): OperationView => ({
    record: {
      logId: "x",
      hash: "",
      fingerprint: "",
      principal: "local",
      tool: "t",
      effect: "mutating",
      lane: "main",
      cancellable: false,
      keyed: false,
      editor: "e",
      editorOpen: true,
      after: null,
      order: 1,
      mutationSeq: 1,
      state: "completed",
      acceptedAt: 0,
      createdBy: { caller: null, requestId: null },
      deliveries: {},
    },
    result,
    now: 0,
  });

  test.for([
    ["letters", "x"],
    ["quotes", '"'],
    ["control characters", "\u0001"],
    ["letters of three bytes", "ツ"],
  ])("no message exceeds 8 MiB, whatever the result is made of: %s", ([, character = ""]) => {
    const limit = 8 * 1024 * 1024;
    const size = (length: number): { bytes: number; isWhole: boolean } => {
      const result = toolResult(answerOf(view(JSON.stringify(character.repeat(length)))), 1);
      const bytes = Buffer.byteLength(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
      return { bytes, isWhole: !result.isError };
    };
    let [fits, tooLarge] = [1, 9_000_000];
    while (tooLarge - fits > 1_000) {
      const middle = Math.floor((fits + tooLarge) / 2);
      const { bytes, isWhole } = size(middle);
      expect(bytes).toBeLessThanOrEqual(limit);
      if (isWhole) fits = middle;
      else tooLarge = middle;
    }
    expect(size(fits).bytes).toBeGreaterThan(limit - 20_000);
  });
});
