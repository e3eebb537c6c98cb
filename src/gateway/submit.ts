/** The verb submit: a call becomes an operation, or finds the one that it repeats. */
import { randomUUID } from "node:crypto";
import { type Decision, decide } from "../shared/decide.js";
import { BrokerError } from "../shared/errors.js";
import { executionClassOf } from "../shared/execution-class.js";
import type { JsonObject } from "../shared/idempotency.js";
import type { OperationRecord } from "../shared/operation.js";
import type { Editors } from "../shared/redis/editors.js";
import type { Chain, Operations } from "../shared/redis/operations.js";
import type { Queues } from "../shared/redis/queue.js";
import type { Tally } from "../shared/redis/tally.js";
import type { ReplayOptions } from "../shared/replay.js";
import { repetitionCounts } from "../shared/tally.js";
import type { Duplicate } from "../shared/timeline.js";
import type { ExecutionClass } from "../shared/tool.js";
import { type CallReader, type ReadCall, type ToolCall, targetError } from "./call-reader.js";
import type { Deliveries } from "./deliveries.js";
import { newRecord } from "./new-record.js";
import { withTroubles } from "./troubles.js";

export interface Submission {
  record: OperationRecord;
  relation: "created" | "joined" | "replayed";
  /** Seconds to wait, as the caller wrote it. */
  timeout: unknown;
}

export interface SubmitDeps {
  operations: Operations;
  queues: Queues;
  editors: Editors;
  calls: CallReader;
  deliveries: Deliveries;
  tally: Pick<Tally, "add">;
  /** The operation's job was added and read back. */
  jobAdded(logId: string): void;
  newLogId?: () => string;
}

export interface SubmitOptions {
  replay: ReplayOptions;
  /** By tool, where its own description does not say. */
  executionClasses?: Readonly<Record<string, ExecutionClass>>;
}

/** Throws BrokerError; then nothing was accepted. */
export function createSubmit(
  deps: SubmitDeps,
  options: SubmitOptions,
): (call: ToolCall) => Promise<Submission> {
  const { operations, queues, editors, deliveries } = deps;
  const newLogId = deps.newLogId ?? randomUUID;

  /** ▲1 The job follows the record. Adding it twice is harmless, so whoever finds `accepted` adds it. */
  const enqueue = async (record: OperationRecord): Promise<void> => {
    if (await queues.add(record)) deps.jobAdded(record.logId);
  };

  const noteDuplicate = (
    { logId }: OperationRecord,
    relation: Duplicate["relation"],
    { requester }: ReadCall,
    { now }: Chain,
  ): Promise<void> =>
    operations.noteDuplicate(logId, {
      at: now,
      relation,
      caller: requester.caller?.id ?? null,
      requestId: requester.requestId,
    });

  const classOf = async ({ tool, arguments: args }: ReadCall): Promise<ExecutionClass> => {
    const told = tool.executionClass;
    const configured = options.executionClasses?.[tool.name];
    const isKnown = told !== undefined || configured !== undefined;
    return executionClassOf({
      tool: tool.name,
      told,
      configured,
      recordedMs: isKnown ? [] : await operations.durationsOf(tool.name),
      arguments: JSON.parse(args) as JsonObject,
    });
  };

  const carryOut = async (
    call: ReadCall,
    decision: Decision,
    chain: Chain,
  ): Promise<Omit<Submission, "timeout"> | undefined> => {
    switch (decision.kind) {
      case "refuse":
        throw refusal(decision.problem, call);
      case "replay":
        await noteDuplicate(decision.record, "replayed", call, chain);
        return { record: decision.record, relation: "replayed" };
      case "join": {
        const { record } = decision;
        await noteDuplicate(record, "joined", call, chain);
        if (record.state === "accepted") await enqueue(record);
        return { record, relation: "joined" };
      }
      case "create": {
        const record = newRecord(call, decision, chain, newLogId(), await classOf(call));
        const created = await operations.create(record, call.arguments, chain.version);
        if (created.kind === "too_many") throw tooMany();
        if (created.kind === "full")
          throw new BrokerError("STORE_FULL", "Redis keeps as many results or arguments as it may.");
        if (created.kind !== "created") return undefined;
        await enqueue(created.record);
        return { record: created.record, relation: "created" };
      }
    }
  };

  return async (call) => {
    const readCall = await deps.calls.read(call).catch(async (error: unknown) => {
      throw await withTroubles(error, deps);
    });
    const { requester, tool, parameters } = readCall;
    await deliveries.heard(requester, readCall.hash);
    if (parameters.forceNew !== undefined) await deliveries.confirm(requester, parameters.forceNew);
    const named = parameters.forceNew === undefined ? undefined : await operations.find(parameters.forceNew);
    for (;;) {
      // A mutating call that is accepted between the two is concurrent with this one (▲5).
      const [chain, known] = await Promise.all([
        operations.chain(readCall.hash, parameters.forceNew),
        editors.mutations(readCall.editorIds),
      ]);
      const decision = decide(
        { ...chain, editors: known },
        {
          ...requester,
          tool: tool.name,
          effect: tool.effect,
          fingerprint: readCall.fingerprint,
          hash: readCall.hash,
          target: readCall.target,
          keyed: parameters.idempotencyKey !== undefined,
          forceNew: parameters.forceNew,
          forceNewHash: named?.principal === call.principal ? named.hash : undefined,
        },
        options.replay,
      );
      const done = await carryOut(readCall, decision, chain);
      if (!done) continue;
      if (done.relation !== "created") deps.tally.add(repetitionCounts(done.relation));
      return { ...done, timeout: parameters.timeout };
    }
  };
}

function refusal(problem: Extract<Decision, { kind: "refuse" }>["problem"], call: ReadCall): BrokerError {
  switch (problem.code) {
    case "IDEMPOTENCY_CONFLICT":
      return new BrokerError(
        problem.code,
        `The idempotency_key "${call.parameters.idempotencyKey}" belongs to a call with other arguments.`,
      );
    case "FORCE_NEW_MISMATCH":
      return new BrokerError(problem.code, `${call.parameters.forceNew} is an operation of another call.`);
    default:
      return targetError(problem);
  }
}

function tooMany(): BrokerError {
  return new BrokerError(
    "TOO_MANY_OPERATIONS",
    "As many of your operations wait already as may wait at once.",
  );
}
