import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AdmitLedger,
  type AdmittedOperation,
  admit,
  type Fence,
} from "../../../../src/shared/operation/decide.js";
import type { LedgerState, SubmitParams } from "../../../../src/shared/wire/wire.js";

interface GoldenOperation extends AdmittedOperation {
  hash?: string;
  readOnly?: boolean;
}

interface GoldenLedger {
  ledgerId: string;
  fence: Fence | null;
  forgetHorizon: number;
  tools: Record<string, { readOnly: boolean; refused?: string }>;
  operations: GoldenOperation[];
}

interface GoldenCase {
  name: string;
  ledger: GoldenLedger;
  submit: SubmitParams;
  expected: Record<string, unknown>;
}

const golden = JSON.parse(readFileSync(new URL("../../../golden/admit.json", import.meta.url), "utf8")) as {
  cases: GoldenCase[];
};

describe("admit follows the golden table", () => {
  test.each(golden.cases.map((entry) => [entry.name, entry] as const))("%s", (_name, entry) => {
    const { message, ...admission } = { message: undefined, ...admit(asLedger(entry.ledger), entry.submit) };
    expect(admission).toEqual(entry.expected);
    if (admission.kind === "refuse") expect(message).toMatch(/\w/);
  });

  test("every way out is in the table", () => {
    const seen = new Set(golden.cases.map(({ expected }) => expected.code ?? expected.kind));
    expect([...seen].sort()).toEqual([
      "FENCED",
      "LEDGER_LOST",
      "OPERATION_ID_CONFLICT",
      "RETIRED",
      "REVOKED",
      "UNKNOWN_TOOL",
      "attach",
      "run",
      "same_as",
      "security_refused",
    ]);
  });
});

describe("whatever is submitted in whatever order", () => {
  const submits = fc.array(
    fc.record({
      id: fc.constantFrom("a", "b", "c", "d"),
      after: fc.constantFrom(null, "a", "b", "c", "d", "z"),
      event: fc.constantFrom<"nothing" | "begin" | "end" | "revoke">("nothing", "begin", "end", "revoke"),
    }),
    { maxLength: 30 },
  );

  test("no id runs twice, and a run of a hash is always told what stood before it", () => {
    fc.assert(
      fc.property(submits, (steps) => {
        const ledger: GoldenLedger = {
          ledgerId: "l",
          fence: { epoch: 1, ownerNonce: "n" },
          forgetHorizon: 0,
          tools: { build: { readOnly: false } },
          operations: [],
        };
        const ran: string[] = [];
        for (const step of steps) {
          const before = latest(ledger, "h");
          const admission = admit(asLedger(ledger), submitOf(step.id, step.after));
          if (admission.kind === "run") {
            expect(ran).not.toContain(step.id);
            if (before) expect(step.after).toBe(before.operationId);
            ran.push(step.id);
            ledger.operations.push({
              operationId: step.id,
              state: "accepted",
              hash: "h",
              argumentsHash: "x",
            });
          }
          const known = ledger.operations.find((operation) => operation.operationId === step.id);
          if (known) known.state = afterwards(known.state, step.event);
        }
      }),
    );
  });
});

function afterwards(state: LedgerState, event: "nothing" | "begin" | "end" | "revoke"): LedgerState {
  if (event === "begin" && state === "accepted") return "running";
  if (event === "end" && state === "running") return "completed";
  if (event === "revoke" && state === "accepted") return "revoked";
  return state;
}

function submitOf(operationId: string, after: string | null): SubmitParams {
  return {
    operationId,
    hash: "h",
    after,
    origin: { principal: "local", tool: "build", fingerprint: "f" },
    tool: "build",
    arguments: {},
    argumentsHash: "x",
    acceptedAt: 1,
    epoch: 1,
    ownerNonce: "n",
    ledgerId: "l",
  };
}

function latest(ledger: GoldenLedger, hash: string): GoldenOperation | undefined {
  return ledger.operations.findLast((op) => op.hash === hash && op.state !== "revoked" && !op.readOnly);
}

function asLedger(ledger: GoldenLedger): AdmitLedger {
  return {
    ledgerId: ledger.ledgerId,
    fence: ledger.fence ?? undefined,
    forgetHorizon: ledger.forgetHorizon,
    get: (id) => ledger.operations.find((operation) => operation.operationId === id),
    latestOfHash: (hash) => latest(ledger, hash),
    hasTool: (tool) => ledger.tools[tool] !== undefined,
    isReadOnly: (tool) => ledger.tools[tool]?.readOnly ?? false,
    securityRefusal: (tool) => ledger.tools[tool]?.refused,
  };
}
