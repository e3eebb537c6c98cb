import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { BROKER_TOOLS } from "../src/gateway/mcp/broker-tools.js";
import type { Channel } from "../src/gateway/mcp/open-request.js";
import { tapTransport } from "../src/gateway/mcp/tap.js";
import { toolResult } from "../src/gateway/mcp/tool-answer.js";
import { answerOf, type OperationView } from "../src/shared/answer.js";
import { createHeardLog } from "./harness/mcp.js";

/** A transport in the test's hand: it plays the client, the SDK's server and the store. */
function stage() {
  const log = createHeardLog();
  const did: string[] = [];
  const handled: { id?: RequestId | undefined }[] = [];
  const written: unknown[] = [];
  let storeIsAway = false;
  const store = async (what: string): Promise<void> => {
    if (storeIsAway) throw new Error("Connection is closed.");
    did.push(what);
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
      if (holdsWrites) await new Promise<void>((resolve) => writes.push(resolve));
      return true;
    },
  };
  const tap = tapTransport(
    { transport: inner, notify: async () => undefined, channelOf: () => channel },
    {
      caller: { id: "c", transport: "stdio" },
      log,
      isSubmission: ({ method, params }) =>
        method === "tools/call" && !BROKER_TOOLS.has(String(params?.name)),
      deliveries: {
        delivered: ({ requestId }, logId) => store(`delivered ${requestId} ${logId}`),
        retracted: ({ requestId }) => store(`retracted ${requestId}`),
        heard: ({ requestId }) => store(`heard ${requestId}`),
      },
    },
  );
  tap.transport.onmessage = (message) => {
    handled.push(message as { id?: RequestId });
  };
  void tap.transport.start();
  return {
    tap,
    log,
    did,
    handled,
    written,
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
    answer: (id: RequestId) => tap.transport.send({ jsonrpc: "2.0", id, result: {} }),
  };
}

/** Everything that was said so far has been handled, except calls that are not accepted yet. */
const turns = async (): Promise<void> => {
  for (let at = 0; at < 5; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("the tap", () => {
  test("a call takes its turn until it is accepted, not until it is answered", async () => {
    const { tap, call, handled, answer } = stage();
    call(7);
    call(8);
    await turns();
    expect(handled).toHaveLength(1);
    const [first] = handled;
    tap.request(first?.id ?? 0).accepted();
    await turns();
    expect(handled).toHaveLength(2);
    expect(tap.request(first?.id ?? 0).requester).toMatchObject({ requestId: 7 });
    for (const { id } of handled) await answer(id ?? 0);
    await tap.idle();
  });

  test("an answer that is given up while it is being written does not count", async () => {
    const { tap, call, cancel, handled, answer, did, written, holdWrites } = stage();
    holdWrites(true);
    call(7);
    await turns();
    tap.request(handled[0]?.id ?? 0).tells("op", false);
    const answered = answer(handled[0]?.id ?? 0);
    await turns();
    expect(written).toMatchObject([{ id: 7 }]);
    cancel(7);
    holdWrites(false);
    await answered;
    await tap.idle();
    expect(did).toEqual(["retracted 7"]);
  });

  test("what is written after the client has said its last word does not count", async () => {
    const { tap, call, handled, answer, did, written } = stage();
    call(7);
    await turns();
    tap.request(handled[0]?.id ?? 0).tells("op", false);
    tap.hushed();
    await answer(handled[0]?.id ?? 0);
    await tap.idle();
    expect(written).toMatchObject([{ id: 7 }]);
    expect(did).toEqual([]);
  });

  test("what a written answer tells is stored before the next message is handled", async () => {
    const { tap, call, handled, answer, did, say } = stage();
    call(7);
    await turns();
    tap.request(handled[0]?.id ?? 0).tells("op", false);
    const answered = answer(handled[0]?.id ?? 0);
    say({ id: 8, method: "ping" });
    await answered;
    await turns();
    expect(did).toEqual(["delivered 7 op", "heard 8"]);
    await answer(handled[1]?.id ?? 0);
    await tap.idle();
  });

  test("no call is accepted while a retraction is not stored", async () => {
    const { tap, call, cancel, handled, answer, did, written, storeAway } = stage();
    call(7);
    await turns();
    tap.request(handled[0]?.id ?? 0).tells("op", false);
    await answer(handled[0]?.id ?? 0);
    await tap.idle();
    storeAway(true);
    cancel(7);
    call(8);
    await turns();
    expect(handled).toHaveLength(1);
    expect(written.at(-1)).toMatchObject({ id: 8, error: { data: { error_code: "STORE_UNAVAILABLE" } } });
    storeAway(false);
    call(9);
    await turns();
    expect(did).toEqual(["delivered 7 op", "retracted 7"]);
    expect(handled).toHaveLength(2);
    await answer(handled[1]?.id ?? 0);
    await tap.idle();
  });

  test("a request id of 0 can be given up", async () => {
    const { tap, call, cancel, handled, answer, written } = stage();
    call(0);
    await turns();
    const { signal } = tap.request(handled[0]?.id ?? 0);
    cancel(0);
    expect(signal.aborted).toBe(true);
    await answer(handled[0]?.id ?? 0);
    expect(written).toEqual([]);
    await tap.idle();
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
