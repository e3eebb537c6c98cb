/**
 * What becomes of an operation: each cell of the recovery table that the Editor decides, against both Editors, over TCP.
 *
 * The counter file is the judge: it gets a line whenever something begins, and nobody but the Editor writes it.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeFrame, rpcRequest } from "../../../src/shared/wire/rpc.js";
import { TELLING_ENGINES } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { askProven } from "../../harness/editor/proof.js";
import type { Owner, Params } from "../simulator/simulator-client.js";

const block = (seconds: number): Params => ({
  arguments: { MenuItemPath: `Simulator/Block For ${seconds} Seconds` },
});
let operations = 0;
const fresh = (): string => {
  operations += 1;
  return `op-${operations}`;
};

describe.each(TELLING_ENGINES)("the %s Editor", (engine) => {
  let editor: EditorUnderTest;
  beforeAll(async () => {
    editor = await startEditorUnderTest(engine);
  });
  afterAll(() => editor.close());

  /** A running operation that a domain reload cuts: no resumable tool. */
  const cuttable: Params =
    engine === "dotnet"
      ? { tool: "execute-code", arguments: { Code: "await System.Threading.Tasks.Task.Delay(600000);" } }
      : block(600);

  const begins = (owner: Owner, operationId: string): Promise<Params> =>
    owner.notice("operation/running", (params) => params.operationId === operationId);
  const completes = async (owner: Owner, operationId: string): Promise<void> => {
    expect(await owner.finished(operationId)).toMatchObject({ status: "completed" });
    expect(await editor.begun(operationId)).toBe(1);
    await owner.request("operation/ack", { operationIds: [operationId] });
  };
  /** One that runs for a moment, and one behind it. */
  const occupied = async (owner: Owner): Promise<{ running: string; queued: string }> => {
    const [running, queued] = [fresh(), fresh()];
    await owner.submit(running, block(0.4));
    await begins(owner, running);
    await owner.submit(queued, block(0.01));
    return { running, queued };
  };
  /** Writes the submit and never hears its answer. */
  const sendUnheard = async (
    owner: Owner,
    operationId: string,
    fields: Params = block(0.01),
  ): Promise<void> => {
    owner.raw(
      encodeFrame(
        rpcRequest(`unheard-${operationId}`, "operation/submit", owner.submitParams(operationId, fields)),
      ),
    );
    // Requests of one connection are taken in order: the next answer proves that this one was read.
    await owner.request("operation/get", { operationId });
  };

  describe("the connection is lost", () => {
    test("queued: it stays, and runs once", async () => {
      const before = await editor.owner();
      const { running, queued } = await occupied(before);
      before.close();
      const after = await editor.owner();
      await completes(after, running);
      expect(["accepted", "running", "completed"]).toContain((await after.submit(queued, block(0.01))).state);
      await completes(after, queued);
    });

    test("sent, no answer: the same id attaches", async () => {
      const before = await editor.owner();
      const id = fresh();
      await sendUnheard(before, id);
      before.close();
      const after = await editor.owner();
      expect(["accepted", "running", "completed"]).toContain((await after.submit(id, block(0.01))).state);
      await completes(after, id);
    });

    test("running: it goes on, and the next owner is told its end", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, block(0.3));
      await begins(before, id);
      before.close();
      const after = await editor.owner();
      expect((await after.submit(id, block(0.3))).state).toMatch(/^(running|completed)$/);
      await completes(after, id);
    });

    test("finished, not acknowledged: reported again after every hello until it is acknowledged", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, block(0.01));
      await before.finished(id);
      before.close();
      const after = await editor.owner();
      expect(after.hello.unacknowledged).toContain(id);
      await completes(after, id);
      expect((await editor.owner()).hello.unacknowledged).not.toContain(id);
    });
  });

  describe("a domain reload", () => {
    const reload = async (): Promise<Owner> => {
      const { threadsLeft = [], inTime = true } = await editor.do({ do: "reload", downMs: 20 });
      expect({ threadsLeft, inTime }).toEqual({ threadsLeft: [], inTime: true });
      return editor.owner();
    };

    test("queued: the Editor queues it again itself, in order", async () => {
      const before = await editor.owner();
      const tests = fresh();
      await before.submit(tests, { tool: "run-tests", arguments: {} });
      await begins(before, tests);
      const [first, second] = [fresh(), fresh()];
      await before.submit(first, block(0.01));
      await before.submit(second, block(0.01));
      const after = await reload();
      expect((await after.submit(first, block(0.01))).state).toMatch(/^(accepted|running|completed)$/);
      const one = await after.finished(first);
      const two = await after.finished(second);
      expect(one.startedAt).toBeLessThanOrEqual(two.startedAt ?? 0);
      expect(await editor.begun(first)).toBe(1);
      expect(await editor.begun(second)).toBe(1);
    });

    test("sent, no answer: the same id attaches", async () => {
      const before = await editor.owner();
      const id = fresh();
      const tests = { tool: "run-tests", arguments: {} };
      await sendUnheard(before, id, tests);
      const after = await reload();
      await after.submit(id, tests);
      await completes(after, id);
    });

    test("running, resumable: the test run goes on and has all its results", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, { tool: "run-tests", arguments: {} });
      await before.notice(
        "operation/progress",
        (params) => params.operationId === id && Number(params.progress) >= 2,
      );
      const after = await reload();
      const outcome = await after.finished(id);
      expect(outcome).toMatchObject({
        status: "completed",
        result: { completed: 10, passed: 10, failed: 0 },
      });
      expect(await editor.begun(id)).toBe(1);
    });

    test("running, not resumable: interrupted, domain_reload", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, cuttable);
      await begins(before, id);
      const after = await reload();
      const reported = await after.submit(id, cuttable);
      expect(reported).toMatchObject({
        state: "interrupted",
        outcome: { status: "interrupted", error: { type: "domain_reload" } },
      });
      expect(await editor.begun(id)).toBeLessThanOrEqual(1);
    });

    test("finished, not acknowledged: reported again", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, block(0.01));
      await before.finished(id);
      const after = await reload();
      await completes(after, id);
    });
  });

  describe("the Editor crashes", () => {
    test("queued: not_started in the next process, and runs once when it is submitted again", async () => {
      const before = await editor.owner();
      const [running, queued] = [fresh(), fresh()];
      await before.submit(running, block(600));
      await begins(before, running);
      await before.submit(queued, block(0.01));
      await editor.crashAndRestart();
      const after = await editor.owner();
      expect(await after.request("operation/get", { operationId: queued })).toMatchObject({
        state: "not_started",
      });
      expect(await editor.begun(queued)).toBe(0);
      expect(await after.submit(queued, block(0.01))).toMatchObject({ state: "accepted" });
      await completes(after, queued);
    });

    test("sent, no answer: not_started, and revoked for good if the worker says so", async () => {
      const before = await editor.owner();
      const [running, sent] = [fresh(), fresh()];
      await before.submit(running, block(600));
      await begins(before, running);
      await sendUnheard(before, sent);
      await editor.crashAndRestart();
      const after = await editor.owner();
      expect(await after.request("operation/revoke", { operationId: sent })).toMatchObject({
        state: "revoked",
      });
      expect(await after.refusal("operation/submit", after.submitParams(sent, block(0.01)))).toMatchObject({
        code: -32021,
      });
      expect(await editor.begun(sent)).toBe(0);
    });

    test("running: interrupted, editor_exit, and never run again", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, block(600));
      await begins(before, id);
      await editor.crashAndRestart();
      const after = await editor.owner();
      expect(await after.submit(id, block(600))).toMatchObject({
        state: "interrupted",
        outcome: { status: "interrupted", error: { type: "editor_exit" } },
      });
      // It may have died between its journal's line and its first effect.
      expect(await editor.begun(id)).toBeLessThanOrEqual(1);
    });

    test("finished, not acknowledged: reported by the next process", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, block(0.01));
      await before.finished(id);
      await editor.crashAndRestart();
      await completes(await editor.owner(), id);
    });
  });

  test("the Editor quits: what ran is interrupted, what waited is not_started, what ended is reported", async () => {
    const ledgerFolder = mkdtempSync(join(tmpdir(), "ujb-ledger-"));
    const [done, running, queued] = [fresh(), fresh(), fresh()];
    const first = await startEditorUnderTest(engine, { ledgerFolder });
    const before = await first.owner({ epoch: 1 });
    await before.submit(done, block(0.01));
    await before.finished(done);
    await before.submit(running, { tool: "run-tests", arguments: {} });
    await before.notice("operation/running", (params) => params.operationId === running);
    await before.submit(queued, block(0.01));
    await first.close();
    const second = await startEditorUnderTest(engine, { ledgerFolder });
    const after = await second.owner({ epoch: 2 });
    expect(after.hello.unacknowledged).toContain(done);
    expect(await after.request("operation/get", { operationId: running })).toMatchObject({
      state: "interrupted",
      outcome: { error: { type: "editor_exit" } },
    });
    expect(await after.request("operation/get", { operationId: queued })).toMatchObject({
      state: "not_started",
    });
    expect(await second.begun(running)).toBe(0);
    await second.close();
    rmSync(ledgerFolder, { recursive: true });
  });

  describe("the store forgets (restored from a copy, flushed)", () => {
    test("running and finished: same_as, by the chain of the hash", async () => {
      const owner = await editor.owner();
      const id = fresh();
      await owner.submit(id, { ...block(0.3), hash: `h-${id}` });
      await begins(owner, id);
      const forgotten = fresh();
      const again = { ...block(0.3), hash: `h-${id}`, after: null };
      const running = await owner.submit(forgotten, again);
      expect(running).toMatchObject({
        state: "same_as",
        operationId: id,
        stateThere: "running",
        origin: { principal: "local" },
        acceptedAt: expect.any(Number),
        after: null,
        startedAt: expect.any(Number),
      });
      const outcome = await owner.finished(id);
      const ended = await owner.submit(forgotten, again);
      expect(ended).toMatchObject({
        state: "same_as",
        operationId: id,
        stateThere: "completed",
        acceptedAt: running.acceptedAt,
        after: null,
        startedAt: outcome.startedAt,
        endedAt: outcome.endedAt,
        endedIn: outcome.endedIn,
        outcome,
      });
      expect(Object.keys(running)).not.toContain("outcome");
      expect(await editor.begun(forgotten)).toBe(0);
    });
  });

  describe("the ledger", () => {
    const emptyLedger = (): void => {
      rmSync(editor.ledgerFolder, { recursive: true });
      mkdirSync(editor.ledgerFolder);
    };

    test("is lost: another ledgerId, and what was meant for the old one is refused", async () => {
      const before = await editor.owner();
      const id = fresh();
      await before.submit(id, block(0.01));
      await before.finished(id);
      await editor.crashAndRestart(emptyLedger);
      const after = await editor.owner();
      expect(after.hello.ledgerId).not.toBe(before.hello.ledgerId);
      const lost = after.submitParams(id, { ...block(0.01), ledgerId: before.hello.ledgerId });
      expect(await after.refusal("operation/submit", lost)).toMatchObject({ code: -32013 });
      expect(await editor.begun(id)).toBe(1);
    });

    test("is rolled back: the session before ends earlier than what was seen", async () => {
      const before = await editor.owner();
      const copy = `${editor.ledgerFolder}-copy`;
      cpSync(editor.ledgerFolder, copy, { recursive: true });
      const id = fresh();
      const { ledgerSeq: seen } = (await before.submit(id, block(0.01))) as { ledgerSeq: number };
      await before.finished(id);
      await editor.crashAndRestart(() => {
        emptyLedger();
        cpSync(copy, editor.ledgerFolder, { recursive: true });
      });
      const after = await editor.owner();
      const { previousSession } = after.hello as { previousSession: { ledgerSeq: number } };
      expect(previousSession.ledgerSeq).toBeLessThanOrEqual(seen);
      expect(after.hello.ledgerId).toBe(before.hello.ledgerId);
      // Nothing of it is known here any more: the worker's own record and ledgerSeq decide, it is not sent again.
      expect(await after.request("operation/get", { operationId: id })).toMatchObject({ state: "unknown" });
    });
  });

  describe("the worker is replaced", () => {
    test("a lower fence is refused, and nothing of it is journalled any more", async () => {
      const before = await editor.owner();
      const after = await editor.owner();
      await before.gone;
      const late = await editor.client();
      const stale = { ...before.submitParams(fresh(), block(0.01)) };
      expect(await late.refusal("operation/submit", stale)).toMatchObject({ code: -32010 });
      expect(
        await after.refusal("operation/submit", { ...stale, ledgerId: after.hello.ledgerId }),
      ).toMatchObject({
        code: -32011,
      });
    });

    test("queued, running and finished are carried on by the next owner", async () => {
      const before = await editor.owner();
      const done = fresh();
      await before.submit(done, block(0.01));
      await before.finished(done);
      const { running, queued } = await occupied(before);
      const after = await editor.owner();
      await before.gone;
      await completes(after, done);
      await completes(after, running);
      await completes(after, queued);
    });
  });

  describe("another broker's store", () => {
    test("is refused until the Editor is handed over, and cannot take it by itself", async () => {
      const running = await editor.owner();
      const id = fresh();
      await running.submit(id, block(600));
      await begins(running, id);
      await expect(editor.owner({ storeId: "store-2" })).rejects.toMatchObject({
        code: -32019,
        data: { boundTo: "store-1" },
      });
      const claim = async (storeId: string) =>
        askProven(await editor.client(), editor, "bridge/hand_over", { storeId });
      await expect(claim("store-2")).rejects.toMatchObject({
        code: -32019,
        data: { boundTo: "store-1", open: [{ operationId: id, state: "running" }] },
      });
      await editor.crashAndRestart();
      const before = await editor.owner();
      expect(await claim("store-2")).toMatchObject({
        boundTo: "store-2",
        before: "store-1",
      });
      await before.gone;
      const after = await editor.owner({ storeId: "store-2" });
      expect(after.hello.ledgerId).toBe(before.hello.ledgerId);
      // Back again, for the others.
      expect(await claim("store-1")).toMatchObject({
        before: "store-2",
      });
      const stranger = await editor.client();
      const guess = { port: editor.port, token: "guessed" };
      await expect(
        askProven(stranger, guess, "bridge/hand_over", { storeId: "store-2" }),
      ).rejects.toMatchObject({
        code: -32010,
      });
      await stranger.gone;
    });
  });

  test("an outcome says where the Editor stood when it ended", async () => {
    const owner = await editor.owner();
    const id = fresh();
    await owner.submit(id, block(0.01));
    const { editorSessionId, generation } = owner.hello;
    expect(await owner.finished(id)).toMatchObject({ endedIn: { editorSessionId, generation } });
    await owner.request("operation/ack", { operationIds: [id] });
  });
});
