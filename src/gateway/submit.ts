/** The verb submit: a call becomes an operation, or finds the operation that it repeats. */
import { randomUUID } from "node:crypto";
import { createBoundedMemory } from "../shared/bounded-memory.js";
import { isMember, isPool } from "../shared/editors/target.js";
import { BrokerError } from "../shared/errors.js";
import type { ReplayOptions } from "../shared/operation/again.js";
import { type Decision, decide } from "../shared/operation/decide.js";
import {
  asked,
  askingOf,
  type Caller,
  countsAsChange,
  isFinal,
  type OperationRecord,
} from "../shared/operation/operation.js";
import type { Duplicate } from "../shared/operation/timeline.js";
import type { Editors } from "../shared/store/editors/editors.js";
import type { RecordedDuration } from "../shared/store/operations/listings.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import type { Asker, Chain, Created } from "../shared/store/operations/record.js";
import type { Store, StoredCounters } from "../shared/store/store.js";
import { repetitionCounts } from "../shared/telemetry.js";
import { type IfAway, NO_RULES } from "../shared/tools/call-rules.js";
import { isDestructive } from "../shared/tools/tool.js";
import {
  type CallReader,
  type CallTimes,
  type CallTimesOptions,
  callTimes,
  type Question,
  type ReadCall,
  type ToolCall,
} from "./call-reader.js";
import type { KnownEditorsReader } from "./editors/known-editors.js";
import { shown, targetError, withDiagnoses } from "./editors/target-error.js";
import type { Deliveries } from "./exchange.js";

/** Builds the record of a call that becomes an operation. */
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

// Join (▲5): the last change of each asker that this process accepted. The store may be lost together with a change
// that was not yet sent to any Editor, and a call after that change must not join an older test run that is restored.

export interface OwnChanges {
  /** An operation that counts as a change was accepted for the asker, or joined by it. */
  note(editor: string, asker: Asker, acceptedAt: number): void;
  /** The chain, completed with the changes remembered here. */
  complete(chain: Chain, asker: Asker): Chain;
}

const REMEMBERED = 10_000;

function createOwnChanges(): OwnChanges {
  const last = createBoundedMemory<number>(REMEMBERED);
  const keyOf = (editor: string, by: string): string => `${editor} ${by}`;
  return {
    note(editor, { principal, caller }, acceptedAt) {
      for (const by of new Set([caller?.id ?? principal, principal])) {
        const key = keyOf(editor, by);
        last.set(key, Math.max(acceptedAt, last.get(key) ?? 0));
      }
    },
    complete(chain, { principal, caller }) {
      const editors = chain.editors.map((editor) => {
        const remembered = last.get(keyOf(editor.id, caller?.id ?? principal));
        if (remembered === undefined) return editor;
        return { ...editor, callerChangedAt: Math.max(remembered, editor.callerChangedAt ?? 0) };
      });
      return { ...chain, editors };
    },
  };
}

// A limit kept the store from creating an operation: what its caller is answered.

/** When nothing is known of the tool, and at most, s. */
const RETRY_S = 10;
const LONGEST_RETRY_S = 300;

/** `recorded`: how long the tool's recent calls took. Undefined: no limit; it is decided again. */
async function notCreated(
  kind: Exclude<Created["kind"], "created">,
  editor: string,
  recorded: () => Promise<readonly RecordedDuration[]>,
): Promise<BrokerError | undefined> {
  switch (kind) {
    case "too_many":
      return new BrokerError("TOO_MANY_OPERATIONS", "Your limit on waiting operations is reached.");
    case "queue_full": {
      const usualMs = usualTime(await recorded(), editor) ?? RETRY_S * 1_000;
      const seconds = Math.max(1, Math.min(LONGEST_RETRY_S, Math.ceil(usualMs / 1_000)));
      const whose = isPool(editor) ? `The pool ${editor}` : `The Editor ${editor}`;
      return new BrokerError("QUEUE_FULL", `${whose} has as many operations waiting as it may.`, {
        retry_after_seconds: seconds,
      });
    }
    case "full":
      return new BrokerError("STORE_FULL", "The budget for stored results or arguments is used up.");
    case "conflict":
      return undefined;
  }
}

/** The median of what it took there, else anywhere; undefined if it is not known to have run. */
export function usualTime(recorded: readonly RecordedDuration[], editor: string): number | undefined {
  const there = recorded.filter((each) => each.editor === editor);
  const sorted = (there.length > 0 ? there : recorded).map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

export interface Submission {
  record: OperationRecord;
  relation: "created" | "joined" | "replayed";
  /** Its caller has read the outcome, which is replayed. */
  isConfirmed?: boolean;
  /** Seconds to wait, as the caller wrote it, else as configured for such calls. */
  timeout: unknown;
}

export interface SubmitDeps {
  operations: Operations;
  editors: Editors;
  calls: CallReader;
  knownEditors: Pick<KnownEditorsReader, "makeKnown" | "awaitMissing" | "read">;
  deliveries: Pick<Deliveries, "asks" | "named">;
  counters: Pick<StoredCounters, "add">;
  /** Rejects with STORE_UNFIT while the store must not be trusted with new operations. */
  assertFit: Store["assertFit"];
  newLogId?: () => string;
}

export interface SubmitOptions extends CallTimesOptions {
  replay: ReplayOptions;
  /** Ask the user before a destructive tool runs, if the surface can ask. */
  confirmsDestructive?: boolean;
  /** For calls that do not say it. */
  ifAway?: IfAway;
}

/** Throws BrokerError if nothing was accepted. */
export function createSubmit(
  deps: SubmitDeps,
  options: SubmitOptions,
): (call: ToolCall) => Promise<Submission> {
  const { operations, deliveries } = deps;
  const newLogId = deps.newLogId ?? randomUUID;
  const ownChanges = createOwnChanges();

  const noteDuplicate = async (
    record: OperationRecord,
    relation: Duplicate["relation"],
    { caller, requestId, client, logId: wouldBe }: ReadCall,
    { now }: Chain,
  ): Promise<void> => {
    const { logId, effect } = record;
    // What is repeatable or only read is owed to nobody: it can be made anew.
    if (effect === "mutating" && asked(record, caller)) await deliveries.asks(caller, logId);
    const labelled = client === undefined ? {} : { client };
    const named = wouldBe === undefined ? {} : { wouldBe };
    const call = { caller: caller.id, requestId, ...labelled, ...named };
    await operations.noteDuplicate(logId, { at: now, relation, ...call });
  };

  /** What this very request found when it was sent to an earlier broker. */
  const foundBefore = async (
    { logId, caller }: ToolCall,
    { records }: Chain,
  ): Promise<Omit<Submission, "timeout"> | undefined> => {
    for (const record of records) {
      const duplicates = await operations.duplicatesOf(record.logId);
      const note = duplicates.find(({ wouldBe }) => wouldBe !== undefined && wouldBe === logId);
      if (note) {
        const { relation } = note;
        return { record, relation, isConfirmed: askingOf(record, caller)?.hasRead === true };
      }
    }
    return undefined;
  };

  const carryOut = async (
    call: ReadCall,
    decision: Decision,
    chain: Chain,
    { logId = newLogId(), isAwaited }: Pick<ToolCall, "logId" | "isAwaited">,
  ): Promise<Omit<Submission, "timeout"> | undefined> => {
    switch (decision.kind) {
      case "refuse":
        if (decision.problem.code === "FORCE_NEW_MISMATCH")
          throw new ForceNewRefused(call, decision.problem.newest);
        throw await withDiagnoses(refusal(decision.problem, call), deps, call.sees);
      case "replay": {
        const { record } = decision;
        await noteDuplicate(record, "replayed", call, chain);
        return { record, relation: "replayed", isConfirmed: askingOf(record, call.caller)?.hasRead === true };
      }
      case "join": {
        const { record } = decision;
        await Promise.all([
          noteDuplicate(record, "joined", call, chain),
          operations.noteJoined(record, askerOf(call)),
        ]);
        return { record, relation: "joined" };
      }
      case "create": {
        const problem = problemOf(decision, call, options);
        if (problem) throw await withDiagnoses(problem, deps, call.sees);
        await deps.assertFit();
        const times = await callTimes(call, decision.editor, operations, options);
        // Only what waits for a known Editor expires: known before, in case this process dies, and after, in case the
        // janitor forgot it in between.
        const makeKnown = async (): Promise<void> => {
          if (isNoted(call, decision.editor)) await deps.knownEditors.makeKnown(decision.editor);
        };
        await makeKnown();
        const record = newRecord(call, decision, chain, logId, { ...options.replay, ...times });
        // The store may have let it wait: its client may have hung up, asked again elsewhere, and read that outcome.
        if (record.effect === "mutating" && isAwaited && !(await isAwaited()))
          throw new BrokerError("GIVEN_UP", "The client gave the call up before it began.");
        const created = await operations.create(record, call.arguments, chain.version);
        if (created.kind !== "created") {
          const durations = () => operations.durationsOf(call.tool.name);
          const refused = await notCreated(created.kind, record.editor, durations);
          if (refused) throw refused;
          return undefined;
        }
        await makeKnown();
        // An Editor that may run the call later must be noted before the call is reported as accepted (▲4).
        if (!isThere(call, record.editor)) await deps.knownEditors.read();
        return { record: created.record, relation: "created" };
      }
    }
  };

  /** The question that the user must answer with yes; undefined if no question is needed. */
  const questionOf = (
    { askUser }: ToolCall,
    { tool, problem, arguments: args }: ReadCall,
    decision: Decision,
  ): { question: Question; after: string | null } | undefined =>
    options.confirmsDestructive && askUser && !problem && decision.kind === "create" && isDestructive(tool)
      ? { question: { tool: tool.name, editor: decision.editor, arguments: args }, after: decision.after }
      : undefined;

  return async (call) => {
    let confirmed: string | undefined;
    let readCall = await deps.calls.read(call, { mayRemember: true });
    const { parameters } = readCall;
    const { rules = NO_RULES } = options;
    const resent = call.isResent && call.logId !== undefined ? await operations.find(call.logId) : undefined;
    if (resent?.principal === call.principal)
      return { record: resent, relation: "created", timeout: parameters.timeout ?? rules.timeout(resent) };
    const readAgain = async (): Promise<void> => {
      readCall = await deps.calls.read(call);
    };
    if (parameters.forceNew !== undefined) await deliveries.named(call, parameters.forceNew);
    for (;;) {
      // A mutating call that is accepted between this reading and the write is concurrent with this one (▲5).
      const asker = askerOf(readCall);
      const chain = ownChanges.complete(
        await operations.chain(readCall.hash, asker, parameters.forceNew),
        asker,
      );
      if (chain.incarnation !== readCall.incarnation) {
        // The store was lost meanwhile, so the candidates may have changed.
        await readAgain();
        continue;
      }
      const found = call.isResent ? await foundBefore(call, chain) : undefined;
      if (found) return { ...found, timeout: parameters.timeout ?? rules.timeout(found.record) };
      // After the chain: it may just have been put back.
      const named =
        parameters.forceNew === undefined ? undefined : await operations.find(parameters.forceNew);
      const decision = decide(
        chain,
        {
          caller: call.caller,
          fingerprint: readCall.fingerprint,
          hash: readCall.hash,
          target: readCall.target,
          targetContext: readCall.targetContext,
          keyed: readCall.parameters.idempotencyKey !== undefined,
          forceNew: parameters.forceNew,
          forceNewHash: named?.principal === call.principal ? named.hash : undefined,
          isChange: parameters.idempotencyKey !== undefined || readCall.tool.effect === "mutating",
        },
        options.replay,
      );
      // Remembered Editors will do to create an operation. What else becomes of it, they are read for (▲4).
      const isPlain = decision.kind === "create" && !problemOf(decision, readCall, options);
      if (readCall.isRemembered && !isPlain) {
        await readAgain();
        continue;
      }
      const mayWait = isWaitingForEditors(decision, readCall) && (await deps.knownEditors.awaitMissing());
      if (mayWait && !call.signal?.aborted) {
        await readAgain();
        continue;
      }
      const asked = questionOf(call, readCall, decision);
      if (asked && JSON.stringify(asked.question) !== confirmed) {
        await call.askUser?.(asked.question, JSON.stringify([readCall.hash, asked.after]));
        confirmed = JSON.stringify(asked.question);
        // The user may have taken minutes: read everything again.
        await readAgain();
        continue;
      }
      const done = await carryOut(readCall, decision, chain, call);
      if (!done) continue;
      const { record } = done;
      if (done.relation !== "replayed" && countsAsChange(record)) {
        ownChanges.note(record.editor, asker, done.relation === "created" ? record.acceptedAt : chain.now);
      }
      if (done.relation !== "created") deps.counters.add(repetitionCounts(done.relation));
      return { ...done, timeout: readCall.parameters.timeout ?? rules.timeout(record) };
    }
  };
}

/** Named re-run (▲8): `force_new` names no operation of this call; `newest`, if any, is shown as a replay. */
export class ForceNewRefused extends BrokerError {
  readonly newest: OperationRecord | undefined;

  constructor({ parameters }: ReadCall, newest: OperationRecord | undefined) {
    const path = "/force_new";
    const reason = `"${parameters.forceNew}" is not the log_id of an earlier operation of this call`;
    super("INVALID_ARGUMENTS", `${reason}. ${insteadOf(newest)}`, {
      ...(newest && isFinal(newest.state) ? { force_new: newest.logId } : {}),
      faults: [{ path, reason }],
    });
    this.newest = newest;
  }
}

function insteadOf(newest: OperationRecord | undefined): string {
  if (newest && !isFinal(newest.state))
    return `This call is in flight as "${newest.logId}": send it without force_new to wait for it.`;
  if (newest?.effect !== "mutating") return "Send the call without force_new.";
  return `Its newest outcome is in \`newest\`; to run it again, pass force_new: "${newest.logId}".`;
}

function isThere({ targetContext }: ReadCall, editor: string): boolean {
  return targetContext.candidates.some(({ id, connected }) => id === editor && connected);
}

function isNoted({ targetContext }: ReadCall, editor: string): boolean {
  return targetContext.candidates.some(({ id, isNoted }) => id === editor && isNoted);
}

/** Why no operation may be created for a call; what is there already answers it all the same. */
function problemOf(
  { editor }: { editor: string },
  call: ReadCall,
  { ifAway }: { ifAway?: IfAway },
): BrokerError | undefined {
  return call.problem ?? awayError(editor, call, ifAway);
}

/** A call that is not to wait, while none of the Editors that may run it is connected, or is about to be. `standard`: where it does not say. */
function awayError(
  target: string,
  { parameters, targetContext: { candidates } }: ReadCall,
  standard: IfAway = "wait",
): BrokerError | undefined {
  if ((parameters.ifAway ?? standard) === "wait") return undefined;
  const those = candidates.filter(({ id, labels }) =>
    isPool(target) ? isMember(target, labels) : id === target,
  );
  if (those.some(({ connected, isReturning }) => connected || isReturning)) return undefined;
  const what = isPool(target)
    ? `No Editor of ${target} is connected`
    : `The Editor ${target} is not connected`;
  return new BrokerError("EDITOR_AWAY", `${what}, and the call is not to wait for one.`, {
    candidates: shown(those),
  });
}

/** After a loss of the store: an Editor that reconnects in a moment may have run this very call, or be the named one (▲4). */
function isWaitingForEditors(decision: Decision, { problem }: ReadCall): boolean {
  const refused = decision.kind === "refuse" ? decision.problem : problem;
  return refused?.code === "EDITORS_NOT_BACK" && (decision.kind === "refuse" || decision.kind === "create");
}

type Problem = Exclude<Extract<Decision, { kind: "refuse" }>["problem"], { code: "FORCE_NEW_MISMATCH" }>;

function refusal(problem: Problem, call: ReadCall): BrokerError {
  if (problem.code === "EDITORS_NOT_BACK") return targetError(problem, { sees: call.sees });
  if (problem.code === "RECORD_LOST") {
    const { logId } = problem;
    const what = "the store has lost what became of it, and no Editor that is known has it";
    return new BrokerError("RECORD_LOST", `This call was sent before, as "${logId}": ${what}.`, {
      force_new: logId,
    });
  }
  if (problem.code !== "IDEMPOTENCY_CONFLICT") return call.problem ?? targetError(problem);
  return new BrokerError(
    problem.code,
    `The idempotency_key "${call.parameters.idempotencyKey}" belongs to a call with other arguments.`,
  );
}

/** Whose changes it must see (▲5): those of its caller; nobody can come back as a single request, so those of its principal. */
function askerOf({ principal, caller }: { principal: string; caller: Caller }): Asker {
  return { principal, caller: caller.isSingleRequest ? null : caller };
}
