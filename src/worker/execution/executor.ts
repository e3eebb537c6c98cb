/**
 * The life of one operation in its owner: read → claim → send or ask → decide → follow → settle, over declared
 * dependencies.
 *
 * It may be entered any number of times for the same operation, by a job, after a reconnect, or after a crash of the
 * previous owner: it reads what is known and continues from there. It never runs an operation under another id.
 */

import type { ReplayOptions } from "../../shared/operation/again.js";
import {
  askedThrough,
  isFinal,
  isFromBeforeLoss,
  isSent,
  isWaiting,
  jobIdOf,
  type OperationRecord,
  type TraceContext,
} from "../../shared/operation/operation.js";
import {
  type EditorReply,
  type OtherOperation,
  type Recovery,
  type Refusal,
  recover,
  recoveryMetadataOf,
  type SameAs,
} from "../../shared/operation/recover.js";
import type { EditorFence } from "../../shared/store/editors/lease.js";
import { type Arguments, argumentsIn } from "../../shared/store/operations/operation-store.js";
import { logIdOf } from "../../shared/store/queue.js";
import { inSpan } from "../../shared/telemetry.js";
import type { Lane as LaneName } from "../../shared/tools/tool.js";
import { EDITOR_CODES } from "../../shared/wire/wire.js";
import type { EditorLink } from "../editor/editor-link.js";
import { isLeaving, refusalOf } from "../editor/refusal.js";
import type { HeartbeatRecorder } from "../owner/heartbeat.js";
import { ConnectionLost } from "../transport/disconnect.js";
import { type Claims, createClaims } from "./claims.js";
import type { AttemptResult, EditorPort, ExecutorDeps, ExecutorResult } from "./executor-deps.js";
import {
  createSettlement,
  endedAs,
  inExecutionSpan,
  type OutcomeListeners,
  refusedOutcome,
  type Settlement,
  storedResultOf,
  unknownOutcome,
} from "./outcome.js";

// The exchange between an owner and its Editor about one claimed operation, over one connection: the owner sends it or
// asks for it, `recover` decides on the answer, and the owner carries that out, until the operation has ended.

export interface ConversationOptions {
  /** The gateway's replay limits, for decisions on an operation that the Editor names instead. */
  replay?: ReplayOptions;
}

/** The claimed operation, and what is needed to send it. */
export interface Subject {
  record: OperationRecord;
  /** The Editor session in which the operation was claimed. */
  session: string;
  args: Arguments;
  signal: AbortSignal;
  /** The span of this attempt. */
  trace?: TraceContext | undefined;
}

/** Its first submit did not reach the Editor, or was refused before the ledger saw it: another session may run it. */
class NotTaken extends Error {}

/** The next step after an answer. */
type Step =
  /** It waits or runs in the Editor. */
  | { kind: "follow" }
  /** Ask the Editor again. */
  | { kind: "ask_again"; record: OperationRecord; after: string | null }
  | { kind: "end"; result: AttemptResult };

/** After this many answers that require another question, the Editor and the store contradict each other. */
const MAX_QUESTIONS = 12;

/** Rejects if the connection is lost on the way. */
function createConversation(
  deps: ExecutorDeps,
  { resend, giveBack }: Pick<Claims, "resend" | "giveBack">,
  { settle, copyOutcomeOf, markStarted }: Settlement,
  options: ConversationOptions,
): (subject: Subject) => Promise<AttemptResult> {
  const { operations, editor, fence } = deps;

  const converse = async ({ record: first, ...about }: Subject): Promise<AttemptResult> => {
    const { session, signal, trace } = about;
    let record = first;
    let after = record.after;
    for (let questions = 0; questions < MAX_QUESTIONS; questions += 1) {
      // Listen before asking: the end may arrive right after the answer.
      const following = editor.follow(record.logId);
      try {
        const found = await sendOrAsk({ ...about, record }, after, questions === 0);
        if (await isCircular(found, record.logId)) break;
        const recovery = sendable(await recoveryFor(record, found, session), about.args);
        const step = await applyRecovery({ ...about, record }, recovery, after);
        if (step.kind === "end") return step.result;
        if (step.kind === "follow") {
          const outcome = await followToEnd(record, found, following);
          return await settle(record, outcome, signal, { trace });
        }
        record = step.record;
        after = step.after;
      } finally {
        following.stop();
      }
    }
    const why = "The Editor's ledger and the broker's records contradict each other.";
    return settle(record, unknownOutcome({ why }, await operations.now()), signal, { trace });
  };

  /**
   * Resubmission (▲12): sends only in the session that the record names, which was stored before, and what the caller wrote;
   * otherwise asks.
   */
  const sendOrAsk = async (
    { record, session, args, trace }: Subject,
    after: string | null,
    isFirst: boolean,
  ): Promise<EditorReply> => {
    const isSession = record.sentIn === session && !mustNotBeSent(record, deps.importedIn());
    return isSession && args !== undefined
      ? send({ record, args, trace }, after, isFirst)
      : { asked: "get", answer: await editor.get(record.logId) };
  };

  const send = async (
    { record, args, trace }: Pick<Subject, "record" | "trace"> & { args: NonNullable<Arguments> },
    after: string | null,
    isFirst: boolean,
  ): Promise<EditorReply> => {
    const { tool, fingerprint, hash, acceptedAt } = record;
    const submitted = { operationId: record.logId, hash, after, acceptedAt };
    try {
      const answer = await inSpan("send", { parent: trace, kind: "client" }, ({ context }) =>
        editor.submit({
          ...submitted,
          origin: deps.seal.sign(recoveryMetadataOf(record, deps.storeId()), submitted),
          tool,
          arguments: args,
          argumentsHash: fingerprint,
          ...context,
        }),
      );
      return { asked: "submit", answer };
    } catch (error) {
      const refusal = editor.refusal(error);
      if (refusal) return { asked: "submit", refusal };
      if (editor.isLeaving(error)) throw new NotTaken("the Editor is quitting");
      // Only of this request: what fails to leave after it, such as one for a part of the result, says nothing of this one.
      throw isFirst && !editor.wasSent(error) ? new NotTaken((error as Error).message) : error;
    }
  };

  /** The Editor names the operation itself, or one that waits for it: waiting for it would never end. */
  const isCircular = async (found: EditorReply, logId: string): Promise<boolean> => {
    let at = sameAsIn(found)?.operationId;
    if (at === undefined) return false;
    for (let steps = 0; at !== undefined && at !== logId && steps < MAX_QUESTIONS; steps += 1) {
      at = (await operations.find(at))?.executedAs;
    }
    return at !== undefined;
  };

  const recoveryFor = async (
    record: OperationRecord,
    found: EditorReply,
    session: string,
  ): Promise<Recovery> => {
    const sameAs = sameAsIn(found);
    // Chain check (▲10 b): the operation that the Editor names is restored first if the store had lost it.
    const other: OtherOperation | undefined = sameAs && (await deps.otherOperation(record, sameAs, session));
    // Whatever is decided: a restored one has no job, and is asked for until it has ended.
    if (other?.record?.rebuilt && !isFinal(other.record.state)) void deps.processShared(other.record.logId);
    const incarnation = deps.importedIn();
    return recover(record, found, { session, incarnation, other, options: options.replay });
  };

  /** Carries out what `recover` decided, except following. */
  const applyRecovery = async (
    { record, session, signal, trace }: Omit<Subject, "args">,
    recovery: Recovery,
    after: string | null,
  ): Promise<Step> => {
    switch (recovery.kind) {
      case "settle":
        return endBy(settle(record, recovery.outcome, signal, { isCollected: true, trace }));
      case "fail":
        return endBy(settle(record, refusedOutcome(recovery, await operations.now()), signal, { trace }));
      case "revoke": {
        // Resubmission (▲12): an operation unknown to the ledger is revoked before it is marked interrupted.
        const { state } = await editor.revoke(record.logId);
        // It began or ended in between: the Editor knows, so ask again.
        if (state !== "revoked") return { kind: "ask_again", record, after };
        return endBy(settle(record, unknownOutcome(recovery, await operations.now()), signal, { trace }));
      }
      case "interrupt":
        return endBy(settle(record, unknownOutcome(recovery, await operations.now()), signal, { trace }));
      case "attach": {
        const { executedAs } = recovery;
        return executedAs === undefined ? { kind: "follow" } : endBy(joinOther(record, executedAs, signal));
      }
      case "resubmit": {
        // Sent before a person paused the Editor, and not begun when its session ended.
        if (recovery.returned && !record.cancel && (await deps.isPaused(record.lane))) {
          await giveBack(record.logId, { wasSent: true });
          return { kind: "end", result: "handed_over" };
        }
        if (recovery.instead !== undefined) await editor.revoke(recovery.instead);
        const changed = await resend(record, session, recovery.returned ?? false);
        if (!("record" in changed)) return { kind: "end", result: "handed_over" };
        if (isFinal(changed.record.state)) return { kind: "end", result: endedAs(changed.record) };
        return { kind: "ask_again", record: changed.record, after: recovery.after ?? after };
      }
    }
  };

  /** Chain check (▲10 b): another operation has run this call; the record names it from now on. */
  const joinOther = async (
    record: OperationRecord,
    executedAs: string,
    signal: AbortSignal,
  ): Promise<AttemptResult> => {
    const changed = await operations.change(
      record.logId,
      ({ startedAt: _none, ...latest }) => ({ record: { ...latest, executedAs } }),
      fence,
    );
    if (!("record" in changed)) return "handed_over";
    if (record.effect === "mutating")
      await operations.change(executedAs, (other) => {
        const owed = askedThrough(other, changed.record);
        return owed && { record: owed };
      });
    return copyOutcomeOf(record, executedAs, signal);
  };

  const followToEnd = async (
    record: OperationRecord,
    found: EditorReply,
    { outcome }: Pick<ReturnType<EditorPort["follow"]>, "outcome">,
  ) => {
    if ("answer" in found && found.answer.state === "running") await markStarted(record);
    const [ended] = await Promise.all([outcome, passOnEarlyCancel(record)]);
    return ended;
  };

  /** A cancellation was requested before this owner followed it, or was announced before the Editor knew the operation. */
  const passOnEarlyCancel = async ({ logId, cancel }: OperationRecord): Promise<void> => {
    if (!cancel && !deps.wasCancelAnnounced(logId)) return;
    const latest = await operations.find(logId);
    if (latest?.cancel && !latest.cancel.answer) deps.passOnCancel(latest);
  };

  return converse;
}

async function endBy(result: Promise<AttemptResult>): Promise<Step> {
  return { kind: "end", result: await result };
}

/** Nothing but what the caller wrote is sent: without it, the Editor is told never to run the operation. */
function sendable(recovery: Recovery, args: Arguments): Recovery {
  if (recovery.kind !== "resubmit" || args !== undefined) return recovery;
  return { kind: "revoke", why: "The broker's store has lost its arguments." };
}

function sameAsIn(found: EditorReply): SameAs | undefined {
  return "answer" in found && found.answer.state === "same_as" ? (found.answer as SameAs) : undefined;
}

/**
 * Must not be sent (again) without being asked for: its arguments are gone; or its ledger forgot it, or another Editor of its pool may
 * have had it (a read may be sent: it has no effect to double).
 */
export function mustNotBeSent(record: OperationRecord, importedIn: string): boolean {
  const { effect, ledgerLost, rebuilt } = record;
  if (rebuilt === true) return true;
  return effect !== "read_only" && (ledgerLost === true || isFromBeforeLoss(record, importedIn));
}

/** The Editor as the executor sees it (executor-deps.ts), over the present link. */
export function createEditorPort(
  {
    link,
    outcomeListeners,
    heartbeat,
    fence,
  }: {
    link: EditorLink;
    outcomeListeners: Pick<OutcomeListeners, "follow">;
    heartbeat: Pick<HeartbeatRecorder, "mark">;
    fence(): EditorFence;
  },
  { maxResultBytes }: { maxResultBytes: number },
): EditorPort {
  return {
    ready: (signal) => link.whenReady(signal),
    session: () => (link.state === "ready" ? link.hello?.editorSessionId : undefined),
    submit: (params) => link.submit({ ...params, ...fence(), ledgerId: link.hello?.ledgerId ?? "" }),
    get: (operationId) => link.get(operationId),
    revoke: (operationId) => link.revoke(operationId),
    result: (operationId, outcome) => storedResultOf(link, operationId, outcome, maxResultBytes),
    refusal: refusalOf,
    wasSent: (error) => !(error instanceof ConnectionLost) || error.sent,
    isLeaving,
    follow: outcomeListeners.follow,
    mark: heartbeat.mark,
  };
}

// The whole life: from what is known to its end, over as many connections as that takes.

export type ExecutorOptions = ConversationOptions;

/** The job that asks for an operation, and the lane that it is in. */
export interface JobOf {
  id: string;
  lane: LaneName;
}

type ClaimStep =
  /** `isFresh`: claimed by this attempt, so that it may be taken back; else by an earlier one, whose bytes may have left. */
  | { kind: "claimed"; record: OperationRecord; isFresh: boolean }
  | { kind: "not_claimed"; result: AttemptResult };

/** After this many unusable answers in all the owner stops asking, and the outcome is unknown. */
const MAX_REFUSALS = 5;

export function createExecutor(deps: ExecutorDeps, options: ExecutorOptions) {
  const { operations, editor } = deps;
  const claims = createClaims(operations, deps);
  const settlement = createSettlement(deps);
  const converse = createConversation(deps, claims, settlement, options);

  /** One attempt, step by step. Rejects if the store or the Editor is lost on the way. */
  const attempt = async (
    logId: string,
    signal: AbortSignal,
    jobId: string | undefined,
  ): Promise<AttemptResult> => {
    // Read. No record, no dispatch (▲1), and only the job that the record names.
    const [known, args] = await Promise.all([operations.find(logId), operations.argumentsOf(logId)]);
    if (!known || (jobId !== undefined && jobIdOf(known) !== jobId)) return "refused";
    // A job that was put into another Editor's queue manually: the right owner has the real one.
    if (known.editor !== deps.editorId) return "refused";
    // Durable acknowledgement (▲14): this owner may have made it final, by a write whose answer was lost.
    if (isFinal(known.state) && known.sentIn && !known.executedAs) deps.acknowledge(known.logId);
    if (isFinal(known.state)) return endedAs(known);
    // Chain check (▲10 b): another operation has run this call.
    if (known.executedAs !== undefined) return settlement.copyOutcomeOf(known, known.executedAs, signal);
    // Claim, in the session that will be asked. Resubmission (▲12): the session is stored before the first byte leaves.
    const wasReady = editor.session() !== undefined;
    await editor.ready(signal);
    // Its job was taken while the Editor was away, and a person has paused it since.
    if (!wasReady && jobId !== undefined && isWaiting(known.state) && (await deps.isPaused(known.lane)))
      return "handed_over";
    const session = editor.session();
    if (session === undefined) return "try_again";
    const claim = await claimIn(session, logId);
    if (claim.kind === "not_claimed") return claim.result;
    // Store incarnation (▲13): nothing was written, which would have told. Another Editor of its pool may have run it since.
    if (known.pool !== undefined && !claim.isFresh && (await isOutdated())) {
      await deps.importAgain();
      return "try_again";
    }
    // Send or ask, decide, follow, settle: carry.
    return carry({ record: claim.record, session, args, signal }, claim.isFresh);
  };

  const isOutdated = async (): Promise<boolean> => (await operations.incarnation()) !== deps.importedIn();

  const claimIn = async (session: string, logId: string): Promise<ClaimStep> => {
    const claimed = await claims.claim(logId, session);
    switch (claimed.kind) {
      case "applied":
      case "unchanged":
        if (isFinal(claimed.record.state)) return notClaimed(endedAs(claimed.record));
        // Its pool had it back, and another Editor has it now.
        if (claimed.record.editor !== deps.editorId) return notClaimed("refused");
        // No record, no dispatch (▲1): in a state that waits and cannot be claimed.
        if (!isSent(claimed.record.state)) return notClaimed("refused");
        return { kind: "claimed", record: claimed.record, isFresh: claimed.kind === "applied" };
      case "unknown":
        return notClaimed("refused");
      case "held":
        return notClaimed("held");
      case "incarnation":
        // Store incarnation (▲13): import what the Editor knows before anything more is claimed.
        await deps.importAgain();
        return notClaimed("try_again");
      // Fence (▲11): another owner holds the lease.
      case "not_owner":
      case "full":
        return notClaimed("handed_over");
    }
  };

  /** Takes a fresh claim back if certainly no byte of it left. */
  const carry = async (subject: Subject, isFresh: boolean): Promise<AttemptResult> => {
    const { logId } = subject.record;
    if (editor.session() !== subject.session) {
      // The Editor went away between the write to the store and the write to the socket.
      if (isFresh) await claims.giveBack(logId, { wasSent: false });
      return "try_again";
    }
    try {
      return await inExecutionSpan(subject, isFresh, converse);
    } catch (error) {
      if (isFresh && error instanceof NotTaken) await claims.giveBack(logId, { wasSent: false });
      throw error;
    }
  };

  /**
   * The usual case in one step: an operation that waits plainly is claimed for the job that was taken (▲1), while the Editor can
   * be asked. Undefined: read what is known.
   */
  const claimPlainly = async (
    logId: string,
    job: JobOf,
    signal: AbortSignal,
  ): Promise<AttemptResult | undefined> => {
    const session = editor.session();
    // A job that was added manually may name another operation than its id.
    if (session === undefined || logIdOf(job.id) !== logId) return undefined;
    const claimant = { editor: deps.editorId, lane: job.lane, fence: deps.fence, session };
    const claimed = await operations.claim(job.id, { ...claimant, incarnation: deps.importedIn() });
    if (!claimed) return undefined;
    return carry({ record: claimed.record, args: argumentsIn(claimed.args), signal, session }, true);
  };

  /** The Editor answers, but nothing readable about the operation: unknown stays unknown (▲9). */
  const giveUp = async (logId: string, signal: AbortSignal): Promise<ExecutorResult | undefined> => {
    const record = await operations.find(logId);
    const why = "The Editor was asked again and again, and its answers cannot be read.";
    return record && settlement.settle(record, unknownOutcome({ why }, await operations.now()), signal);
  };

  return {
    /**
     * Runs or resumes the operation until it is final or this owner ends (the signal). Survives lost connections to
     * the Editor and to the store. `job`: the one that asked for it, if any.
     */
    async process(logId: string, signal: AbortSignal, job?: JobOf): Promise<ExecutorResult> {
      let refusals = 0;
      let isFirst = true;
      while (!signal.aborted) {
        try {
          const givenUp = refusals >= MAX_REFUSALS && (await giveUp(logId, signal));
          if (givenUp) return givenUp;
          const done = isFirst && job ? await claimPlainly(logId, job, signal) : undefined;
          isFirst = false;
          const result = done ?? (await attempt(logId, signal, job?.id));
          if (result !== "try_again") return result;
        } catch (error) {
          isFirst = false;
          if (signal.aborted) break;
          if (isPermanent(editor.refusal(error))) refusals += 1;
          deps.log.warn(
            { log_id: logId, error: (error as Error).message },
            "lost the Editor or the store; asking again",
          );
          await deps.pause(signal);
        }
      }
      return "handed_over";
    },
  };
}

function notClaimed(result: AttemptResult): ClaimStep {
  return { kind: "not_claimed", result };
}

/** A ledger that cannot be read now may be later. */
function isPermanent(refusal: Refusal | undefined): boolean {
  return refusal !== undefined && refusal.code !== EDITOR_CODES.LEDGER_UNAVAILABLE;
}
