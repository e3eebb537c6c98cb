/** What the simulated Editor's ledger lets go of, and what protects that afterwards. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { admit } from "../../../src/shared/operation/decide.js";
import type { SubmitParams } from "../../../src/shared/wire/wire.js";
import type { LedgerOperation } from "../../../src/simulator/ledger/journal-entry.js";
import { forgettable, openLedger } from "../../../src/simulator/ledger/ledger.js";

interface GoldenCase {
  name: string;
  now: number;
  forgetAfterMs: number;
  keepOperations: number;
  horizon: number;
  operations: Omit<LedgerOperation, "readOnly">[];
  forgotten: string[];
  horizonAfter: number;
}

describe("forgetting follows the golden table", () => {
  const golden = JSON.parse(
    readFileSync(new URL("../../golden/forgetting.json", import.meta.url), "utf8"),
  ) as {
    cases: GoldenCase[];
  };
  test.each(golden.cases.map((entry) => [entry.name, entry] as const))("%s", (_name, entry) => {
    const { now, horizon, forgotten, horizonAfter, ...limits } = entry;
    const operations = entry.operations.map((operation) => ({ ...operation, readOnly: false }));
    const reported = forgettable(operations, { now, horizon }, limits);
    expect(reported?.operationIds ?? []).toEqual(forgotten);
    expect(reported?.horizon ?? horizon).toBe(horizonAfter);
  });
});

describe("a ledger of many hashes", () => {
  const RETENTION = 1000;
  const KEPT = 100;
  let folder: string;
  let now = 0;
  beforeEach(async () => {
    // In memory where there is such a place: it flushes twice for each operation.
    folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "simulated-ledger-"));
    now = 10_000;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const file = () => join(folder, "ledger.log");
  const open = () =>
    openLedger({
      file: file(),
      now: () => now,
      forgetAfterMs: RETENTION,
      keepOperations: KEPT,
      compactLines: 50,
    });
  const live = (ids: readonly string[], acceptedAt: number) => {
    const ledger = open();
    ledger.startSession(`session-${acceptedAt}`);
    ledger.takeFence({ epoch: 1, ownerNonce: "n" }, "store");
    for (const id of ids) {
      const operation: LedgerOperation = {
        operationId: id,
        state: "accepted",
        hash: `hash-of-${id}`,
        after: null,
        argumentsHash: "a",
        acceptedAt,
        readOnly: false,
      };
      ledger.accept(operation);
      const entered = ledger.get(id);
      if (!entered) throw new Error("not entered");
      ledger.begin(entered);
      ledger.end(entered, { status: "completed", result: { text: "x".repeat(50) }, endedAt: 2000 });
      ledger.acknowledge([id]);
    }
    ledger.close("keep");
  };
  /** Its size after the retention and a compaction. */
  const settled = () => {
    now += RETENTION;
    const ledger = open();
    const size = { entries: ledger.operations().length, bytes: statSync(file()).size };
    return { ledger, size };
  };
  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(4, "0")}`);

  test("opening adds no entry to what the session before wrote", () => {
    live(named("a", KEPT + 20), 1000);
    const before = open();
    const written = before.ledgerSeq();
    before.close("keep");
    now += RETENTION;
    const ledger = open();
    ledger.startSession("next");
    // A ledger that was put back must not grow up to the one that was seen.
    expect(ledger.previousSession()?.ledgerSeq).toBe(written);
    ledger.close("keep");
  });

  test("is not read as a whole for every acknowledgement", () => {
    live(named("a", KEPT + 1), 1000);
    const ledger = open();
    const known = () => ledger.operations().length;
    now += RETENTION - 0.5;
    ledger.forget();
    now += 0.5;
    ledger.forget();
    expect(known()).toBe(KEPT + 1);
    now += 0.5;
    ledger.forget();
    expect(known()).toBe(KEPT);
    ledger.close("keep");
  });

  test("is back at its first size after the retention, and RETIRED protects what it forgot", () => {
    live(named("a", KEPT), 1000);
    const first = settled();
    expect(first.size.entries).toBe(KEPT);
    first.ledger.close("keep");

    const many = named("b", 2000);
    live(many, 2000);
    const then = settled();
    expect(then.size.entries).toBe(KEPT);
    expect(Math.abs(then.size.bytes - first.size.bytes)).toBeLessThan(100);

    const { ledger } = then;
    const submit = (operationId: string, acceptedAt: number): SubmitParams => ({
      operationId,
      hash: `hash-of-${operationId}`,
      after: null,
      origin: { principal: "local", tool: "build", fingerprint: "f" },
      tool: "build",
      arguments: {},
      argumentsHash: "a",
      acceptedAt,
      epoch: 1,
      ownerNonce: "n",
      ledgerId: ledger.ledgerId,
    });
    const decide = (operationId: string, acceptedAt: number) =>
      admit(
        {
          ledgerId: ledger.ledgerId,
          fence: ledger.fence(),
          forgetHorizon: ledger.forgetHorizon(),
          get: ledger.get,
          latestOfHash: ledger.latestOfHash,
          hasTool: () => true,
          isReadOnly: () => false,
          securityRefusal: () => undefined,
        },
        submit(operationId, acceptedAt),
      );
    for (const id of many) {
      const admitted = decide(id, 2000);
      expect(admitted).toMatchObject(ledger.get(id) ? { kind: "attach" } : { code: "RETIRED" });
    }
    expect(decide("new", 2001)).toEqual({ kind: "run" });
    ledger.close("keep");
  });
});
