/** Builds the record of a call that becomes an operation. */
import type { ReplayOptions } from "../shared/operation/again.js";
import type { Decision } from "../shared/operation/decide.js";
import type { OperationRecord } from "../shared/operation/operation.js";
import type { Chain } from "../shared/store/operations/chain.js";
import type { ReadCall } from "./call-reader.js";
import type { CallTimes } from "./call-times.js";

export function newRecord(
  call: ReadCall,
  decision: Extract<Decision, { kind: "create" }>,
  chain: Chain,
  logId: string,
  { executionClass, maxExecutionMs, replayWindowMs }: CallTimes & Pick<ReplayOptions, "replayWindowMs">,
): OperationRecord {
  const { tool } = call;
  return {
    logId,
    hash: call.hash,
    fingerprint: call.fingerprint,
    principal: call.principal,
    tool: tool.name,
    effect: tool.effect,
    lane: tool.lane,
    cancellable: tool.cancellable,
    executionClass,
    ...(maxExecutionMs === undefined ? {} : { maxExecutionMs }),
    ...(tool.effect === "mutating" ? { replayWindowMs } : {}),
    keyed: call.parameters.idempotencyKey !== undefined,
    editor: decision.editor,
    ...(decision.pool === undefined ? {} : { pool: decision.pool }),
    editorOpen: decision.editorOpen,
    after: decision.after,
    ...(decision.supersedes === undefined ? {} : { supersedes: decision.supersedes }),
    ...(decision.askers === undefined ? {} : { askers: decision.askers }),
    order: Number(chain.version) + 1,
    entered: Number(chain.version) + 1,
    incarnation: chain.incarnation,
    priorityClass: call.priorityClass,
    // The script counts; readers get the count from beside the record.
    mutationSeq: 0,
    state: "queued",
    acceptedAt: chain.now,
    createdBy: createdBy(call),
    ...(call.trace === undefined ? {} : { trace: call.trace }),
  };
}

function createdBy({ caller, requestId, client }: ReadCall): OperationRecord["createdBy"] {
  return {
    caller: caller.id,
    requestId,
    ...(caller.isSingleRequest ? {} : { transport: caller.transport }),
    ...(client === undefined ? {} : { client }),
  };
}
