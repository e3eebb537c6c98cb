import { copyFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLedger } from "../../../src/simulator/ledger/ledger.js";

const golden = (name: string) => fileURLToPath(new URL(`../../golden/${name}`, import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bridge-ledger-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (name: string) => {
  const file = join(folder, "ledger.log");
  copyFileSync(golden(name), file);
  return openLedger({ file, now: () => 1000, forgetAfterMs: 0, keepOperations: 1000 });
};

/** The bridge's own tests write this file and compare it. */
test.each(["ledger-of-bridge.txt", "ledger-of-bridge-compacted.txt"])(
  "the simulator reads %s, a ledger of the C# bridge, to its last line",
  (name) => {
    const ledger = open(name);
    expect(ledger.ledgerSeq()).toBe(21);
    expect(ledger.fence()).toEqual({ epoch: 3, ownerNonce: "n" });
    expect(ledger.boundStore()).toEqual({ storeId: "store", since: 1000 });
    expect(ledger.previousSession()).toMatchObject({ editorSessionId: "s1" });
    expect(ledger.forgetHorizon()).toBe(2);
    expect(ledger.operations().map(({ operationId, state }) => `${operationId}: ${state}`)).toEqual([
      "done: completed",
      "never submitted: revoked",
      "not started: not_started",
      "failed: failed",
      "running: running",
      "accepted: accepted",
    ]);
    expect(ledger.get("done")).toMatchObject({
      outcome: { result: { text: "äöü – 日本語" }, startedAt: 1000, endedAt: 2000, executionMs: 1000 },
      acknowledgedAt: 1000,
    });
    expect(ledger.get("failed")?.outcome?.error).toEqual({
      type: "internal_error",
      message: 'It "failed".',
      stack: "at A\nat B",
    });
    expect(ledger.get("accepted")).toMatchObject({
      hash: "h4",
      after: null,
      origin: { principal: "local" },
      arguments: { Path: "A/B" },
      argumentsHash: "a",
      acceptedAt: 1,
      readOnly: false,
    });
    expect(ledger.latestOfHash("h4")?.operationId).toBe("accepted");
    ledger.close("keep");
  },
);
