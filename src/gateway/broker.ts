/**
 * The broker's verbs: submit, read, wait, cancel, list. Every surface is a skin over them; a rule lives here or in
 * the pure functions below, never in a skin. No verb executes anything: execution belongs to the Editor's owner.
 */
import { randomUUID } from "node:crypto";
import type { OperationView } from "../shared/answer.js";
import { type Decision, decide } from "../shared/decide.js";
import { BrokerError } from "../shared/errors.js";
import { isFinal, next, type OperationRecord } from "../shared/operation.js";
import type { Editors, KnownEditor } from "../shared/redis/editors.js";
import type { Chain, Live, Operations } from "../shared/redis/operations.js";
import type { Queues } from "../shared/redis/queue.js";
import type { ReplayOptions, Requester } from "../shared/replay.js";
import type { Tool } from "../shared/tool.js";
import { type CallReader, type ReadCall, type ToolCall, targetError } from "./call-reader.js";
import type { Catalog } from "./catalog.js";
import { createDeliveries, type Deliveries } from "./deliveries.js";
import type { Waiters } from "./waiters.js";

export interface Submission {
  record: OperationRecord;
  relation: "created" | "joined" | "replayed";
  /** Seconds to wait, as the caller wrote it. */
  timeout: unknown;
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
  /** The principal's operations, the latest first. */
  list(principal: string, limit: number): Promise<OperationView[]>;
  /** Every Editor ever seen; `connected`: it showed a sign of life lately. */
  editors(): Promise<{ editors: (KnownEditor & { connected: boolean })[]; now: number }>;
  tools(): Promise<Tool[]>;
}

export interface BrokerDeps {
  operations: Operations;
  queues: Queues;
  editors: Editors;
  catalog: Catalog;
  calls: CallReader;
  waiters: Waiters;
  askForCancel: (logId: string) => Promise<void>;
  newLogId?: () => string;
}

export interface BrokerOptions {
  replay: ReplayOptions;
  /** An Editor not heard of for this long is away, ms. */
  editorAwayMs: number;
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

  const carryOut = async (
    call: ReadCall,
    decision: Decision,
    chain: Chain,
  ): Promise<Omit<Submission, "timeout"> | undefined> => {
    switch (decision.kind) {
      case "refuse":
        throw refusal(decision.problem, call);
      case "replay":
        return { record: decision.record, relation: "replayed" };
      case "join": {
        const { record } = decision;
        return { record: record.state === "accepted" ? await enqueue(record) : record, relation: "joined" };
      }
      case "create": {
        const record = newRecord(call, decision, chain, newLogId());
        const applied = await operations.create(record, call.arguments, chain.version);
        return applied === "applied" ? { record: await enqueue(record), relation: "created" } : undefined;
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
      const readCall = await deps.calls.read(call);
      const { requester, tool, parameters } = readCall;
      await deliveries.heard(requester, readCall.hash);
      if (parameters.forceNew !== undefined) await deliveries.named(requester, parameters.forceNew);
      const named =
        parameters.forceNew === undefined ? undefined : await operations.find(parameters.forceNew);
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
        if (done) return { ...done, timeout: parameters.timeout };
      }
    },

    async wait(principal, logId, wait) {
      let latest: OperationRecord | "ended" | undefined;
      await waiters.until(
        logId,
        async () => {
          latest = await ownRecord(principal, logId);
          if (typeof latest !== "object") return true;
          wait.onChange?.(await viewOf(latest));
          return isFinal(latest.state) ? true : undefined;
        },
        wait,
      );
      // Each message wakes a look, so a look reads the record only; what else an answer shows is read once.
      return typeof latest === "object" ? viewOf(latest) : latest;
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

    async list(principal, limit) {
      return Promise.all((await operations.listOf(principal, limit)).map((record) => viewOf(record, true)));
    },

    async editors() {
      const [all, now] = await Promise.all([editors.all(), operations.now()]);
      return { editors: all.map((editor) => ({ ...editor, connected: isHere(editor, now) })), now };
    },

    tools: () => deps.catalog.tools(),
  };
}

function newRecord(
  call: ReadCall,
  decision: Extract<Decision, { kind: "create" }>,
  chain: Chain,
  logId: string,
): OperationRecord {
  const { requester, tool } = call;
  return {
    logId,
    hash: call.hash,
    fingerprint: call.fingerprint,
    principal: call.principal,
    tool: tool.name,
    effect: tool.effect,
    lane: tool.lane,
    cancellable: tool.cancellable,
    keyed: call.parameters.idempotencyKey !== undefined,
    editor: decision.editor,
    editorOpen: decision.editorOpen,
    after: decision.after,
    ...(decision.supersedes === undefined ? {} : { supersedes: decision.supersedes }),
    order: Number(chain.version) + 1,
    // The script counts; a reader finds the count beside the record.
    mutationSeq: 0,
    state: "accepted",
    acceptedAt: chain.now,
    createdBy: { caller: requester.caller?.id ?? null, requestId: requester.requestId },
    deliveries: {},
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
