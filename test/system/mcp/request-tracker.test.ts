import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { createExchanges, type Deliveries } from "../../../src/gateway/exchange.js";
import { type Channel, trackRequests } from "../../../src/gateway/mcp/request-tracker.js";
import { toolResult } from "../../../src/gateway/mcp/tools/tool-answer.js";
import { answerOf, type OperationView } from "../../../src/shared/operation/answer.js";
import type { Caller } from "../../../src/shared/operation/operation.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";

const MUTATING = { logId: "op", effect: "mutating" } as const;

/** A transport in the test's hand: it plays the client, the SDK's server and the store. */
function stage() {
  const log = createHeardLog();
  const did: string[] = [];
  const caller: Caller = { id: "c", transport: "stdio" };
  const deliveries = {
    delivered: async (_caller, logId) => did.push(`delivered ${logId}`) > 0,
    givenUp: async (_by, { logId }) => void did.push(`given up ${logId}`),
  } as Partial<Deliveries> as Deliveries;
  const handled: { id?: RequestId | undefined }[] = [];
  const written: unknown[] = [];
  const inner: Transport = {
    start: async () => undefined,
    send: async () => undefined,
    close: async () => inner.onclose?.(),
  };
  let writes: (() => void)[] = [];
  let holdsWrites = false;
  const gone = new AbortController();
  const channel: Channel = {
    gone: gone.signal,
    isDirect: true,
    discard: async () => undefined,
    async write(answer) {
      written.push(answer);
      if (holdsWrites) await new Promise<void>((resolve) => writes.push(resolve));
      return true;
    },
  };
  const tracker = trackRequests(
    { transport: inner, notify: async () => undefined, channelOf: () => channel },
    { exchanges: createExchanges({ deliveries, log }), principal: "ann", caller: () => caller, log },
  );
  tracker.transport.onmessage = (message) => {
    handled.push(message as { id?: RequestId });
  };
  void tracker.transport.start();
  return {
    tracker,
    gone,
    log,
    did,
    handled,
    written,
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
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => setImmediate(resolve));
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
    expect(did).toEqual([]);
  });

  test("what a mutating tool tells after the client has said its last word does not count", async () => {
    const { tracker, call, handled, answer, did, written } = stage();
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).delivers(MUTATING);
    tracker.inputEnded();
    await answer(handled[0]?.id ?? 0);
    await tracker.idle();
    expect(written).toMatchObject([{ id: 7 }]);
    expect(did).toEqual([]);
  });

  test("a call that is cancelled before its turn came does not begin, and the next one does", async () => {
    const { tracker, call, cancel, handled, answer, did, written } = stage();
    call(7);
    await turns();
    call(8);
    cancel(8);
    call(9);
    tracker.request(handled[0]?.id ?? 0).accepted();
    await turns();
    expect(handled.map(({ id }) => id)).toEqual([1, 3]);
    for (const { id } of handled) await answer(id ?? 0);
    await tracker.idle();
    expect(written).toMatchObject([{ id: 7 }, { id: 9 }]);
    expect(did).toEqual([]);
  });

  test("a call whose client had gone before its turn came does not begin, though nobody had noticed yet", async () => {
    const { call, gone, handled } = stage();
    call(7);
    setImmediate(() => setImmediate(() => gone.abort()));
    await turns();
    await turns();
    expect(handled).toEqual([]);
  });

  test("an unanswered request that is cancelled gives its operation up; one of the same id has another life", async () => {
    const { tracker, call, cancel, handled, answer, did } = stage();
    call(7);
    await turns();
    tracker.request(handled[0]?.id ?? 0).waitsFor("op", true);
    cancel(7);
    tracker.request(handled[0]?.id ?? 0).accepted();
    call(7);
    await turns();
    tracker.request(handled[1]?.id ?? 0).waitsFor("another", true);
    for (const { id } of handled) await answer(id ?? 0);
    cancel(7);
    await tracker.idle();
    expect(did).toEqual(["given up op"]);
  });

  test("a request with an id that is too long to be remembered is refused, and leaves nothing behind", async () => {
    const { tracker, say, handled, written, did } = stage();
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
      entered: 1,
      incarnation: "",
      mutationSeq: 1,
      state: "completed",
      acceptedAt: 0,
      createdBy: { caller: null, requestId: null },
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
