/**
 * The uLoop-compatible calls of plain clients: every tool by its own name (docs/reference/protocol.md, section 2).
 *
 * They use the ledger too. An identical call of the same client joins a call that is open, or whose answer was never
 * returned, instead of running again: such clients repeat a call that they believe lost.
 */
import { createHash, randomUUID } from "node:crypto";
import { RPC_INTERNAL_ERROR, RPC_UNKNOWN_METHOD } from "../../shared/wire/rpc.js";
import type { Outcome } from "../../shared/wire/wire.js";
import type { LedgerOperation } from "../ledger/journal-entry.js";
import { hasEnded, type Ledger } from "../ledger/ledger.js";
import type { Operations } from "../operation-methods.js";
import type { LargeResults } from "../results/large-results.js";
import type { ToolTable } from "../tools.js";
import type { Answer } from "./tcp-server.js";

export interface UloopSurfaceDeps {
  results: LargeResults;
  ledger: Ledger;
  operations: Operations;
  tools: ToolTable;
  now(): number;
  securityRefusal(tool: string, args: Record<string, unknown>): string | undefined;
}

export type UloopSurface = ReturnType<typeof createUloopSurface>;

export function createUloopSurface(deps: UloopSurfaceDeps) {
  const waiting = new Map<string, ((outcome: Outcome) => void)[]>();

  const start = (hash: string, clientName: string, tool: string, args: Record<string, unknown>) => {
    const operation: LedgerOperation = {
      operationId: `plain-${randomUUID()}`,
      state: "accepted",
      hash,
      after: deps.ledger.latestOfHash(hash)?.operationId ?? null,
      origin: { principal: clientName, tool, fingerprint: hash },
      tool,
      arguments: args,
      argumentsHash: hash,
      acceptedAt: deps.now(),
      readOnly: deps.tools.get(tool)?.effect === "read_only",
    };
    deps.operations.accept(operation);
    return operation.operationId;
  };

  const outcomeOf = (operationId: string): Promise<Outcome> => {
    const known = deps.ledger.get(operationId);
    if (known?.outcome && hasEnded(known)) return Promise.resolve(known.outcome);
    return new Promise((resolve) => {
      waiting.set(operationId, [...(waiting.get(operationId) ?? []), resolve]);
    });
  };

  return {
    /** Answers the waiting plain callers; others learn of an outcome in their own ways. */
    ended(operation: LedgerOperation, outcome: Outcome): void {
      for (const resolve of waiting.get(operation.operationId) ?? []) resolve(outcome);
      waiting.delete(operation.operationId);
    },
    async call(clientName: string, tool: string, params: unknown): Promise<Answer> {
      if (!deps.tools.get(tool)) {
        return { error: { code: RPC_UNKNOWN_METHOD, message: `There is no method ${tool}.` } };
      }
      const args = isRecord(params) ? params : {};
      const refusal = deps.securityRefusal(tool, args);
      if (refusal !== undefined) return blocked(tool, refusal);
      const hash = `plain:${digest([clientName, tool, sorted(args)])}`;
      const latest = deps.ledger
        .operations()
        .findLast((operation) => operation.hash === hash && operation.acknowledgedAt === undefined);
      const joined = latest && (latest.outcome !== undefined || !hasEnded(latest)) ? latest : undefined;
      let operationId: string;
      try {
        operationId = joined?.operationId ?? start(hash, clientName, tool, args);
      } catch (error) {
        return internal("internal_error", error instanceof Error ? error.message : String(error));
      }
      const outcome = await outcomeOf(operationId);
      // If the answer cannot be written the call stays unreturned, and the next identical call gets this outcome.
      const afterwards = (): void => deps.ledger.acknowledge([operationId]);
      if (outcome.status === "completed") return { result: deps.results.whole(outcome) ?? null, afterwards };
      return { ...internal("internal_error", outcome.error?.message ?? outcome.status), afterwards };
    },
  };
}

export function blocked(command: string, reason: string): Answer {
  return {
    error: { code: RPC_INTERNAL_ERROR, message: reason, data: { type: "security_blocked", command, reason } },
  };
}

function internal(type: string, message: string): Answer {
  return { error: { code: RPC_INTERNAL_ERROR, message, data: { type, message } } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** The same arguments in another order are the same call. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
