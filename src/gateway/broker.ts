/**
 * The broker's verbs: submit, read, wait, cancel, explain, list, and confirm. Every surface is a skin over them; a rule lives here or in
 * the pure functions below, never in a skin. No verb executes anything: execution belongs to the Editor's owner.
 */
import { randomUUID } from "node:crypto";
import type { OperationView } from "../shared/answer.js";
import { type Decision, decide } from "../shared/decide.js";
import { BrokerError } from "../shared/errors.js";
import { executionClassOf } from "../shared/execution-class.js";
import type { JsonObject } from "../shared/idempotency.js";
import { isFinal, next, type OperationRecord } from "../shared/operation.js";
import type { Editors, KnownEditor } from "../shared/redis/editors.js";
import type { Chain, Live, Operations } from "../shared/redis/operations.js";
import type { Queues } from "../shared/redis/queue.js";
import type { Tally } from "../shared/redis/tally.js";
import type { ReplayOptions, Requester } from "../shared/replay.js";
import { durationCounts, repetitionCounts } from "../shared/tally.js";
import type { Duplicate } from "../shared/timeline.js";
import type { ExecutionClass, Tool } from "../shared/tool.js";
import { type CallReader, type ReadCall, type ToolCall, targetError } from "./call-reader.js";
import type { Catalog } from "./catalog.js";
import { createDeliveries, type Deliveries } from "./deliveries.js";
import { newRecord } from "./new-record.js";
import { stands, type Unreached, unreachedOf, withTroubles } from "./troubles.js";
import type { Waiters } from "./waiters.js";

export interface Submission {
  record: OperationRecord;
  relation: "created" | "joined" | "replayed";
  /** Seconds to wait, as the caller wrote it. */
  timeout: unknown;
}

export interface Explained {
  record: OperationRecord;
  duplicates: Duplicate[];
}

export interface Broker extends Deliveries {
  /** Accepts a call, or finds the operation that it repeats; answers at once. Throws BrokerError; then nothing was accepted. */
  submit(call: ToolCall): Promise<Submission>;
  /** An operation of this principal; "ended" when its retention ended, undefined when there is none. */
  read(principal: string, logId: string): Promise<OperationView | "ended" | undefined>;
  /** Waits for the end of an operation, and answers where it stands then. Ending a wait changes nothing. */
  wait(
    principal: string,
    logId: string,
    wait: { ms: number; signal?: AbortSignal | undefined; onChange?: (view: OperationView) => void },
  ): Promise<OperationView | "ended" | undefined>;
  /** Cancels what waits, asks the Editor to cancel what runs; answers where it stands after the Editor replied, or after 2 s. */
  cancel(
    principal: string,
    logId: string,
    requester: Requester,
  ): Promise<OperationView | "ended" | undefined>;
  /** The operation with the calls that found it instead of creating another. */
  explain(principal: string, logId: string): Promise<Explained | "ended" | undefined>;
  /** The principal's operations, the latest first. */
  list(principal: string, limit: number): Promise<OperationView[]>;
  /** Every Editor ever seen; `connected`: it showed a sign of life lately. */
  editors(): Promise<{
    editors: (KnownEditor & { connected: boolean })[];
    /** Found on a worker's machine, but they never answered its hello: no call can mean them yet. */
    unreached: Unreached[];
    now: number;
  }>;
  tools(): Promise<Tool[]>;
}

export interface BrokerDeps {
  operations: Operations;
  queues: Queues;
  editors: Editors;
  catalog: Catalog;
  calls: CallReader;
  waiters: Waiters;
  tally: Pick<Tally, "add">;
  askForCancel: (logId: string) => Promise<void>;
  newLogId?: () => string;
}

export interface BrokerOptions {
  replay: ReplayOptions;
  /** An Editor not heard of for this long is away, ms. */
  editorAwayMs: number;
  /** By tool, where its own description does not say. */
  executionClasses?: Readonly<Record<string, ExecutionClass>>;
}

const CANCEL_ANSWER_MS = 2_000;

export function createBroker(deps: BrokerDeps, options: BrokerOptions): Broker {
  const { operations, queues, editors, waiters } = deps;
  const newLogId = deps.newLogId ?? randomUUID;

  /** ▲1 The job follows the record. Adding it twice is harmless, so whoever finds `accepted` adds it. */
  const enqueue = async (record: OperationRecord): Promise<OperationRecord> => {
    if (!(await queues.add(record))) return record;
    const changed = await operations.change(record.logId, (latest) => {
      const state = next(latest.state, "job_added");
      return state && { record: { ...latest, state } };
    });
    return "record" in changed ? changed.record : record;
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
        return { record: record.state === "accepted" ? await enqueue(record) : record, relation: "joined" };
      }
      case "create": {
        const record = newRecord(call, decision, chain, newLogId(), await classOf(call));
        const created = await operations.create(record, call.arguments, chain.version);
        if (created.kind === "too_many") throw tooMany();
        if (created.kind !== "created") return undefined;
        return { record: await enqueue(created.record), relation: "created" };
      }
    }
  };

  const isHere = (editor: KnownEditor, now: number): boolean =>
    editor.live !== undefined && now - editor.lastSeenAt < options.editorAwayMs;

  const viewOf = async (record: OperationRecord, brief = false): Promise<OperationView> => {
    const final = isFinal(record.state);
    const [live, result, position, editor, now] = await Promise.all([
      brief || record.state === "completed" ? ({} as Live) : operations.live(record.logId),
      brief || !final ? undefined : operations.resultOf(record.logId),
      final || record.state === "running" ? undefined : queues.position(record),
      editors.find(record.editor),
      operations.now(),
    ]);
    return {
      record,
      result,
      progress: live.progress,
      partialResult: live.partialResult,
      queuePosition: position,
      editorNow: editor && isHere(editor, now) ? editor.profile : undefined,
      trouble: stands(editor?.trouble, now),
      now,
    };
  };

  /** Invariant 8: another's operation is not found. */
  const ownRecord = async (
    principal: string,
    logId: string,
  ): Promise<OperationRecord | "ended" | undefined> => {
    const record = await operations.find(logId);
    if (record) return record.principal === principal ? record : undefined;
    return (await operations.tombstone(logId)) === principal ? "ended" : undefined;
  };

  const read: Broker["read"] = async (principal, logId) => {
    const record = await ownRecord(principal, logId);
    return typeof record === "object" ? viewOf(record) : record;
  };

  const deliveries = createDeliveries(operations, options.replay);

  return {
    ...deliveries,
    read,

    async submit(call) {
      const readCall = await deps.calls.read(call).catch(async (error: unknown) => {
        throw await withTroubles(error, deps);
      });
      const { requester, tool, parameters } = readCall;
      await deliveries.heard(requester, readCall.hash);
      if (parameters.forceNew !== undefined) await deliveries.confirm(requester, parameters.forceNew);
      const named =
        parameters.forceNew === undefined ? undefined : await operations.find(parameters.forceNew);
      for (;;) {
        const chain = await operations.chain(readCall.hash, parameters.forceNew);
        const known = await editors.mutations(await editors.ids());
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
    },

    async wait(principal, logId, wait) {
      const beganAt = performance.now();
      let latest = await read(principal, logId);
      const final = await waiters.until(
        logId,
        async () => {
          latest = await read(principal, logId);
          if (typeof latest !== "object") return "gone";
          wait.onChange?.(latest);
          return isFinal(latest.record.state) ? latest : undefined;
        },
        wait,
      );
      if (typeof latest === "object") deps.tally.add(durationCounts("waited", performance.now() - beganAt));
      return typeof final === "object" ? final : latest;
    },

    async cancel(principal, logId, requester) {
      const own = await ownRecord(principal, logId);
      if (typeof own !== "object") return own;
      const changed = await operations.change(logId, (record, now) => {
        const state = next(record.state, "cancelled");
        const confirmed = deliveries.confirmedBy(record, requester, now);
        if (state && record.state !== "running") return { record: { ...confirmed, state, endedAt: now } };
        return isFinal(record.state) || record.cancel
          ? undefined
          : { record: { ...confirmed, cancel: { requestedAt: now } } };
      });
      if (!("record" in changed)) return undefined;
      if (isFinal(changed.record.state)) {
        if (changed.kind === "applied") await queues.remove(changed.record);
        return viewOf(changed.record);
      }
      await deps.askForCancel(logId);
      await waiters.until(
        logId,
        async () => {
          const record = await operations.find(logId);
          return record === undefined || isFinal(record.state) || record.cancel?.answer ? true : undefined;
        },
        { ms: CANCEL_ANSWER_MS },
      );
      return read(principal, logId);
    },

    async explain(principal, logId) {
      const record = await ownRecord(principal, logId);
      return typeof record === "object"
        ? { record, duplicates: await operations.duplicatesOf(logId) }
        : record;
    },

    async list(principal, limit) {
      return Promise.all((await operations.listOf(principal, limit)).map((record) => viewOf(record, true)));
    },

    async editors() {
      const [all, troubles, now] = await Promise.all([editors.all(), editors.troubles(), operations.now()]);
      return {
        editors: all.map((editor) => ({
          ...editor,
          connected: isHere(editor, now),
          trouble: stands(editor.trouble, now),
        })),
        unreached: unreachedOf(troubles, all, now),
        now,
      };
    },

    tools: () => deps.catalog.tools(),
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
