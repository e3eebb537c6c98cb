import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openJournal } from "../../../src/simulator/ledger/journal.js";
import type { JournalEntry, LedgerOperation } from "../../../src/simulator/ledger/journal-entry.js";
import { openLedger } from "../../../src/simulator/ledger/ledger.js";
import { createProgressThrottle } from "../../../src/simulator/progress-throttle.js";
import type { SimulatedTool } from "../../../src/simulator/tool-definition.js";
import { echoTool } from "../../../src/simulator/tools/short.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { createStage } from "./simulator-client.js";

let folder: string;
const stage = createStage();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "simulated-ledger-"));
});
afterEach(async () => {
  await stage.clear();
  await rm(folder, { recursive: true, force: true });
});

const written = Socket.prototype.write;
const file = () => join(folder, "ledger.log");
const open = () => openLedger({ file: file(), now: () => 1000, forgetAfterMs: 0, keepOperations: 1000 });
const operation = (operationId: string, hash = "h"): LedgerOperation => ({
  operationId,
  state: "accepted",
  hash,
  argumentsHash: "a",
  acceptedAt: 1,
  readOnly: false,
});

describe("the ledger", () => {
  test("reads back what was flushed, wherever the file is cut", () => {
    const ledger = open();
    ledger.startSession("s1");
    ledger.takeFence({ epoch: 3, ownerNonce: "n" }, "store");
    const op = operation("op");
    ledger.accept(op);
    const entered = ledger.get("op");
    if (!entered) throw new Error("not entered");
    ledger.begin(entered);
    ledger.end(entered, { status: "completed", endedAt: 2000 });
    const seq = ledger.ledgerSeq();
    ledger.close("lose");

    const again = open();
    expect(again.ledgerId).toBe(ledger.ledgerId);
    expect(again.ledgerSeq()).toBe(seq);
    expect(again.fence()).toEqual({ epoch: 3, ownerNonce: "n" });
    expect(again.get("op")).toMatchObject({ state: "completed", startedAt: 1000 });
    expect(again.latestOfHash("h")?.operationId).toBe("op");
    again.close("keep");

    // At every cut the state is one that was true once: never an outcome without its operation.
    const whole = readFileSync(file());
    const allowed = new Set(["undefined", "accepted", "running", "completed"]);
    for (let length = 0; length < whole.length; length += 7) {
      const cut = openCut(whole.subarray(0, length));
      expect(allowed).toContain(String(cut.get("op")?.state));
      cut.close("lose");
    }
  });

  test("loses in a crash what was accepted and not flushed, and nothing else", () => {
    const ledger = open();
    ledger.accept(operation("flushed with the next line", "h1"));
    ledger.revoke("revoked");
    ledger.accept(operation("lost", "h2"));
    ledger.close("lose");
    const again = open();
    expect(again.get("flushed with the next line")?.state).toBe("accepted");
    expect(again.get("revoked")?.state).toBe("revoked");
    expect(again.get("lost")).toBeUndefined();
    again.close("keep");
  });

  test("a revoked latest uncovers the one before it in the chain", () => {
    const ledger = open();
    ledger.accept(operation("one"));
    ledger.accept(operation("two"));
    expect(ledger.latestOfHash("h")?.operationId).toBe("two");
    ledger.revoke("two");
    expect(ledger.latestOfHash("h")?.operationId).toBe("one");
    ledger.close("keep");
  });

  test("running is entered once", () => {
    const ledger = open();
    ledger.accept(operation("op"));
    const entered = ledger.get("op");
    if (!entered) throw new Error("not entered");
    ledger.begin(entered);
    expect(() => ledger.begin(entered)).toThrow("running");
    ledger.close("keep");
  });

  test("a long journal becomes one line that says the same", () => {
    const first = open();
    first.startSession("s1");
    first.takeFence({ epoch: 3, ownerNonce: "n" }, "store");
    first.accept(operation("one"));
    first.accept(operation("two"));
    first.revoke("two");
    const { ledgerId } = first;
    let seq = first.ledgerSeq();
    first.close("keep");
    const journal = openJournal(file());
    for (let line = 0; line < 5000; line += 1) {
      seq += 1;
      const filler: JournalEntry = { seq, at: 1, kind: "acknowledged", operationIds: [] };
      journal.append(filler);
    }
    journal.close("keep");

    open().close("keep");
    expect(readFileSync(file(), "utf8").trim().split("\n")).toHaveLength(1);
    const again = open();
    expect(again.ledgerId).toBe(ledgerId);
    expect(again.ledgerSeq()).toBe(seq);
    expect(again.fence()).toEqual({ epoch: 3, ownerNonce: "n" });
    expect(again.boundStore()).toMatchObject({ storeId: "store" });
    expect(again.latestOfHash("h")?.operationId).toBe("one");
    again.startSession("s2");
    expect(again.previousSession()).toEqual({ editorSessionId: "s1", ledgerSeq: seq });
    again.close("keep");
  });

  const openCut = (bytes: Buffer) => {
    writeFileSync(file(), bytes);
    return open();
  };
});

describe("progress", () => {
  test("is sent at once, then at most once an interval, the last one always", () => {
    let now = 0;
    const waiting: (() => void)[] = [];
    const sent: number[] = [];
    const timers = {
      after: (_ms: number, action: () => void) => {
        waiting.push(action);
        return () => void waiting.splice(waiting.indexOf(action), 1);
      },
      every: () => () => {},
      onClose: () => {},
      close: () => {},
    };
    const throttle = createProgressThrottle(
      { timers, now: () => now, send: (report) => void sent.push(report.progress) },
      { intervalMs: 250 },
    );
    for (now = 0; now < 1000; now += 10) {
      throttle.report({ progress: now });
      if (now % 250 === 240) waiting.pop()?.();
    }
    expect(sent.length).toBeLessThanOrEqual(5);
    throttle.report({ progress: 9999 });
    throttle.flush();
    expect(sent.at(-1)).toBe(9999);
    throttle.flush();
    expect(sent.filter((progress) => progress === 9999)).toHaveLength(1);
  });
});

test("a closed Editor leaves no socket, server or timer behind", async () => {
  const editor = await stage.editor();
  const owner = await stage.owner(editor);
  await owner.submit("op", { arguments: { MenuItemPath: "Simulator/Block For 30 Seconds" } });
  await owner.submit("tests", { tool: "run-tests" });
  await owner.notice("operation/running");
  editor.faults.stallMainThread(60_000);
  editor.faults.silence(60_000);
  editor.faults.delayAnswers(60_000);
  owner.request("operation/list").catch(() => {});
  const reloading = editor.faults.reload(60_000);
  await editor.close();
  await reloading;
  await owner.gone;
  await expectNoLeak();
});

test("the end of an operation is told when all of it is on disk", async () => {
  const editor = await stage.editor({ ledgerFolder: folder });
  const owner = await stage.owner(editor);
  const journals: string[] = [];
  const write = vi.spyOn(Socket.prototype, "write").mockImplementation(function (this: Socket, ...args) {
    if (String(args[0]).includes("operation/finished")) journals.push(readFileSync(file(), "utf8"));
    return written.apply(this, args);
  });
  await owner.submit("op", { arguments: { MenuItemPath: "Assets/Refresh" } });
  await owner.finished("op");
  write.mockRestore();
  expect(journals).toHaveLength(1);
  expect(journals[0]).toMatch(/"kind":"accepted".*"kind":"running".*"kind":"ended"/s);
});

test("a tool is invoked when the disk knows that it began, and a crash from then on makes it interrupted", async () => {
  const invoked: string[] = [];
  const look: SimulatedTool = {
    ...echoTool("look", "mutating"),
    run: () => {
      invoked.push(readFileSync(file(), "utf8"));
      return new Promise(() => {});
    },
  };
  const editor = await stage.editor({ ledgerFolder: folder, tools: [look] });
  const owner = await stage.owner(editor);
  await owner.submit("op", { tool: "look", arguments: {} });
  await owner.notice("operation/running");
  expect(invoked).toHaveLength(1);
  expect(invoked[0]).toMatch(/"kind":"accepted".*"kind":"running"/s);
  await editor.faults.crash();
  await editor.faults.restart();
  const next = await stage.owner(editor, { epoch: 2 });
  expect(await next.request("operation/get", { operationId: "op" })).toMatchObject({
    state: "interrupted",
    outcome: { error: { type: "editor_exit" } },
  });
  expect(invoked).toHaveLength(1);
});
