/** The methods `operation/*` over the ledger (docs/reference/protocol.md, "Operations"). Each answers at once. */

import { z } from "zod";
import { type AdmitLedger, admit } from "../shared/operation/decide.js";
import { RPC_INVALID_PARAMS } from "../shared/wire/rpc.js";
import { EDITOR_CODES, type Outcome, SubmitParams } from "../shared/wire/wire.js";
import { type Executions, failure } from "./execution.js";
import type { Lanes } from "./lanes.js";
import type { LedgerOperation } from "./ledger/journal-entry.js";
import { hasEnded, type Ledger } from "./ledger/ledger.js";
import type { LargeResults } from "./results/large-results.js";
import type { ToolTable } from "./tools.js";
import type { Answer } from "./wire/tcp-server.js";

export interface OperationsDeps {
  ledger: Ledger;
  executions: Executions;
  lanes: Lanes;
  tools: ToolTable;
  results: LargeResults;
  now(): number;
  securityRefusal(tool: string, args: Record<string, unknown>): string | undefined;
}

const OneId = z.looseObject({ operationId: z.string() });
const Ids = z.looseObject({ operationIds: z.array(z.string()) });
const Cursor = z.looseObject({ cursor: z.string().optional() });
const Part = z.looseObject({
  operationId: z.string(),
  offset: z.int().nonnegative(),
  length: z.int().positive(),
});

/** Far below a frame's limit, however long the recovery metadata is. */
const LIST_LIMITS = { operations: 500, characters: 256 * 1024 };

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(deps: OperationsDeps) {
  const { ledger } = deps;
  const answer = (result: object): Answer => ({ result: { ...result, ledgerSeq: ledger.ledgerSeq() } });
  const unavailable = (error: unknown): Answer => ({
    error: {
      code: EDITOR_CODES.LEDGER_UNAVAILABLE,
      message: error instanceof Error ? error.message : String(error),
      data: { ledgerSeq: ledger.ledgerSeq() },
    },
  });

  const admission: AdmitLedger = {
    ledgerId: ledger.ledgerId,
    get fence() {
      return ledger.fence();
    },
    get forgetHorizon() {
      return ledger.forgetHorizon();
    },
    get: (operationId) => ledger.get(operationId),
    latestOfHash: (hash) => ledger.latestOfHash(hash),
    hasTool: (tool) => deps.tools.get(tool) !== undefined,
    isReadOnly: (tool) => deps.tools.get(tool)?.effect === "read_only",
    securityRefusal: deps.securityRefusal,
  };

  /** Enters an operation into the ledger and queues it; throws if the ledger cannot be written. */
  const accept = (operation: LedgerOperation): void => {
    ledger.accept(operation);
    const entered = ledger.get(operation.operationId);
    if (entered) deps.executions.queue(entered);
  };

  /** Remembers the operation with its refusal, so that asking again gives the same answer. */
  const refuseForSecurity = (operation: LedgerOperation, reason: string): Outcome => {
    const outcome = failure("security_blocked", reason, deps.now());
    ledger.accept(operation);
    const entered = ledger.get(operation.operationId);
    if (entered) ledger.end(entered, outcome);
    return outcome;
  };

  const submit = (params: unknown): Answer => {
    const parsed = SubmitParams.safeParse(params);
    if (!parsed.success) return badParams(parsed.error);
    const request = parsed.data;
    const admitted = admit(admission, request);
    const operation: LedgerOperation = {
      operationId: request.operationId,
      state: "accepted",
      hash: request.hash,
      after: request.after,
      origin: request.origin,
      tool: request.tool,
      arguments: request.arguments,
      argumentsHash: request.argumentsHash,
      acceptedAt: request.acceptedAt,
      readOnly: admission.isReadOnly(request.tool),
    };
    try {
      switch (admitted.kind) {
        case "run":
          accept(operation);
          return answer({ state: "accepted" });
        case "security_refused":
          return answer({ state: "failed", outcome: refuseForSecurity(operation, admitted.reason) });
        case "attach": {
          const { state, outcome } = admitted;
          return answer({ state, ...(outcome ? { outcome: deps.results.inFrame(outcome) } : {}) });
        }
        case "same_as": {
          const { kind, outcome, ...known } = admitted;
          return answer({
            state: kind,
            ...known,
            ...(outcome ? { outcome: deps.results.inFrame(outcome) } : {}),
          });
        }
        case "refuse": {
          const { code, message, highestEpoch } = admitted;
          const data = {
            ledgerSeq: ledger.ledgerSeq(),
            ...(highestEpoch === undefined ? {} : { highestEpoch }),
          };
          return { error: { code: EDITOR_CODES[code], message, data } };
        }
      }
    } catch (error) {
      return unavailable(error);
    }
  };

  const get = (operationId: string): Answer => {
    const operation = ledger.get(operationId);
    if (!operation) return answer({ state: "unknown" });
    const progress = deps.executions.progressOf(operationId);
    return answer({
      state: operation.state,
      ...(operation.origin ? { origin: operation.origin } : {}),
      ...(progress ? { progress } : {}),
      ...(progress?.partialResult === undefined ? {} : { partialResult: progress.partialResult }),
      ...(operation.outcome ? { outcome: deps.results.inFrame(operation.outcome) } : {}),
    });
  };

  const revoke = (operationId: string): Answer => {
    const operation = ledger.get(operationId);
    if (operation?.state === "revoked") return answer({ state: "revoked" });
    if (operation?.state === "running") return answer({ state: "already_started" });
    if (operation && hasEnded(operation)) return answer({ state: "finished" });
    try {
      // The line first: between it and the queue nothing else can run on this thread.
      ledger.revoke(operationId);
    } catch (error) {
      return unavailable(error);
    }
    deps.lanes.remove(operationId);
    return answer({ state: "revoked" });
  };

  const cancel = (operationId: string): Answer => {
    const operation = ledger.get(operationId);
    if (!operation) {
      return { error: { code: RPC_INVALID_PARAMS, message: `There is no operation ${operationId} here.` } };
    }
    if (operation.state === "running") {
      const requested = deps.executions.requestCancel(operation);
      return answer({ state: requested ? "requested" : "not_cancellable" });
    }
    // not_started and revoked operations do not run without a new submit.
    if (operation.state !== "accepted") return answer({ state: "finished" });
    deps.lanes.remove(operationId);
    deps.executions.settle(operation, {
      status: "cancelled",
      error: { type: "cancelled", message: "Cancelled before it began." },
      endedAt: deps.now(),
    });
    return answer({ state: "cancelled" });
  };

  const list = (cursor: string | undefined): Answer => {
    const listing = listPage(
      ledger.operations(),
      cursor,
      (operation) => JSON.stringify(listed(operation)).length,
      LIST_LIMITS,
    );
    if (!listing)
      return { error: { code: RPC_INVALID_PARAMS, message: "The cursor does not belong to this list." } };
    const { page, nextCursor } = listing;
    return answer({
      operations: page.map(listed),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    });
  };

  const acknowledge = (operationIds: readonly string[]): Answer => {
    ledger.acknowledge(operationIds);
    ledger.forget();
    for (const id of operationIds) deps.executions.forgetProgress(id);
    return answer({});
  };

  return {
    accept,
    refuseForSecurity,
    /** Answers an `operation/*` request of the seated worker; undefined for another method. */
    handle(method: string, params: unknown): Answer | undefined {
      switch (method) {
        case "operation/submit":
          return submit(params);
        case "operation/get":
          return withParams(OneId, params, ({ operationId }) => get(operationId));
        case "operation/revoke":
          return withParams(OneId, params, ({ operationId }) => revoke(operationId));
        case "operation/cancel":
          return withParams(OneId, params, ({ operationId }) => cancel(operationId));
        case "operation/list":
          return withParams(Cursor, params ?? {}, ({ cursor }) => list(cursor));
        case "operation/result":
          return withParams(Part, params, ({ operationId, offset, length }) => {
            const part = deps.results.part(ledger.get(operationId), offset, length);
            return part
              ? answer({ operationId, ...part })
              : {
                  error: { code: RPC_INVALID_PARAMS, message: `There is no result of ${operationId} here.` },
                };
          });
        case "operation/ack":
          return withParams(Ids, params, ({ operationIds }) => acknowledge(operationIds));
        default:
          return undefined;
      }
    },
  };
}

/** An operation without its arguments and outcome; the worker requests the outcome. */
function listed(operation: LedgerOperation): object {
  const { arguments: _arguments, outcome, startedAt: began, ...known } = operation;
  const startedAt = outcome ? outcome.startedAt : began;
  return {
    ...known,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(outcome ? { endedAt: outcome.endedAt } : {}),
    ...(outcome?.endedIn ? { endedIn: outcome.endedIn } : {}),
  };
}

function withParams<T>(schema: z.ZodType<T>, params: unknown, then: (value: T) => Answer): Answer {
  const parsed = schema.safeParse(params);
  return parsed.success ? then(parsed.data) : badParams(parsed.error);
}

export function badParams(error: z.ZodError): Answer {
  return { error: { code: RPC_INVALID_PARAMS, message: z.prettifyError(error) } };
}

/**
 * Which operations an answer to `operation/list` contains; pure. The C# bridge has a twin of this, and both read
 * test/golden/list.json.
 *
 * A cursor names a place in the order of acceptance, which no operation ever changes, so that no event
 * between two pages can skip one.
 */
interface Listable {
  operationId: string;
  /** Absent when it was revoked before it was ever submitted. */
  acceptedAt?: number;
}

interface PageLimits {
  operations: number;
  /** Characters of JSON; a single operation may have more. */
  characters: number;
}

interface ListPage<T> {
  page: T[];
  /** Absent on the last page. */
  nextCursor?: string;
}

interface Place {
  acceptedAt: number;
  operationId: string;
}

/** Undefined if the cursor is invalid. */
export function listPage<T extends Listable>(
  operations: readonly T[],
  cursor: string | undefined,
  charactersOf: (operation: T) => number,
  limits: PageLimits,
): ListPage<T> | undefined {
  const behind = cursor === undefined ? undefined : placeOfCursor(cursor);
  if (cursor !== undefined && behind === undefined) return undefined;
  const all = operations
    .filter((operation) => !behind || compare(placeOf(operation), behind) > 0)
    .sort((a, b) => compare(placeOf(a), placeOf(b)));
  const page = all.slice(0, fitting(all, charactersOf, limits));
  const last = page.at(-1);
  return last === undefined || page.length === all.length
    ? { page }
    : { page, nextCursor: cursorOf(placeOf(last)) };
}

/** How many fit; at least one, so that every page makes progress. */
function fitting<T>(all: readonly T[], charactersOf: (one: T) => number, limits: PageLimits): number {
  let characters = 0;
  for (const [index, one] of all.entries()) {
    characters += charactersOf(one);
    if (index >= limits.operations || (index > 0 && characters > limits.characters)) return index;
  }
  return all.length;
}

function placeOf({ operationId, acceptedAt }: Listable): Place {
  return { acceptedAt: acceptedAt ?? 0, operationId };
}

function compare(a: Place, b: Place): number {
  if (a.acceptedAt !== b.acceptedAt) return a.acceptedAt - b.acceptedAt;
  if (a.operationId === b.operationId) return 0;
  return a.operationId < b.operationId ? -1 : 1;
}

function cursorOf({ acceptedAt, operationId }: Place): string {
  return `${acceptedAt}:${operationId}`;
}

function placeOfCursor(cursor: string): Place | undefined {
  const [, acceptedAt, operationId] = /^(\d+):(.*)$/s.exec(cursor) ?? [];
  if (acceptedAt === undefined || operationId === undefined) return undefined;
  return { acceptedAt: Number(acceptedAt), operationId };
}
