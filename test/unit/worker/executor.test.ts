import { expect, test } from "vitest";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { createExecutor } from "../../../src/worker/execution/executor.js";
import type { ExecutorDeps } from "../../../src/worker/execution/executor-deps.js";
import { operation } from "../shared/record.js";

/** An owner that finds this record, and must not do anything that is not given here. */
function ownerOf(known: ReturnType<typeof operation>) {
  const acknowledged: string[] = [];
  const deps = {
    editorId: known.editor,
    fence: "nonce",
    operations: { find: async () => known, argumentsOf: async () => ({}) },
    acknowledge: (operationId: string) => void acknowledged.push(operationId),
  };
  const { process } = createExecutor(deps as unknown as ExecutorDeps, {});
  return { acknowledged, process: () => process(known.logId, new AbortController().signal) };
}

test("▲14 an end that was stored by a write whose answer was lost is acknowledged", async () => {
  const sent = ownerOf(operation({ logId: "a", state: "completed", sentIn: "session" }));
  expect(await sent.process()).toBe("settled");
  expect(sent.acknowledged).toEqual(["a"]);
});

test("what another operation answered has nothing of its own to acknowledge", async () => {
  const answered = ownerOf(operation({ logId: "a", state: "completed", sentIn: "session", executedAs: "b" }));
  expect(await answered.process()).toBe("settled");
  expect(answered.acknowledged).toEqual([]);
});

test("what was never sent has nothing to acknowledge", async () => {
  const cancelled = ownerOf(operation({ logId: "a", state: "cancelled" }));
  expect(await cancelled.process()).toBe("settled");
  expect(cancelled.acknowledged).toEqual([]);
});

test("▲12 a request for a part of the result that did not leave says nothing of the operation", async () => {
  const known = operation({ logId: "a", state: "dispatched", sentIn: "session" });
  const ending = new AbortController();
  const written: unknown[] = [];
  const outcome = { status: "completed", endedAt: 2, resultBytes: 9 };
  const deps = {
    editorId: known.editor,
    fence: "nonce",
    storeId: () => "store",
    seal: { sign: (origin: object) => origin },
    operations: {
      claim: async () => ({ record: known, args: "{}" }),
      find: async () => known,
      change: async (...write: unknown[]) => written.push(write),
      now: async () => 1,
    },
    editor: {
      session: () => "session",
      submit: async () => ({ state: "accepted", ledgerSeq: 1 }),
      follow: () => ({ outcome: Promise.resolve(outcome), stop: () => undefined }),
      result: () => Promise.reject(new Error("the connection ended before")),
      wasSent: () => false,
      isLeaving: () => false,
      refusal: () => undefined,
    },
    importedIn: () => known.incarnation,
    wasCancelAnnounced: () => false,
    pause: async () => ending.abort(),
    log: { debug: () => undefined, warn: () => undefined },
  };
  const { process } = createExecutor(deps as unknown as ExecutorDeps, {});
  await process(known.logId, ending.signal, { id: jobIdOf(known), lane: known.lane });
  expect(ending.signal.aborted).toBe(true);
  expect(written).toEqual([]);
});
